// SPDX-License-Identifier: Apache-2.0
// The sources of settings: the environment, a file, and text.
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <weft/environment.hpp>
#include <weft/error.hpp>

#include "api/options/options.hpp"

namespace weft {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(blanks);
  if (from == text.npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(blanks) + 1 - from));
}

/// \param where "FILE:LINE: ", or nothing
void apply_at(options& o, std::string_view setting, const std::string& where) {
  const std::size_t equals = setting.find('=');
  const std::string name = trimmed(setting.substr(0, equals));
  if (!where.empty() && name == "WEFT_JOB_KEY")
    throw error(errc::invalid_argument,
                where +
                    "a secret does not belong here; put it into a file that only its owner may "
                    "read, and its name into WEFT_JOB_KEY_FILE");
  for (const environment_variable& v : environment_variables())
    if (name == v.name && equals != setting.npos)
      return v.set(o, (where + v.name).c_str(), trimmed(setting.substr(equals + 1)));
  throw error(errc::invalid_argument,
              fmt::format("{}\"{}\" is no setting; write NAME=value, with a name that weft-info "
                          "--experiments lists",
                          where, setting));
}

}  // namespace

void options::apply(std::string_view setting) { apply_at(*this, setting, {}); }

void options::apply_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string setting = trimmed(line);
    if (!setting.empty() && setting.front() != '#')
      apply_at(*this, setting, fmt::format("{}:{}: ", path, number));
  }
  // A directory can be opened, and fails when it is read.
  if (!file.eof())
    throw error(errc::system, fmt::format("the configuration file {} cannot be read: {}", path,
                                          std::generic_category().message(errno)));
}

options options::from_environment() { return from_environment(options{}); }

options options::from_environment(options o) {
  if (const char* const path = std::getenv("WEFT_CONFIG"); path && *path) o.apply_file(path);
  for (const environment_variable& v : environment_variables())
    if (const char* value = std::getenv(v.name)) v.set(o, v.name, value);
  return o;
}

}  // namespace weft
