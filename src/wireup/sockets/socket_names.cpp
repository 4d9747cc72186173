// SPDX-License-Identifier: Apache-2.0
#include "wireup/sockets/socket_names.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <vector>

#include <weft/error.hpp>

#include "runtime/descriptors/remote_wakeup.hpp"
#include "runtime/os/errno_hint.hpp"

namespace weft::wireup {

namespace {

constexpr std::string_view any_of_ours = "weft-", bell_prefix = "weft-bell-";
constexpr std::size_t most_swept = 16;      // of the names in a folder, by each process
constexpr std::time_t time_to_listen = 60;  // seconds; a name that is unready for longer is left

}  // namespace

socket_names::socket_names(std::string folder, bool for_all_users) : folder_{std::move(folder)} {
  std::string& path = folder_.path;
  folder_.for_all_users = for_all_users && !path.empty();  // all users see abstract names
  if (path.empty()) return;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto fail = [&path](const std::string& what) {
    throw error(errc::invalid_argument,
                fmt::format("WEFT_SOCKET_DIR (options::socket_dir) '{}' {}", path, what));
  };
  if (path.front() != '/') fail("is no absolute path");
  if (path.size() > socket_folder::longest)
    fail(fmt::format("is too long for the names of sockets in it: at most {} bytes",
                     socket_folder::longest));
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) fail("is not there: " + runtime::describe_errno(errno));
  if (!S_ISDIR(about.st_mode)) fail("is no folder");
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    fail("does not let this process make files: " + runtime::describe_errno(errno));
}

/// A process that connects to a name before the socket listens is refused, and takes the name for
/// one that was left. So the name is there only when the socket listens.
listening socket_names::listen(const std::string& name) const {
  if (!are_files()) {
    opened made = listen_abstract(name);
    return {std::move(made.fd), {}, made.error};
  }
  if (name.find('/') != name.npos) return {{}, {}, EINVAL};
  const std::string path = path_of(name), early = path + std::string(unready_socket);
  if (early.size() > max_socket_name) return {{}, {}, ENAMETOOLONG};
  sweep();
  if (opened there = connect(name); there.fd) {
    runtime::disposal().hang_up(there.fd.release());
    return {{}, {}, EADDRINUSE};
  }
  const auto before = runtime::file_identity::of(path);
  if (before.inode != 0 && !before.is_socket) return {{}, {}, EEXIST};
  opened made = listen_at_path(early);
  if (!made.fd) return {{}, {}, made.error};
  socket_file file(early);
  if ((folder_.for_all_users && ::chmod(early.c_str(), 0666) != 0) ||
      ::rename(early.c_str(), path.c_str()) != 0)
    return {{}, {}, errno};
  return {std::move(made.fd), socket_file(path), 0};
}

opened socket_names::connect(const std::string& name,
                             std::shared_ptr<runtime::disposal> where) const {
  if (!are_files()) return connect_abstract(name, std::move(where));
  const std::string path = path_of(name);
  if (path.size() > max_socket_name || name.find('/') != name.npos) return {{}, ECONNREFUSED};
  const auto which = runtime::file_identity::of(path);
  opened made = connect_to_path(path, std::move(where));
  if (made.error == ECONNREFUSED) runtime::unlink_socket(path, which);
  if (made.error == ENOENT) made.error = ECONNREFUSED;
  return made;
}

std::optional<credentials> socket_names::listener_at(const std::string& name) const {
  opened probe = connect(name);
  if (!probe.fd) return std::nullopt;
  const credentials who = credentials_of(probe.fd.get());
  runtime::disposal().hang_up(probe.fd.release());
  return who;
}

std::string socket_names::who_listens(const std::string& name) const {
  const auto who = listener_at(name);
  if (!who) return {};
  std::string text = describe_process(who->pid);
  if (!who->same_user) text += fmt::format(" of the user with id {}", who->uid);
  return text;
}

/// Of the names that killed processes have left, removes some: each process that comes looks at a
/// few, from any one on, so in the end they all go.
void socket_names::sweep() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(folder_.path.c_str()), &::closedir);
  if (!all) return;
  std::vector<std::string> names;
  while (const dirent* one = ::readdir(all.get()))
    if (std::string_view(one->d_name).starts_with(any_of_ours)) names.emplace_back(one->d_name);
  if (names.empty()) return;
  const std::size_t first = random_id().words[0] % names.size();
  for (std::size_t i = 0; i != std::min(names.size(), most_swept); ++i)
    look_at(names[(first + i) % names.size()]);
}

void socket_names::look_at(const std::string& name) const {
  const std::string path = path_of(name);
  const auto which = runtime::file_identity::of(path);
  if (!which.is_socket) return;
  if (name.starts_with(bell_prefix)) {
    if (runtime::is_left_bell(path)) runtime::unlink_socket(path, which);
  } else if (name.ends_with(unready_socket)) {
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && ::time(nullptr) - about.st_mtime > time_to_listen)
      runtime::unlink_socket(path, which);
  } else if (opened there = connect(name); there.fd) {
    runtime::disposal().hang_up(there.fd.release());
  }
}

}  // namespace weft::wireup
