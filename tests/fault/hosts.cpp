// SPDX-License-Identifier: Apache-2.0
#include "hosts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <functional>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "world.hpp"

namespace fault {

namespace {

constexpr const char* cable = "cable";  // the name of both ends
const std::string addresses[] = {"10.79.0.1", "10.79.0.2"};

int second = -1;

/// Runs `f` on its own thread: the network namespace that it enters is the thread's, and programs
/// that it starts inherit the namespace.
void on_second_host(const std::function<void()>& f) {
  std::thread([&] {
    if (::setns(second, CLONE_NEWNET) == 0) f();
  }).join();
}

/// \return the complaint of `ip`
std::string ip(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/usr/bin/env", "ip"});
  const outcome o = run(std::move(arguments));
  return o.status == 0 ? "" : "ip: " + o.output;
}

std::string plug_in(const std::string& address) {
  std::string wrong = ip({"address", "add", address + "/24", "dev", cable});
  if (wrong.empty()) wrong = ip({"link", "set", cable, "up"});
  if (wrong.empty()) wrong = ip({"link", "set", "lo", "up"});
  return wrong;
}

std::string make() {
  if (const std::string& missing = enter_private_world(); !missing.empty()) return missing;
  std::thread([] {
    if (::unshare(CLONE_NEWNET) == 0) second = ::open("/proc/thread-self/ns/net", O_RDONLY);
  }).join();
  if (second < 0) return "no second network namespace";
  look_for_leftovers_in(second);
  const std::string there = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(second);
  std::string wrong =
      ip({"link", "add", cable, "type", "veth", "peer", "name", cable, "netns", there});
  if (wrong.empty()) wrong = plug_in(addresses[0]);
  if (wrong.empty()) on_second_host([&] { wrong = plug_in(addresses[1]); });
  return wrong;
}

/// \param wrong each host takes the other's address for that of a machine that does not exist; else
/// it asks again
void set_neighbours(bool wrong) {
  const auto set = [&](const std::string& other) {
    const std::string failed = wrong ? ip({"neighbour", "replace", other, "lladdr",
                                           "02:00:00:00:00:99", "dev", cable, "nud", "permanent"})
                                     : ip({"neighbour", "delete", other, "dev", cable});
    if (!failed.empty()) std::cerr << failed;
  };
  set(addresses[1]);
  on_second_host([&] { set(addresses[0]); });
}

}  // namespace

const std::string& make_second_host() {
  static const std::string missing = make();
  return missing;
}

int second_host() { return second; }

void lose_frames() { set_neighbours(true); }
void carry_frames() { set_neighbours(false); }

const std::vector<setting>& settings() {
  static const std::vector<setting> all = [] {
    std::vector<setting> found;
    for (const std::string& alone : transports()) found.push_back({alone});
    if (on_a_device()) return found;
    if (make_second_host().empty())
      found.push_back({"self,shm,tcp", 2});
    else
      std::cout << "not on two hosts: " << make_second_host() << '\n';
    return found;
  }();
  return all;
}

}  // namespace fault
