// SPDX-License-Identifier: Apache-2.0
#include "context_sockets.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "runtime/os/errno_hint.hpp"
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

/// By the numbers of their files: the names of the Unix sockets that listen there.
std::map<std::string, std::string> listening_names(pid_t pid) {
  std::map<std::string, std::string> names;
  std::ifstream table(proc(pid, "net/unix"));
  std::string line;
  std::getline(table, line);  // what the columns are
  while (std::getline(table, line)) {
    std::istringstream columns(line);
    std::string at, users, protocol, flags, type, state, inode, name;
    columns >> at >> users >> protocol >> flags >> type >> state >> inode >> name;
    if (flags == "00010000" && name.starts_with('@')) names[inode] = name.substr(1);
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

std::vector<std::string> context_sockets_of(pid_t pid) {
  check_user(pid);
  check_namespace(pid);
  if (name_of_process(pid).ends_with("(weft-run)"))  // its socket is for its ranks
    refuse(fmt::format("{} is a launcher, and has no context{}", name_of_process(pid),
                       children_with_contexts(pid)));
  const std::map<std::string, std::string> names = listening_names(pid);
  std::set<std::string> found;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator at(proc(pid, "fd"), unreadable), end;
       !unreadable && at != end; at.increment(unreadable)) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(at->path(), gone).string();
    if (gone || !what.starts_with("socket:[")) continue;
    const auto named = names.find(what.substr(8, what.size() - 9));
    if (named != names.end() && wireup::is_socket_name(named->second)) found.insert(named->second);
  }
  if (unreadable)
    refuse(fmt::format("the descriptors of {} cannot be read: {}; is its program set-uid?",
                       name_of_process(pid), unreadable.message()));
  if (found.empty())
    refuse(
        fmt::format("{} has no weft context{}", name_of_process(pid), children_with_contexts(pid)));
  return {found.begin(), found.end()};
}

}  // namespace weft::info
