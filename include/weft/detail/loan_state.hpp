// SPDX-License-Identifier: Apache-2.0
// What is behind loan<T> and lent<T>. Applications do not name these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include <weft/message.hpp>

namespace weft {

class context;

namespace proto {
class lent_source;
struct loan_block;
struct loan_message;
}  // namespace proto

namespace detail {

/// Elements of a loan lie at a multiple of this many bytes.
inline constexpr std::size_t loan_alignment = 64;

/// A holder of a block of a context's loan pool. Move-only. The end of the last one gives the block
/// back: any thread that does not hold the progress lock.
class loan_memory {
 public:
  loan_memory() = default;
  loan_memory(proto::loan_block& b, std::span<std::byte> bytes) noexcept
      : block_(&b), bytes_(bytes) {}
  loan_memory(loan_memory&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
  loan_memory& operator=(loan_memory&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~loan_memory() {
    if (block_) give_back();
  }

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  void shorten(std::size_t size) noexcept { bytes_ = bytes_.first(size); }
  /// Another holder of the block; none of nothing. Any thread that does not hold the progress lock.
  loan_memory share() const noexcept;
  /// Null: it has none.
  proto::loan_block* block() const noexcept { return block_; }
  /// The block is the caller's.
  void release() noexcept {
    block_ = nullptr;
    bytes_ = {};
  }

 private:
  void give_back() noexcept;

  proto::loan_block* block_ = nullptr;
  std::span<std::byte> bytes_;
};

/// \throws weft::error as context::make_loan
loan_memory take_loan(context& of, std::size_t size);

/// The bytes of a message that was received by recv_loan: in the memory of its sender, or in memory
/// of its own. Move-only. Any thread, one at a time.
class lent_memory {
 public:
  lent_memory() = default;
  /// In the sender's memory. \param source counts this view
  lent_memory(proto::lent_source& source, std::uint16_t number, const_buffer bytes) noexcept
      : source_(&source), number_(number), bytes_(bytes) {}
  lent_memory(lent_memory&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)),
        number_(other.number_),
        own_(std::move(other.own_)),
        bytes_(std::exchange(other.bytes_, {})) {}
  lent_memory& operator=(lent_memory&& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(number_, other.number_);
    std::swap(own_, other.own_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~lent_memory() {
    if (source_) give_back();
  }

  const_buffer bytes() const noexcept { return bytes_; }
  bool in_place() const noexcept { return source_ != nullptr; }
  /// Makes memory of its own. \return empty: there is none
  mutable_buffer make(std::size_t size) noexcept {
    const std::size_t whole = (size + loan_alignment - 1) / loan_alignment * loan_alignment;
    own_.reset(static_cast<std::byte*>(std::aligned_alloc(loan_alignment, whole)));
    bytes_ = {own_.get(), own_ ? size : 0};
    return {own_.get(), bytes_.size()};
  }

 private:
  struct free_memory {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  void give_back() noexcept;

  proto::lent_source* source_ = nullptr;
  std::uint16_t number_ = 0;  // the sender's number of the message
  std::unique_ptr<std::byte, free_memory> own_;
  const_buffer bytes_;
};

}  // namespace detail
}  // namespace weft
