// SPDX-License-Identifier: Apache-2.0
// Memory for the bytes of values that come in a message: a long row of elements goes straight to
// the container that it will be in. Applications do not name these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/detail/call_pack.hpp>
#include <weft/detail/value_walk.hpp>
#include <weft/error.hpp>
#include <weft/wire.hpp>

namespace weft::detail {

/// \throws weft::error (refused): bytes are left
void require_taken(std::size_t size, std::size_t left);
/// They do not hold the values. \throws weft::error (refused)
[[noreturn]] void refuse_bytes(std::size_t size, const error& why);

/// A list of memory, in what lives until the bytes are there.
using room_pieces = std::array<mutable_buffer, 3>;

/// Bytes that are all here.
class flat_source final : public source {
 public:
  explicit flat_source(const_buffer all) noexcept : source(all) {}

 private:
  const_buffer next_bytes() override { return {}; }
};

/// Bytes that are all here, except for those of a row that lies where it belongs.
class landed_source final : public source {
 public:
  /// \param row null: there is none, and no tail
  landed_source(const_buffer head, landed_row* row, const_buffer tail) noexcept
      : source(head), head_(head.size()), row_(row), tail_(tail) {}

  /// For get_elements, behind the number. \return whether the container is the row
  template <class C>
  bool take_row(C& c, std::uint64_t count) {
    if (!row_ || bytes_read() != head_) return false;
    if (!std::exchange(row_, nullptr)->move_to(c, count)) refuse_changed_row();
    return true;
  }
  /// Bytes that were not read.
  std::size_t left() const noexcept {
    return at_hand() + tail_.size() + (row_ ? row_->bytes().size() : 0);
  }

 private:
  /// The bytes have changed since the row was found: they lie in memory that the peer can write to.
  [[noreturn]] static void refuse_changed_row();
  const_buffer next_bytes() override { return row_ ? const_buffer() : std::exchange(tail_, {}); }

  const std::uint64_t head_;
  landed_row* row_;
  const_buffer tail_;
};

/// Where the bytes of values of these types go. Does not move after make_room.
template <class... T>
class value_landing {
 public:
  /// \param size of all \param beginning the first bytes, as many as are known
  /// \param before for each value an object that it will be read into; null: it is made
  /// \throws std::bad_alloc, what a constructor of elements throws
  void make_room(std::size_t size, const_buffer beginning, row_limits limits, T*... before) {
    value_walk walk(beginning, size, limits);
    if constexpr (are_elements_alone<T...>)
      (walk.only_row(before), ...);
    else
      static_cast<void>((walk_value(walk, before) && ...));
    row_ = walk.make();
    const mutable_buffer row = row_ ? row_->bytes() : mutable_buffer();
    const std::size_t around = size - row.size();
    around_ = call_bytes(around);
    head_ = row_ ? static_cast<std::size_t>(walk.at()) : around;
    std::size_t n = 0;
    for (const mutable_buffer part : {mutable_buffer(around_.data(), head_), row,
                                      mutable_buffer(around_.data() + head_, around - head_)})
      if (!part.empty()) pieces_[n++] = part;
    count_ = n;
  }
  /// Valid while this lives.
  buffer_list<mutable_buffer> room() const noexcept {
    if (count_ < 2) return count_ == 0 ? mutable_buffer() : pieces_[0];
    return std::span<const mutable_buffer>(pieces_).first(count_);
  }

  /// The values, of which all bytes are there.
  /// \throws weft::error (refused) with the sizes; std::bad_alloc
  std::tuple<T...> take() {
    if constexpr (are_elements_alone<T...>) {
      std::tuple<T...> all;
      take_elements(std::get<0>(all));
      return all;
    } else {
      landed_source bytes = all_bytes();
      try {
        std::tuple<T...> all{get_value<T>(bytes)...};
        require_taken(size(), bytes.left());
        return all;
      } catch (const error& e) {
        refuse_bytes(size(), e);
      }
    }
  }
  /// The same, into objects.
  void take_into(T&... values) {
    if constexpr (are_elements_alone<T...>) {
      (take_elements(values), ...);
    } else {
      landed_source bytes = all_bytes();
      try {
        (get_into(bytes, values), ...);
        require_taken(size(), bytes.left());
      } catch (const error& e) {
        refuse_bytes(size(), e);
      }
    }
  }

 private:
  std::size_t size() const noexcept { return around_.size() + (row_ ? row_->bytes().size() : 0); }
  landed_source all_bytes() noexcept {
    const const_buffer around = around_.bytes();
    return {around.first(head_), row_.get(), around.subspan(head_)};
  }
  template <class C>
  void take_elements(C& c) {
    const std::size_t count = size() / sizeof(element_t<C>);
    require_taken(size(), size() % sizeof(element_t<C>));
    if (row_ && row_->move_to(c, count)) return;
    c.resize(count);
    flat_source(around_.bytes()).read(writable_bytes_of_value(c));
  }

  std::unique_ptr<landed_row> row_;
  call_bytes around_;
  std::size_t head_ = 0;  // of these bytes, in front of the row
  room_pieces pieces_;
  std::size_t count_ = 0;
};

}  // namespace weft::detail
