// SPDX-License-Identifier: Apache-2.0
// sink, source and wire: how types of the application become bytes and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <weft/detail/value_codec.hpp>
#include <weft/message.hpp>

namespace weft {

/// How values of type T travel: the application defines it for its own types.
///
///     template <>
///     struct weft::wire<matrix> {
///       static void put(weft::sink& to, const matrix& m) { to << m.rows << m.cells; }
///       static matrix get(weft::source& from) {
///         const auto rows = from.get<std::uint32_t>();
///         return matrix(rows, from.get<std::vector<double>>());
///       }
///     };
///
/// With `static constexpr std::string_view name = "matrix";` calls compare that name, too.
///
/// `put` writes and `get` reads the same bytes. Both are ordinary functions. For an object of up to
/// one piece, 256 KiB, they run on the thread of the coroutine. A longer object travels piece by
/// piece, so that neither side holds all of its bytes at once: they run on a thread of weft then,
/// which waits for the other side while two pieces are under way. `put` is called twice for such an
/// object and must write the same bytes each time. `put` must not be noexcept, nor swallow the
/// exceptions of the sink: they end it when the other side, a stop or a deadline ends the send. The
/// exceptions of `put` and `get` reach the coroutine. Neither may use weft's context.
///
/// `get` must check what it reads: the peer chose it. An element of a container has at least one
/// byte; otherwise the number of them, which a peer chooses too, would cost the peer nothing.
template <class T>
struct wire;

/// Takes the bytes of one value. Made by weft; used by one `put` on one thread.
class sink {
 public:
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;

  /// Writes bytes. \throws an exception of weft when no more bytes are wanted: let it pass
  void write(const_buffer bytes) {
    while (bytes.size() > room_.size()) {
      const std::size_t n = room_.size();
      if (n != 0) std::memcpy(room_.data(), bytes.data(), n);
      bytes = bytes.subspan(n);
      used_up(n);
      room_ = next_room();
    }
    if (bytes.empty()) return;
    std::memcpy(room_.data(), bytes.data(), bytes.size());
    used_up(bytes.size());
  }

  /// Writes a value of any type that weft can send. Of a vector or a string its length comes first.
  /// \throws weft::error (invalid_argument) for an element of a container that writes no bytes
  template <class T>
  sink& operator<<(const T& value) {
    detail::require_value<T>();
    detail::put_value(*this, value);
    return *this;
  }

  std::uint64_t written() const noexcept { return written_; }  ///< bytes so far

 protected:
  sink() = default;
  explicit sink(mutable_buffer room) noexcept : room_(room) {}
  ~sink() = default;
  /// More memory, not empty, for the bytes that follow.
  virtual mutable_buffer next_room() = 0;
  std::size_t room_left() const noexcept { return room_.size(); }

 private:
  void used_up(std::size_t n) noexcept {
    room_ = room_.subspan(n);
    written_ += n;
  }

  mutable_buffer room_;
  std::uint64_t written_ = 0;
};

/// Gives the bytes of one value. Made by weft; used by one `get` on one thread.
class source {
 public:
  source(const source&) = delete;
  source& operator=(const source&) = delete;

  /// Fills `into`. \throws weft::error (protocol_error) when the value has fewer bytes left, with
  ///        the number that is missing; or an exception of weft when the receive ends: let it pass
  void read(mutable_buffer into) {
    while (into.size() > left_.size()) {
      const std::size_t n = left_.size();
      if (n != 0) std::memcpy(into.data(), left_.data(), n);
      into = into.subspan(n);
      used_up(n);
      left_ = next_bytes();
      if (left_.empty()) ended(into.size());
    }
    if (into.empty()) return;
    std::memcpy(into.data(), left_.data(), into.size());
    used_up(into.size());
  }

  /// Reads a value of any type that weft can receive. \throws as `read`, and weft::error
  ///        (protocol_error) for what no correct `put` writes
  template <class T>
  T get() {
    detail::require_value<T>();
    return detail::get_value<T>(*this);
  }

  /// The same; reuses the memory of a vector or a string.
  template <class T>
  source& operator>>(T& value) {
    detail::require_value<T>();
    detail::get_into(*this, value);
    return *this;
  }

  std::uint64_t bytes_read() const noexcept { return read_; }  ///< so far

  // --- for weft's own codec ---------------------------------------------------------------------

  /// Bytes that are here already.
  std::size_t at_hand() const noexcept { return left_.size(); }
  /// The number of elements of a container. \param element the fewest bytes of one
  std::uint64_t count_of(std::size_t element);

 protected:
  source() = default;
  explicit source(const_buffer all) noexcept : left_(all) {}
  ~source() = default;
  /// More bytes; none: the value has ended.
  virtual const_buffer next_bytes() = 0;

 private:
  void used_up(std::size_t n) noexcept {
    left_ = left_.subspan(n);
    read_ += n;
  }
  [[noreturn]] void ended(std::size_t missing) const;

  const_buffer left_;
  std::uint64_t read_ = 0;
};

}  // namespace weft
