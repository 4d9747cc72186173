// SPDX-License-Identifier: Apache-2.0
// A shared library that this process has loaded, and what it tells of its version.
#pragma once

#include <string>
#include <string_view>

namespace weft::detail {

/// Functions are looked up by name: a library that is older than they are has none of them, and no
/// layer but the library's own has to know its headers.
class library_file {
 public:
  /// \param beginning of the file's name, with the last point: "liburing.so."
  explicit library_file(std::string_view beginning);

  bool loaded() const noexcept { return !path_.empty(); }

  /// The numbers behind the beginning, of the file that the name refers to: "2.9"; may be empty.
  std::string name_says() const;

  /// What two functions without arguments return: "2.9". \return empty: it lacks one of them
  std::string numbers_say(const char* major, const char* minor) const;

  /// The first version in the text of a function without arguments. \return empty: it lacks it
  std::string text_says(const char* function) const;

  /// What a function returns as one number, the first half in the upper 16 bits, as libfabric.
  std::string halves_say(const char* function) const;

 private:
  void* find(const char* function) const;

  std::string beginning_;
  std::string path_;
};

/// The first of a text's parts that look like a version: "5.0.7" in "OpenPMIx 5.0.7a1 (...)".
std::string first_version(std::string_view text);

}  // namespace weft::detail
