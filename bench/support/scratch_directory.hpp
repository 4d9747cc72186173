// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace weft::bench {

/// A directory that is removed with everything in it.
class scratch_directory {
 public:
  /// \throws std::runtime_error
  scratch_directory() {
    std::string name = std::filesystem::temp_directory_path() / "weft-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error(fmt::format("no directory can be made at {}", name));
    path_ = name;
  }
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::bench
