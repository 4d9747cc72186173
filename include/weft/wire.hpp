// SPDX-License-Identifier: Apache-2.0
// sink, source and wire: how types of the application become bytes and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <weft/detail/value_kind.hpp>

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
/// `put` writes and `get` reads the same bytes. Both are ordinary functions. For an object of up to
/// one piece, 256 KiB, they run on the thread of the coroutine. A longer object travels piece by
/// piece, so that neither side holds all of its bytes at once: they run on a thread of weft then,
/// which waits for the other side while two pieces are under way. `put` is called twice for such an
/// object and must write the same bytes each time. `put` must not be noexcept, nor swallow the
/// exceptions of the sink: they end it when the other side, a stop or a deadline ends the send. The
/// exceptions of `put` and `get` reach the coroutine. Neither may use weft's context.
///
/// `get` must check what it reads: the peer chose it. An element of a vector has at least one byte;
/// otherwise the number of them, which a peer chooses too, would cost the peer nothing.
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
  /// \throws weft::error (invalid_argument) for an element of a vector that writes no bytes
  template <class T>
  sink& operator<<(const T& value);

  std::uint64_t written() const noexcept { return written_; }  ///< bytes so far

 protected:
  sink() = default;
  ~sink() = default;
  /// More memory, not empty, for the bytes that follow.
  virtual mutable_buffer next_room() = 0;
  std::size_t room_left() const noexcept { return room_.size(); }

 private:
  void used_up(std::size_t n) noexcept {
    room_ = room_.subspan(n);
    written_ += n;
  }
  [[noreturn]] static void refuse_empty_element();

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

  /// Reads a value of any type that weft can receive.
  template <class T>
  T get();

  /// The same; reuses the memory of a vector or a string.
  template <class T>
  source& operator>>(T& value);

  std::uint64_t bytes_read() const noexcept { return read_; }  ///< so far

 protected:
  source() = default;
  ~source() = default;
  /// More bytes; none: the value has ended.
  virtual const_buffer next_bytes() = 0;

 private:
  void used_up(std::size_t n) noexcept {
    left_ = left_.subspan(n);
    read_ += n;
  }
  [[noreturn]] void ended(std::size_t missing) const;
  [[noreturn]] static void refuse_empty_element();
  std::uint64_t count_of(std::size_t element);
  template <class C>
  void read_elements(C& c);

  const_buffer left_;
  std::uint64_t read_ = 0;
};

template <class T>
sink& sink::operator<<(const T& value) {
  using detail::value_kind;
  detail::require_value<T>();
  constexpr value_kind kind = detail::kind_of<T>;
  if constexpr (kind == value_kind::bytes) {
    write(detail::bytes_of_value(value));
  } else if constexpr (kind == value_kind::elements) {
    *this << std::uint64_t{value.size()};
    write(detail::bytes_of_value(value));
  } else if constexpr (detail::has_wire<T>) {
    wire<T>::put(*this, value);
  } else if constexpr (kind == value_kind::object) {
    *this << std::uint64_t{value.size()};
    for (const auto& each : value) {
      const std::uint64_t before = written_;
      *this << each;
      if (written_ == before) refuse_empty_element();
    }
  }
  return *this;
}

/// A peer may lie about the number of elements: memory grows with the bytes that have come.
template <class C>
void source::read_elements(C& c) {
  using element = detail::element_t<C>;
  constexpr std::size_t step = std::max<std::size_t>(1, (std::size_t{1} << 20) / sizeof(element));
  const std::uint64_t count = count_of(sizeof(element));
  c.clear();
  while (c.size() != count) {
    const std::size_t before = c.size();
    c.resize(before + static_cast<std::size_t>(std::min<std::uint64_t>(step, count - before)));
    read(std::as_writable_bytes(std::span(c.data(), c.size()).subspan(before)));
  }
}

template <class T>
T source::get() {
  using detail::value_kind;
  detail::require_value<T>();
  constexpr value_kind kind = detail::kind_of<T>;
  if constexpr (kind == value_kind::bytes) {
    alignas(T) std::byte memory[sizeof(T)];
    read(memory);
    return *std::launder(reinterpret_cast<const T*>(memory));
  } else if constexpr (detail::has_wire<T>) {
    return wire<T>::get(*this);
  } else {
    static_assert(detail::elements_of<T>::owns, "a span or string_view has no memory of its own");
    T value{};
    *this >> value;
    return value;
  }
}

template <class T>
source& source::operator>>(T& value) {
  using detail::value_kind;
  detail::require_value<T>();
  constexpr value_kind kind = detail::kind_of<T>;
  if constexpr (kind == value_kind::bytes) {
    read(std::as_writable_bytes(std::span<T, 1>(&value, 1)));
  } else if constexpr (detail::has_wire<T>) {
    value = wire<T>::get(*this);
  } else if constexpr (kind == value_kind::elements) {
    static_assert(detail::elements_of<T>::owns, "a span or string_view has no memory of its own");
    read_elements(value);
  } else if constexpr (kind == value_kind::object) {
    value.clear();
    for (std::uint64_t n = count_of(1); n != 0; --n) {
      const std::uint64_t before = read_;
      value.push_back(get<detail::element_t<T>>());
      if (read_ == before) refuse_empty_element();
    }
  }
  return *this;
}

}  // namespace weft
