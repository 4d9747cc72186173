// SPDX-License-Identifier: Apache-2.0
#include "api/versions/library_file.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace weft::detail {

namespace {

struct search {
  std::string_view beginning;
  std::string path;
};

int look_at(dl_phdr_info* info, std::size_t, void* argument) {
  auto& wanted = *static_cast<search*>(argument);
  const std::string_view path(info->dlpi_name);
  if (!path.substr(path.rfind('/') + 1).starts_with(wanted.beginning)) return 0;
  wanted.path = path;
  return 1;
}

}  // namespace

library_file::library_file(std::string_view beginning) : beginning_(beginning) {
  search wanted{beginning, {}};
  ::dl_iterate_phdr(look_at, &wanted);
  path_ = std::move(wanted.path);
}

std::string library_file::name_says() const {
  std::error_code ignored;
  const std::string file = std::filesystem::canonical(path_, ignored).filename();
  return file.starts_with(beginning_) ? first_version(file.substr(beginning_.size()))
                                      : std::string();
}

std::string library_file::numbers_say(const char* major, const char* minor) const {
  using function = int (*)();
  const auto first = reinterpret_cast<function>(find(major));
  const auto second = reinterpret_cast<function>(find(minor));
  if (!first || !second) return {};
  return std::to_string(first()) + "." + std::to_string(second());
}

std::string library_file::text_says(const char* function) const {
  const auto asked = reinterpret_cast<const char* (*)()>(find(function));
  return asked ? first_version(asked()) : std::string();
}

std::string library_file::halves_say(const char* function) const {
  const auto asked = reinterpret_cast<std::uint32_t (*)()>(find(function));
  if (!asked) return {};
  const std::uint32_t both = asked();
  return std::to_string(both >> 16) + "." + std::to_string(both & 0xffff);
}

void* library_file::find(const char* function) const {
  if (!loaded()) return nullptr;
  void* const library = ::dlopen(path_.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return nullptr;
  void* const found = ::dlsym(library, function);
  ::dlclose(library);  // it stays loaded, as before
  return found;
}

std::string first_version(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t from = text.find_first_of(digits);
  if (from == text.npos) return {};
  std::size_t end = text.find_first_not_of("0123456789.", from);
  if (end == text.npos) end = text.size();
  while (text[end - 1] == '.') --end;
  return std::string(text.substr(from, end - from));
}

}  // namespace weft::detail
