// SPDX-License-Identifier: Apache-2.0
// Makes a process short of descriptors while a test needs that.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"

namespace weft::tests {

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// While it lives this process can open `spare` more descriptors.
class descriptor_famine {
 public:
  explicit descriptor_famine(std::size_t spare) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit low = before_;
    low.rlim_cur = open_descriptors() + spare + 10;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    for (;;) {
      unique_fd fd(::dup(0));
      if (!fd) break;
      hoard_.push_back(std::move(fd));
    }
    hoard_.resize(hoard_.size() - spare);
  }
  ~descriptor_famine() {
    hoard_.clear();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<unique_fd> hoard_;
};

}  // namespace weft::tests
