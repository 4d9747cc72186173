// SPDX-License-Identifier: Apache-2.0
// How many bytes values have, by their types and by themselves. Applications do not name these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <weft/wire.hpp>

namespace weft::detail {

/// The sizes that the values of a type can have.
struct value_sizes {
  std::size_t least = 0;
  bool fixed = true;  ///< all have `least`
};

constexpr value_sizes operator+(value_sizes a, value_sizes b) noexcept {
  return {a.least + b.least, a.fixed && b.fixed};
}

template <class T>
constexpr value_sizes sizes_of_value() noexcept {
  if constexpr (has_wire<T>)
    return {0, false};
  else if constexpr (kind_of<T> == value_kind::bytes)
    return {sizeof(T)};
  else if constexpr (kind_of<T> == value_kind::none)
    return require_value<T>(), value_sizes();  // does not compile, and says why
  else if constexpr (has_elements<T> || parts_of<T> == value_parts::collection)
    return {sizeof(std::uint64_t), false};
  else if constexpr (parts_of<T> == value_parts::one_of || parts_of<T> == value_parts::one_or_none)
    return {1, false};
  else if constexpr (parts_of<T> == value_parts::of_array)
    return {std::extent_v<T> * sizes_of_value<std::remove_extent_t<T>>().least,
            sizes_of_value<std::remove_extent_t<T>>().fixed};
  else
    return []<class... P>(std::type_identity<std::tuple<std::type_identity<P>...>>) {
      return (value_sizes{} + ... + sizes_of_value<std::remove_cv_t<P>>());
    }(std::type_identity<typename types_of_parts<T>::type>());
}

/// Counts what a wire<T> writes, and keeps nothing.
class counting_sink final : public sink {
 private:
  mutable_buffer next_room() override { return scratch_; }
  std::array<std::byte, 512> scratch_;
};

/// Counts the bytes of values.
class value_meter {
 public:
  void write(const_buffer bytes) noexcept { written_ += bytes.size(); }
  std::uint64_t written() const noexcept { return written_; }
  template <class T>
  void put_own(const T& value) {
    counting_sink counts;
    wire<T>::put(counts, value);
    written_ += counts.written();
  }

 private:
  std::uint64_t written_ = 0;
};

/// \throws what the `put` of a wire<T> throws; std::bad_alloc for more than memory can have
template <class... T>
std::size_t size_of_values(const T&... values) {
  if constexpr ((sizes_of_value<T>().fixed && ...)) {
    return (std::size_t{0} + ... + sizes_of_value<T>().least);
  } else {
    value_meter meter;
    (put_value(meter, values), ...);
    return static_cast<std::size_t>(meter.written());
  }
}

}  // namespace weft::detail
