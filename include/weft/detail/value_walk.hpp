// SPDX-License-Identifier: Apache-2.0
// Finds where in the bytes of a value, of which only the first ones are here, the first long row of
// elements lies, so that these are received where they stay. Applications do not name these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/detail/value_bytes.hpp>

namespace weft::detail {

/// A container that its elements are received into. It becomes a part of the value, or the whole.
class landed_row {
 public:
  virtual ~landed_row() = default;
  mutable_buffer bytes() const noexcept { return bytes_; }

  /// Moves it to a container of that type. \return false: it is another type, or number
  template <class C>
  bool move_to(C& c, std::uint64_t count) noexcept;

 protected:
  mutable_buffer bytes_;
  const void* type_ = nullptr;  // the address of a type's row_type
};

template <class C>
inline constexpr char row_type = 0;

/// Whether a container of that type writes to memory for elements that it does not have yet.
template <class C>
inline constexpr bool fills_memory = true;

template <class C>
class row_of final : public landed_row {
 public:
  /// \param before a container with memory to use; null: none
  /// \throws std::bad_alloc, what a constructor of the elements throws
  row_of(C* before, std::size_t count) {
    if (before) elements = std::move(*before);
    elements.resize(count);
    bytes_ = writable_bytes_of_value(elements);
    type_ = &row_type<C>;
  }
  C elements;
};

template <class C>
bool landed_row::move_to(C& c, std::uint64_t count) noexcept {
  if (type_ != &row_type<C>) return false;
  C& elements = static_cast<row_of<C>&>(*this).elements;
  if (elements.size() != count) return false;
  c = std::move(elements);
  return true;
}

/// Whether there is memory for elements that have not come. A vector or a string writes to all of
/// its memory: for a long one that the kernel has to give before a byte of it has come.
struct row_limits {
  std::size_t least = 0;        ///< bytes of a row that is worth it
  std::size_t most_filled = 0;  ///< bytes of a container that is filled before
};

/// Reads no byte that is not there, and ends at what is no value: that is found when it is made.
class value_walk {
 public:
  /// \param beginning the first bytes of the values \param total bytes of them
  value_walk(const_buffer beginning, std::uint64_t total, row_limits limits) noexcept
      : left_(beginning), total_(total), limits_(limits) {}

  std::uint64_t at() const noexcept { return at_; }
  bool skip(std::uint64_t n) noexcept {
    if (n > left_.size()) return false;
    left_ = left_.subspan(static_cast<std::size_t>(n));
    at_ += n;
    return true;
  }
  template <class N>
  bool read(N& n) noexcept {
    if (left_.size() < sizeof n) return false;
    std::memcpy(&n, left_.data(), sizeof n);
    return skip(sizeof n);
  }
  /// \return false: the message cannot have so many
  bool count(std::uint64_t& n, std::size_t element) noexcept {
    return read(n) && n <= (total_ - at_) / element;
  }

  /// A row, and the number in front. \return false: the walk ends there
  template <class C>
  bool row(C* before) noexcept {
    std::uint64_t n = 0;
    if (!count(n, sizeof(element_t<C>))) return false;
    const std::uint64_t size = n * sizeof(element_t<C>);
    if (size <= left_.size()) return skip(size);
    note_row(before, n);
    return false;
  }
  /// All of the bytes are elements.
  template <class C>
  void only_row(C* before) noexcept {
    note_row(before, total_ / sizeof(element_t<C>));
  }

  /// The row that was found, at at(); null: none. \throws as row_of
  std::unique_ptr<landed_row> make() const { return make_ ? make_(before_, count_) : nullptr; }

 private:
  template <class C>
  void note_row(C* before, std::uint64_t n) noexcept {
    const std::uint64_t size = n * sizeof(element_t<C>);
    if (size < limits_.least || (fills_memory<C> && size > limits_.most_filled)) return;
    before_ = before;
    count_ = static_cast<std::size_t>(n);
    make_ = [](void* there, std::size_t elements) -> std::unique_ptr<landed_row> {
      return std::make_unique<row_of<C>>(static_cast<C*>(there), elements);
    };
  }

  const_buffer left_;
  const std::uint64_t total_;
  const row_limits limits_;
  std::uint64_t at_ = 0;
  void* before_ = nullptr;
  std::size_t count_ = 0;
  std::unique_ptr<landed_row> (*make_)(void*, std::size_t) = nullptr;
};

template <class T>
bool walk_value(value_walk& by, T* before) noexcept;

template <class T>
bool walk_collection(value_walk& by) noexcept {
  std::uint64_t n = 0;
  if (!by.count(n, 1)) return false;
  for (; n != 0; --n) {
    const std::uint64_t at = by.at();
    if (!walk_value<value_in<T>>(by, nullptr) || by.at() == at) return false;
  }
  return true;
}

template <class T, std::size_t... I>
bool walk_one_of(value_walk& by, std::index_sequence<I...>) noexcept {
  std::uint8_t which = 0;
  if (!by.read(which)) return false;
  return ((I == which && walk_value<std::variant_alternative_t<I, T>>(by, nullptr)) || ...);
}

template <class T, std::size_t... I>
bool walk_tuple(value_walk& by, T* before, std::index_sequence<I...>) noexcept {
  return (walk_value<std::remove_cv_t<std::tuple_element_t<I, T>>>(
              by, before ? &std::get<I>(*before) : nullptr) &&
          ...);
}

template <class T>
bool walk_members(value_walk& by, T* before) noexcept {
  if (before)
    return with_members(*before,
                        [&by](auto, auto&... each) { return (walk_value(by, &each) && ...); });
  return each_part<T>([&by]<class P>() { return walk_value<P>(by, nullptr); });
}

/// \param before what the value will be read into, null if it is made
/// \return false: the walk has ended, at a row, or without one
template <class T>
bool walk_value(value_walk& by, T* before) noexcept {
  constexpr value_parts parts = parts_of<T>;
  if constexpr (has_wire<T>) {
    return false;  // its bytes are known to its get only
  } else if constexpr (kind_of<T> == value_kind::bytes) {
    return by.skip(sizeof(T));
  } else if constexpr (kind_of<T> == value_kind::elements) {
    return by.row(before);
  } else if constexpr (parts == value_parts::collection) {
    return walk_collection<T>(by);
  } else if constexpr (parts == value_parts::one_or_none) {
    std::uint8_t there = 0;
    if (!by.read(there) || there > 1) return false;
    return there == 0 || walk_value<typename T::value_type>(by, nullptr);
  } else if constexpr (parts == value_parts::one_of) {
    return walk_one_of<T>(by, std::make_index_sequence<std::variant_size_v<T>>());
  } else if constexpr (parts == value_parts::of_tuple) {
    return walk_tuple(by, before, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (parts == value_parts::of_array) {
    using element = std::remove_extent_t<T>;
    for (std::size_t i = 0; i != std::extent_v<T>; ++i)
      if (!walk_value<element>(by, before ? &(*before)[i] : nullptr)) return false;
    return true;
  } else {
    return walk_members(by, before);
  }
}

}  // namespace weft::detail
