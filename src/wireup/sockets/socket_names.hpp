// SPDX-License-Identifier: Apache-2.0
// Where the Unix sockets of contexts have their names: in the network namespace, or in a folder
// that containers share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/descriptors/socket_folder.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

using runtime::socket_file;
using runtime::socket_folder;

/// Behind the name of a socket's file until it listens. The kernel shows the socket by that name
/// also later.
inline constexpr std::string_view unready_socket = ".new";

/// A listening socket and its name's file; or the errno that says why there is none.
struct listening {
  unique_fd fd;
  socket_file file;
  int error = 0;
};

/// A value. Abstract names, the default, leave nothing behind and are seen by the processes of the
/// network namespace. A folder is seen by all processes that have it, whatever else they share; a
/// name that a killed process leaves there is removed by a process that comes later, or that looks
/// for it.
class socket_names {
 public:
  socket_names() = default;
  /// \param folder an absolute path; empty: abstract names \param for_all_users whether processes
  /// of other users may connect: they have to prove that they know the job's key
  /// \throws weft::error (invalid_argument) when it is no folder, or too long for a socket's name
  socket_names(std::string folder, bool for_all_users);

  bool are_files() const noexcept { return folder_.is_there(); }
  /// For sockets that have other names.
  const socket_folder& folder() const noexcept { return folder_; }
  /// Whether a peer of another user is asked for the job's key, in place of being refused.
  bool admit_by_key() const noexcept { return folder_.for_all_users; }

  /// As listen_abstract. EADDRINUSE: a process listens there. EEXIST: a file has that name.
  /// ENAMETOOLONG, EINVAL: the name cannot be that of a file.
  listening listen(const std::string& name) const;
  /// As connect_abstract.
  opened connect(const std::string& name, std::shared_ptr<runtime::disposal> where = {}) const;

  /// The process that listens at a name; nothing: no process, or it cannot be told at the moment.
  std::optional<credentials> listener_at(const std::string& name) const;
  /// The process that holds a name, for a message: "process 12 (heat)"; empty if there is none.
  std::string who_listens(const std::string& name) const;

 private:
  std::string path_of(const std::string& name) const { return folder_.path + "/" + name; }
  void sweep() const;
  void look_at(const std::string& name) const;

  socket_folder folder_;
};

}  // namespace weft::wireup
