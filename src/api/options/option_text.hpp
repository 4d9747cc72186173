// SPDX-License-Identifier: Apache-2.0
// Values of options as text. Each function gets the name of the variable for its error.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::detail {

inline constexpr std::size_t most_bytes = std::size_t{1} << 62;

/// \throws weft::error (invalid_argument) that says what is allowed
[[noreturn]] void bad(const char* name, const std::string& value, std::string_view allowed);

/// The words for the values of an option.
template <class T, std::size_t n>
using vocabulary = std::array<std::pair<const char*, T>, n>;

template <class T, std::size_t n>
T one_of(const vocabulary<T, n>& all, const char* name, const std::string& value,
         const char* allowed) {
  for (const auto& [word, meaning] : all)
    if (value == word) return meaning;
  bad(name, value, allowed);
}

template <class T, std::size_t n>
std::string word_for(const vocabulary<T, n>& all, T wanted) {
  for (const auto& [word, meaning] : all)
    if (meaning == wanted) return word;
  return "?";
}

/// \param allowed for the error
template <class T>
T number(const char* name, const std::string& value, T least, T most, std::string_view allowed) {
  T n{};
  const char* const end = value.data() + value.size();
  const auto [rest, failure] = std::from_chars(value.data(), end, n);
  if (failure != std::errc{} || rest != end || n < least || n > most) bad(name, value, allowed);
  return n;
}

/// A number of bytes with an optional k, m or g.
std::size_t bytes(const char* name, const std::string& text);

/// The parts between commas, without empty ones; and back.
std::vector<std::string> words(const std::string& text);
std::string join(const std::vector<std::string>& all);

}  // namespace weft::detail
