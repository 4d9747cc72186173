// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/socket_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace weft::runtime {

file_identity file_identity::of(const std::string& path) noexcept {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return {};
  return {about.st_dev, about.st_ino, S_ISSOCK(about.st_mode)};
}

void unlink_socket(const std::string& path, const file_identity& which) noexcept {
  if (which.is_socket && file_identity::of(path) == which) ::unlink(path.c_str());
}

socket_file::socket_file(std::string path)
    : path_(std::move(path)), which_(file_identity::of(path_)), owner_(::getpid()) {}

socket_file::~socket_file() {
  if (!path_.empty() && owner_ == ::getpid()) unlink_socket(path_, which_);
}

}  // namespace weft::runtime
