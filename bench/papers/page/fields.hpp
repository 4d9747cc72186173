// SPDX-License-Identifier: Apache-2.0
// The fields of the objects in a description. Every error is a std::invalid_argument that names the
// place.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/json_lines.hpp"

namespace weft::bench::page::fields {

/// The name that `text` probably stands for: at most two letters are missing, added, changed or
/// swapped, and most are right. Empty if there is none.
std::string near_name(std::string_view text, std::initializer_list<const char*> names);

/// Throws unless `in` is an object without other keys than `known`, because a misspelt one would do
/// nothing. The error names the key, and a near one, or all that there can be.
void check_keys(const json& in, std::initializer_list<const char*> known);

/// Throws std::invalid_argument.
[[noreturn]] void refuse(const std::string& what);

/// Does `work`, and says in its errors where it was.
template <class Work>
auto in_place(const std::string& place, Work work) {
  try {
    return work();
  } catch (const json::exception& error) {
    throw std::invalid_argument(place + ": " + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(place + ": " + error.what());
  }
}

/// The value of a key, which must be there.
const json& at(const json& in, const char* key);

/// The same as a T.
template <class T>
T get(const json& in, const char* key) {
  const json& found = at(in, key);
  return in_place(fmt::format("\"{}\"", key), [&] { return found.get<T>(); });
}

template <class T>
T get_or(const json& in, const char* key, T otherwise) {
  return in.is_object() && in.contains(key) ? get<T>(in, key) : otherwise;
}

/// The value of the text of `key` in a list of names.
template <class T, std::size_t N>
T choice(const json& in, const char* key, const std::pair<const char*, T> (&names)[N],
         const char* otherwise = nullptr) {
  const std::string text =
      otherwise != nullptr ? get_or<std::string>(in, key, otherwise) : get<std::string>(in, key);
  std::vector<std::string> known;
  for (const auto& [name, meaning] : names) {
    if (text == name) return meaning;
    known.emplace_back(name);
  }
  refuse(fmt::format("\"{}\" is \"{}\"; it can be {}", key, text, fmt::join(known, ", ")));
}

/// Each element of the list `key`, with its number and name in errors.
template <class T, class Read>
std::vector<T> list(const json& in, const char* key, Read read) {
  std::vector<T> result;
  if (!in.contains(key)) return result;
  if (!in[key].is_array()) refuse(fmt::format("\"{}\" is no list", key));
  for (const json& one : in[key]) {
    std::string place = fmt::format("{}[{}]", key, result.size());
    for (const char* name : {"id", "name", "text", "label"})
      if (one.is_object() && one.contains(name) && one[name].is_string()) {
        place += fmt::format(" ({})", one[name].template get<std::string>());
        break;
      }
    in_place(place, [&] { result.push_back(read(one)); });
  }
  return result;
}

}  // namespace weft::bench::page::fields
