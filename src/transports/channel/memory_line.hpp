// SPDX-License-Identifier: Apache-2.0
// A line of an RDMA channel between two processes of one host: each maps the ring that the other
// reads. Memory of the application is moved by the kernel (CMA).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "runtime/descriptors/memory_file.hpp"
#include "transports/channel/line.hpp"

namespace weft::transports::channel {

/// At the front of the memory that an end shows; then the ring, then the words. The peer checks the
/// first two, and sets `moving`.
struct memory_head {
  std::uint64_t magic;
  std::uint64_t nonce;                ///< as the card has it: the file is the one that it names
  std::atomic<std::uint32_t> closed;  ///< not 0: this end has closed
  /// Not 0: the peer is about to write to memory of this end's application, or does. It sets this
  /// before it reads `closed`, and this end sets `closed` before it reads this.
  alignas(64) std::atomic<std::uint32_t> moving;
};
static_assert(sizeof(memory_head) == 128);

/// What the other end needs to find this one.
struct memory_card {
  static constexpr std::uint64_t expected_magic =
      0x3166656c6d656d77;  // "wmemlef1", as its bytes lie in memory

  std::uint64_t magic = expected_magic;
  std::uint64_t nonce = 0;
  std::uint64_t nonce_at = 0;  ///< its address in that process: tries CMA
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
  shape chosen;
  std::uint32_t unused = 0;
};
static_assert(sizeof(memory_card) == 48);

class memory_line final : public line {
 public:
  /// \throws weft::error (system)
  explicit memory_line(const settings& s);
  ~memory_line() override { memory_line::shut(); }

  std::span<const std::byte> card() const noexcept override {
    return std::as_bytes(std::span(&card_, 1));
  }
  void meet(std::span<const std::byte> peer) override;

  std::uint32_t places() override { return endless; }
  void write(std::size_t, std::size_t) override {}  // it is there already
  void tell(word words::*which, std::uint64_t value) override;
  void invite(std::uint64_t place, std::uint64_t size, std::uint64_t number) override;

  std::size_t longest_move() const noexcept override { return most_moved; }
  bool lend(std::span<std::byte> memory, memory_access how, loan& into) override;
  std::string refusal() const override { return {}; }
  std::uint32_t read(const loan& l, std::span<std::byte> here, std::uint64_t there) override;
  std::uint32_t write_to(const loan& l, std::span<const std::byte> here,
                         std::uint64_t there) override;

  void look() override;
  void shut() noexcept override;

 private:
  static constexpr std::uint32_t endless = 1 << 16;
  // Bytes of one move: the kernel moves less than 2 GiB in a call.
  static constexpr std::size_t most_moved = std::size_t{1} << 30;
  // To ask the kernel for the peer's process takes as long as a message.
  static constexpr unsigned looks_between_questions = 1024;

  static std::byte* ring_in(const runtime::mapping& m) noexcept {
    return static_cast<std::byte*>(m.get()) + sizeof(memory_head);
  }
  static memory_head& head_of(const runtime::mapping& m) noexcept {
    return *static_cast<memory_head*>(m.get());
  }
  bool peer_has_died() const noexcept;
  [[noreturn]] void lost(const char* how);
  std::uint32_t moved(int code, const char* what);

  const std::chrono::seconds timeout_;
  unique_fd file_;
  runtime::mapping own_, peers_;
  words* peers_words_ = nullptr;
  memory_card card_;
  pid_t pid_ = 0;
  unique_fd process_;  // the peer's, by pidfd
  unsigned looks_ = 0;
};

}  // namespace weft::transports::channel
