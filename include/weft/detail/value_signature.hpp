// SPDX-License-Identifier: Apache-2.0
// The names of types as they travel, made by the compiler, so that both sides of a call can compare
// them. docs/wire-format.md, "Signatures". Applications do not name these.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/detail/value_kind.hpp>

namespace weft::detail {

/// A name, of which the beginning is kept, and its hash (FNV-1a).
class type_name {
 public:
  constexpr void add(std::string_view text) noexcept {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      if (size_ != text_.size()) text_[size_++] = c;
    }
  }
  constexpr void add(std::size_t number) noexcept {
    if (number >= 10) add(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    add(std::string_view(&digit, 1));
  }

  constexpr std::string_view text() const noexcept { return {text_.data(), size_}; }
  /// Not 0.
  constexpr std::uint32_t fingerprint() const noexcept {
    const auto folded = static_cast<std::uint32_t>(hash_ ^ hash_ >> 32);
    return folded == 0 ? 1 : folded;
  }

 private:
  std::array<char, 160> text_{};
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

template <class T>
constexpr void add_name(type_name& to) noexcept;

/// The types one after the other, with commas.
template <class... T>
constexpr void add_names(type_name& to, std::string_view open, std::string_view close,
                         std::string_view between = ",") noexcept {
  to.add(open);
  [[maybe_unused]] bool first = true;
  [[maybe_unused]] const auto one = [&]<class Each>(std::type_identity<Each>) {
    if (!std::exchange(first, false)) to.add(between);
    add_name<Each>(to);
  };
  (one(std::type_identity<T>()), ...);
  to.add(close);
}

template <class T>
constexpr void add_number_name(type_name& to) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    to.add("bool");
  } else if constexpr (std::is_same_v<T, char>) {
    to.add("char");
  } else {
    to.add(std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u");
    to.add(8 * sizeof(T));
  }
}

/// A structure as a C compiler lays it out, or one whose members are not known.
template <class T>
constexpr void add_plain_name(type_name& to) noexcept {
  if constexpr (std::is_enum_v<T>) {
    add_number_name<std::underlying_type_t<T>>(to);
  } else if constexpr (std::is_arithmetic_v<T>) {
    add_number_name<T>(to);
  } else if constexpr (parts_of<T> == value_parts::none) {
    to.add("raw(");
    to.add(sizeof(T));
    to.add(")");
  } else {
    []<class... P>(std::type_identity<std::tuple<std::type_identity<P>...>>, type_name& name) {
      add_names<P...>(name, "{", "}");
    }(std::type_identity<typename types_of_parts<T>::type>(), to);
  }
}

template <class T>
struct array_name : std::false_type {};
template <class T, std::size_t N>
struct array_name<std::array<T, N>> : std::true_type {
  using element = T;
  static constexpr std::size_t size = N;
};
template <class T, std::size_t N>
struct array_name<T[N]> : std::true_type {
  using element = T;
  static constexpr std::size_t size = N;
};

template <class T>
constexpr void add_parts_name(type_name& to) noexcept {
  []<class... P>(std::type_identity<std::tuple<std::type_identity<P>...>>, type_name& name) {
    if constexpr (parts_of<T> == value_parts::one_or_none)
      add_names<P...>(name, "", "?");
    else if constexpr (parts_of<T> == value_parts::one_of)
      add_names<P...>(name, "<", ">", "|");
    else if constexpr (parts_of<T> == value_parts::collection)
      add_names<P...>(name, "[", "]");
    else
      add_names<P...>(name, "(", ")");
  }(std::type_identity<typename types_of_parts<T>::type>(), to);
}

/// Whether a wire<T> has a name: `static constexpr std::string_view name`.
template <class T>
concept names_itself = requires {
  { wire<T>::name } -> std::convertible_to<std::string_view>;
};

template <class Const>
constexpr void add_name(type_name& to) noexcept {
  using T = std::remove_cv_t<Const>;
  if constexpr (std::is_void_v<T>) {
    to.add("()");
  } else if constexpr (has_wire<T>) {
    to.add("own(");
    if constexpr (names_itself<T>) to.add(std::string_view(wire<T>::name));
    to.add(")");
  } else if constexpr (array_name<T>::value) {
    add_names<typename array_name<T>::element>(to, "[", ";");
    to.add(array_name<T>::size);
    to.add("]");
  } else if constexpr (has_elements<T>) {
    add_names<element_t<T>>(to, "[", "]");
  } else if constexpr (kind_of<T> == value_kind::bytes) {
    add_plain_name<T>(to);
  } else if constexpr (kind_of<T> == value_kind::none) {
    require_value<T>();  // does not compile, and says why
  } else {
    add_parts_name<T>(to);
  }
}

}  // namespace weft::detail
