// SPDX-License-Identifier: Apache-2.0
// Attacks of another user of this host: programs/outsider.cpp.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "bad_clients.hpp"
#include "world.hpp"

namespace fault {

/// Why there can be none; empty: there can.
inline std::string why_no_outsider() {
  return ::geteuid() == 0 ? "" : "only root can start a program of another user";
}

/// Lives until it is destroyed.
class outsider {
 public:
  /// \param how "attack" or "squat"
  outsider(const std::string& how, std::vector<std::string> names)
      : program_(command(how, std::move(names))) {}

  /// Waits until it has attacked all sockets so many times more. \return false: it has ended
  bool attacks(std::size_t rounds) {
    const std::size_t until = this->rounds() + rounds;
    return eventually([&] { return this->rounds() >= until || program_.has_ended(); }) &&
           !program_.has_ended();
  }
  std::size_t rounds() const { return count(program_.output(), "round\n"); }
  std::string output() const { return program_.output(); }
  /// It holds what it has, and sends no more.
  void pause() { ::kill(-program_.pid(), SIGSTOP); }

 private:
  static std::vector<std::string> command(const std::string& how, std::vector<std::string> names) {
    names.insert(names.begin(), {bin + "/tests/outsider", how});
    return names;
  }
  program program_;
};

}  // namespace fault
