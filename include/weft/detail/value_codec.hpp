// SPDX-License-Identifier: Apache-2.0
// The bytes of values: one behind the other, as docs/wire-format.md has it. Applications do not
// name these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/detail/value_bytes.hpp>

namespace weft {
class sink;
class source;

namespace detail {

[[noreturn]] void refuse_empty_element_put();
[[noreturn]] void refuse_empty_element_got();
/// The byte that says which part comes. \param parts there are
[[noreturn]] void refuse_choice(std::uint64_t what, std::size_t parts);

// --- to bytes ----------------------------------------------------------------------------------

template <class Out, class T>
void put_value(Out& to, const T& value);

/// A value of a collection where it lies, without a copy: those of a map are of another type.
template <class V, class Out, class Each>
void put_each(Out& to, const Each& each) {
  if constexpr (!std::is_same_v<V, Each> && kind_of<V> == value_kind::object && !has_wire<V> &&
                requires { each.second; }) {
    put_value(to, each.first);
    put_value(to, each.second);
  } else {
    put_value(to, static_cast<const V&>(each));
  }
}

/// \param to a sink, or what has its `write` and `written`, `put_own` for a type with a wire<T>,
///        and perhaps `write_elements` for many bytes, and `note_copies` where these may be copies
template <class Out, class T>
void put_collection(Out& to, const T& value) {
  const std::uint64_t count = value.size();
  to.write(bytes_of_value(count));
  if constexpr (kind_of<T> == value_kind::elements) {
    if constexpr (requires { to.write_elements(bytes_of_value(value)); })
      to.write_elements(bytes_of_value(value));
    else
      to.write(bytes_of_value(value));
  } else {
    constexpr bool makes_copies = !std::is_lvalue_reference_v<decltype(*std::begin(value))>;
    if constexpr (makes_copies && requires { to.note_copies(true); }) to.note_copies(true);
    for (const auto& each : value) {
      const std::uint64_t before = to.written();
      put_each<value_in<T>>(to, each);
      if (to.written() == before) refuse_empty_element_put();
    }
    if constexpr (makes_copies && requires { to.note_copies(true); }) to.note_copies(false);
  }
}

template <class Out, class T>
void put_parts(Out& to, const T& value) {
  constexpr value_parts parts = parts_of<T>;
  const auto put_all = [&to](const auto&... each) { (put_value(to, each), ...); };
  if constexpr (parts == value_parts::one_or_none) {
    const std::uint8_t there = value.has_value() ? 1 : 0;
    to.write(bytes_of_value(there));
    if (value) put_value(to, *value);
  } else if constexpr (parts == value_parts::one_of) {
    static_assert(std::variant_size_v<T> <= 255, "a variant of more than 255 types");
    const auto which = static_cast<std::uint8_t>(value.index());
    to.write(bytes_of_value(which));
    std::visit(put_all, value);
  } else if constexpr (parts == value_parts::of_tuple) {
    std::apply(put_all, value);
  } else if constexpr (parts == value_parts::of_array) {
    for (const auto& each : value) put_value(to, each);
  } else if constexpr (parts == value_parts::members) {
    with_members(value, [&put_all](auto, const auto&... each) { put_all(each...); });
  }
}

template <class Out, class T>
void put_value(Out& to, const T& value) {
  if constexpr (has_wire<T>) {
    if constexpr (std::is_base_of_v<sink, Out>)
      wire<T>::put(to, value);
    else
      to.put_own(value);
  } else if constexpr (kind_of<T> == value_kind::bytes) {
    to.write(bytes_of_value(value));
  } else if constexpr (has_elements<T> || parts_of<T> == value_parts::collection) {
    put_collection(to, value);
  } else {
    put_parts(to, value);
  }
}

// --- from bytes --------------------------------------------------------------------------------

template <class T, class Source>
T get_value(Source& from);
template <class Source, class T>
void get_into(Source& from, T& value);

/// A peer may lie about the number of elements: memory grows with the bytes that have come, of
/// which it is at most the eightfold.
template <class Source, class C>
void get_elements(Source& from, C& c) {
  static_assert(elements_of<C>::owns, "a span or string_view has no memory of its own");
  using element = element_t<C>;
  const std::size_t at_hand = from.at_hand() / sizeof(element);
  const std::size_t step = std::max((std::size_t{1} << 20) / sizeof(element) + 1, at_hand);
  const std::uint64_t count = from.count_of(sizeof(element));
  if constexpr (requires { from.take_row(c, count); })
    if (from.take_row(c, count)) return;
  c.clear();
  while (c.size() != count) {
    const std::size_t before = c.size();
    const std::size_t now =
        before + static_cast<std::size_t>(std::min<std::uint64_t>(step, count - before));
    if constexpr (requires { c.reserve(c.capacity()); })
      if (now > c.capacity())
        c.reserve(
            static_cast<std::size_t>(std::min<std::uint64_t>(count, std::max(now, 8 * before))));
    c.resize(now);
    from.read(std::as_writable_bytes(std::span(c.data(), c.size()).subspan(before)));
  }
}

template <class Source, class C>
void get_collection(Source& from, C& c) {
  c.clear();
  for (std::uint64_t n = from.count_of(1); n != 0; --n) {
    const std::uint64_t before = from.bytes_read();
    c.insert(c.end(), get_value<value_in<C>>(from));
    if (from.bytes_read() == before) refuse_empty_element_got();
  }
}

/// \return false: it is not alternative N
template <std::size_t N, class Source, class T>
bool get_alternative(Source& from, T& value, std::size_t which) {
  if (which != N) return false;
  value.template emplace<N>(get_value<std::variant_alternative_t<N, T>>(from));
  return true;
}
template <class Source, class T, std::size_t... I>
void get_one_of(Source& from, T& value, std::index_sequence<I...>) {
  const std::size_t which = get_value<std::uint8_t>(from);
  if (!(get_alternative<I>(from, value, which) || ...)) refuse_choice(which, sizeof...(I));
}

template <class Source, class T>
void get_parts(Source& from, T& value) {
  constexpr value_parts parts = parts_of<T>;
  const auto get_all = [&from](auto&... each) { (get_into(from, each), ...); };
  if constexpr (parts == value_parts::one_or_none) {
    const auto there = get_value<std::uint8_t>(from);
    if (there > 1) refuse_choice(there, 2);
    if (there == 0)
      value.reset();
    else
      value.emplace(get_value<typename T::value_type>(from));
  } else if constexpr (parts == value_parts::one_of) {
    get_one_of(from, value, std::make_index_sequence<std::variant_size_v<T>>());
  } else if constexpr (parts == value_parts::of_tuple) {
    std::apply(get_all, value);
  } else if constexpr (parts == value_parts::of_array) {
    for (auto& each : value) get_into(from, each);
  } else if constexpr (parts == value_parts::members) {
    with_members(value, [&get_all](auto, auto&... each) { get_all(each...); });
  }
}

/// Keeps the memory of containers.
template <class Source, class T>
void get_into(Source& from, T& value) {
  if constexpr (has_wire<T>)
    value = wire<T>::get(from);
  else if constexpr (kind_of<T> == value_kind::bytes)
    from.read(writable_bytes_of_value(value));
  else if constexpr (kind_of<T> == value_kind::elements)
    get_elements(from, value);
  else if constexpr (parts_of<T> == value_parts::collection)
    get_collection(from, value);
  else
    get_parts(from, value);
}

/// The same for a new object. One whose bytes are its value needs no default constructor.
template <class T, class Source>
T get_value(Source& from) {
  if constexpr (has_wire<T>) {
    return wire<T>::get(from);
  } else if constexpr (kind_of<T> == value_kind::bytes) {
    alignas(T) std::byte memory[sizeof(T)];
    from.read(memory);
    return *std::launder(reinterpret_cast<const T*>(memory));
  } else {
    T value{};
    get_into(from, value);
    return value;
  }
}

}  // namespace detail
}  // namespace weft
