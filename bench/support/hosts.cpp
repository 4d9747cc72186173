// SPDX-License-Identifier: Apache-2.0
#include "support/hosts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

/// The variable for started programs: the paths of the two namespaces, with a comma.
constexpr const char* variable = "WEFT_BENCH_HOSTS";

constexpr std::chrono::seconds timeout{10};

[[noreturn]] void cannot(const char* what, const std::string& why) {
  throw std::runtime_error(
      fmt::format("--hosts: {}: {}. Network namespaces need the capabilities SYS_ADMIN and "
                  "NET_ADMIN: run it as root, or as `unshare --map-root-user --net weft-bench ...` "
                  "where user namespaces are allowed; a container needs --cap-add for both",
                  what, why));
}

/// A new namespace, with the calling thread in it.
int new_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) cannot("cannot make a network namespace", std::strerror(errno));
  const int fd = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (fd < 0) cannot("cannot open a network namespace", std::strerror(errno));
  return fd;
}

void call(const char* program, std::vector<std::string> words) {
  if (!find_program(program))
    throw std::runtime_error(
        fmt::format("--hosts: the program {} was not found; apt-get install iproute2", program));
  words.insert(words.begin(), program);
  const auto result = run_command({words, {}}, timeout);
  if (!result.ok())
    cannot("cannot join network namespaces",
           fmt::format("{}: {}", command{words, {}}.text(), result.reason()));
}

void ip(std::vector<std::string> words) { call("ip", std::move(words)); }

/// The kernel takes up to a second to report a new cable as usable; some libraries check that.
void wait_for_interface() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::system_error(errno, std::system_category(), "socket");
  ifreq asked{};
  std::strncpy(asked.ifr_name, hosts::interface, sizeof asked.ifr_name - 1);
  const auto end = std::chrono::steady_clock::now() + timeout;
  bool running = false;
  while (!running && std::chrono::steady_clock::now() < end) {
    running = ::ioctl(fd, SIOCGIFFLAGS, &asked) == 0 && (asked.ifr_flags & IFF_RUNNING) != 0;
    if (!running) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::close(fd);
  if (!running)
    throw std::runtime_error(
        fmt::format("--hosts: the interface {} does not come up; `ip link` "
                    "inside shows its state",
                    hosts::interface));
}

}  // namespace

hosts::hosts() {
  try {
    if (are_given())
      find(std::getenv(variable));
    else
      make();
  } catch (...) {
    close();
    throw;
  }
}

hosts::~hosts() { close(); }

void hosts::close() noexcept {
  for (const int fd : namespaces_)
    if (fd >= 0) ::close(fd);
}

bool hosts::are_given() noexcept { return std::getenv(variable) != nullptr; }

void hosts::check(const std::string& transport) {
  if (transport == "shm")
    throw std::invalid_argument("--hosts: hosts share no memory; add --transport tcp");
}

void hosts::find(const std::string& where) {
  const auto comma = where.find(',');
  if (comma == std::string::npos)
    throw std::runtime_error(
        fmt::format("{}=\"{}\" makes no sense; weft-bench sets it for programs "
                    "that it starts: unset it",
                    variable, where));
  const std::string paths[2] = {where.substr(0, comma), where.substr(comma + 1)};
  for (std::size_t i = 0; i < 2; ++i) {
    namespaces_[i] = ::open(paths[i].c_str(), O_RDONLY | O_CLOEXEC);
    if (namespaces_[i] < 0)
      throw std::system_error(
          errno, std::system_category(),
          fmt::format("--hosts: the weft-bench that made the hosts is gone ({})", paths[i]));
  }
  enter(0);
}

void hosts::make() {
  namespaces_[1] = new_namespace();
  namespaces_[0] = new_namespace();
  const auto path = [&](std::size_t which) {
    return fmt::format("/proc/{}/fd/{}", ::getpid(), namespaces_[which]);
  };
  ip({"link", "add", interface, "type", "veth", "peer", "name", interface, "netns", path(1)});
  for (const int which : {1, 0}) {
    enter(which);
    plug_in(which);
  }
  for (const int which : {1, 0}) {
    enter(which);
    wait_for_interface();
  }
  ::setenv(variable, fmt::format("{},{}", path(0), path(1)).c_str(), 1);
}

/// Runs on that host.
void hosts::plug_in(int which) const {
  ip({"link", "set", "lo", "up"});
  ip({"address", "add", fmt::format("{}/24", addresses[which]), "dev", interface});
  ip({"link", "set", interface, "up"});
}

void hosts::add_cable() const {
  enter(0);
  ip({"link", "add", second_interface, "type", "veth", "peer", "name", second_interface, "netns",
      fmt::format("/proc/{}/fd/{}", ::getpid(), namespaces_[1])});
  for (const int which : {1, 0}) {
    enter(which);
    ip({"address", "add", fmt::format("10.78.0.{}/24", which + 1), "dev", second_interface});
    ip({"link", "set", second_interface, "up"});
  }
}

void hosts::limit(unsigned megabits) const {
  for (const int which : {1, 0}) {
    enter(which);
    for (const char* end : {interface, second_interface})
      call("tc", {"qdisc", "replace", "dev", end, "root", "tbf", "rate",
                  fmt::format("{}mbit", megabits), "burst", "128kb", "latency", "20ms"});
  }
}

void hosts::enter(int which) const {
  if (::setns(namespaces_[static_cast<std::size_t>(which)], CLONE_NEWNET) != 0)
    throw std::system_error(errno, std::system_category(),
                            fmt::format("cannot enter the network namespace of host {}", which));
}

void hosts::show_in_sys() noexcept {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", "none", MS_REC | MS_PRIVATE, nullptr) != 0)
    return;
  ::mount("weft-bench", "/sys", "sysfs", 0, nullptr);
}

}  // namespace weft::bench
