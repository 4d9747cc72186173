// SPDX-License-Identifier: Apache-2.0
// A folder for the names of Unix sockets, and the files of sockets in it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>

namespace weft::runtime {

/// Where Unix sockets have their names. Empty: in the network namespace (abstract names). A value.
struct socket_folder {
  /// So that the longest name of weft's own sockets fits into an address behind it.
  static constexpr std::size_t longest = 64;

  std::string path;            ///< absolute, without a slash at its end
  bool for_all_users = false;  ///< processes of other users may connect

  bool is_there() const noexcept { return !path.empty(); }
};

/// Which file a path names at the moment; it may name another one later. A value.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool is_socket = false;

  /// All zero: there is none.
  static file_identity of(const std::string& path) noexcept;
  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// Removes a file if it is still that socket.
void unlink_socket(const std::string& path, const file_identity& which) noexcept;

/// Removes the file of a socket, if it has one and no other file has its name now. Move-only. Not
/// in a child that `fork` made.
class socket_file {
 public:
  socket_file() = default;
  explicit socket_file(std::string path);
  socket_file(socket_file&& other) noexcept { *this = std::move(other); }
  socket_file& operator=(socket_file&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(which_, other.which_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~socket_file();

 private:
  std::string path_;
  file_identity which_;
  pid_t owner_ = 0;
};

}  // namespace weft::runtime
