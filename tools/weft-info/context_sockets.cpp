// SPDX-License-Identifier: Apache-2.0
#include "context_sockets.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "runtime/os/errno_hint.hpp"
#include "wireup/sockets/socket_names.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::info {

namespace {

std::string proc(pid_t pid, const char* what) { return fmt::format("/proc/{}/{}", pid, what); }

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

std::string user_of(uid_t uid) {
  const passwd* const known = ::getpwuid(uid);
  return known ? known->pw_name : fmt::format("#{}", uid);
}

void check_user(pid_t pid) {
  struct stat of {};
  if (::stat(proc(pid, "").c_str(), &of) != 0) refuse(fmt::format("there is no process {}", pid));
  if (of.st_uid != ::geteuid())
    refuse(fmt::format(
        "{} belongs to the user {}, and a context answers its own user only: sudo -u {} weft-info "
        "--attach {}",
        name_of_process(pid), user_of(of.st_uid), user_of(of.st_uid), pid));
}

/// An abstract name is known in one network namespace only.
void check_namespace(pid_t pid) {
  std::error_code unreadable;
  const auto theirs = std::filesystem::read_symlink(proc(pid, "ns/net"), unreadable);
  if (unreadable) return;
  if (theirs != std::filesystem::read_symlink("/proc/self/ns/net", unreadable))
    refuse(
        fmt::format("{} is in another network namespace (a container): nsenter -t {} -U "
                    "--preserve-credentials -n weft-info --attach {}, or type it in the container",
                    name_of_process(pid), pid, pid));
}

/// \param name as the kernel shows it: an abstract one, or a path. A socket that is a file has got
/// its name before it was moved to where it is found (wireup::socket_names).
std::optional<context_socket> socket_at(std::string name) {
  if (name.starts_with('@')) return context_socket{name.substr(1), {}};
  const std::size_t slash = name.rfind('/');
  if (slash == name.npos || name.front() != '/') return {};
  if (name.ends_with(wireup::unready_socket))
    name.resize(name.size() - wireup::unready_socket.size());
  return context_socket{name.substr(slash + 1), name.substr(0, slash)};
}

/// By the numbers of their files: the Unix sockets that listen there.
std::map<std::string, context_socket> listening_sockets(pid_t pid) {
  std::map<std::string, context_socket> names;
  std::ifstream table(proc(pid, "net/unix"));
  std::string line;
  std::getline(table, line);  // what the columns are
  while (std::getline(table, line)) {
    std::istringstream columns(line);
    std::string at, users, protocol, flags, type, state, inode, name;
    columns >> at >> users >> protocol >> flags >> type >> state >> inode >> std::ws;
    std::getline(columns, name);  // the path of a file may have spaces
    if (flags != "00010000") continue;
    if (auto known = socket_at(std::move(name))) names[inode] = *std::move(known);
  }
  return names;
}

/// Of the children that have contexts, for a launcher: "; its children 12, 13 have".
std::string children_with_contexts(pid_t pid) {
  std::string all;
  std::ifstream children(fmt::format("/proc/{}/task/{}/children", pid, pid));
  for (pid_t child = 0; children >> child;) try {
      context_sockets_of(child);
      all += fmt::format("{}{}", all.empty() ? "; its children have: --attach " : " or ", child);
    } catch (const std::runtime_error&) {
      // It has none, either.
    }
  return all;
}

}  // namespace

std::string name_of_process(pid_t pid) { return wireup::describe_process(pid); }

char state_of_process(pid_t pid) {
  std::ifstream stat(proc(pid, "stat"));
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  const std::size_t end = text.rfind(") ");
  return end == text.npos || end + 2 >= text.size() ? '?' : text[end + 2];
}

std::vector<context_socket> context_sockets_of(pid_t pid) {
  check_user(pid);
  if (name_of_process(pid).ends_with("(weft-run)"))  // its socket is for its ranks
    refuse(fmt::format("{} is a launcher, and has no context{}", name_of_process(pid),
                       children_with_contexts(pid)));
  const std::map<std::string, context_socket> names = listening_sockets(pid);
  std::set<context_socket> found;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator at(proc(pid, "fd"), unreadable), end;
       !unreadable && at != end; at.increment(unreadable)) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(at->path(), gone).string();
    if (gone || !what.starts_with("socket:[")) continue;
    const auto named = names.find(what.substr(8, what.size() - 9));
    if (named != names.end() && wireup::is_socket_name(named->second.name))
      found.insert(named->second);
  }
  if (unreadable)
    refuse(fmt::format("the descriptors of {} cannot be read: {}; is its program set-uid?",
                       name_of_process(pid), unreadable.message()));
  if (found.empty())
    refuse(
        fmt::format("{} has no weft context{}", name_of_process(pid), children_with_contexts(pid)));
  if (std::ranges::any_of(found, [](const context_socket& s) { return s.folder.empty(); }))
    check_namespace(pid);
  return {found.begin(), found.end()};
}

}  // namespace weft::info
