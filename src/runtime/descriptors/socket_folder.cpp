// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/socket_folder.hpp"

#include <unistd.h>

namespace weft::runtime {

socket_file::socket_file(std::string path) : path_(std::move(path)), owner_(::getpid()) {}

socket_file::~socket_file() {
  if (!path_.empty() && owner_ == ::getpid()) ::unlink(path_.c_str());
}

}  // namespace weft::runtime
