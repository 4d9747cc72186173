// SPDX-License-Identifier: Apache-2.0
// One rank: its start, and its parameters.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "runtime/descriptors/inherited_state.hpp"

namespace weft::run {

/// The parameters of a rank's start.
struct launch {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< "NAME=value", on top of this process's own
  int input = -1;                        ///< descriptors for 0, 1 and 2; -1: inherited
  int output = -1;
  int errors = -1;
  bool own_group = false;  ///< a process group of its own, so that its children get signals too
  int core = -1;           ///< the core to pin it to; -1: none
};

/// Starts a program; it is killed when this thread ends. Waits until it runs or the start has
/// failed.
/// \param before what the program is given back
/// \param failure errno, when the result is -1
pid_t start(const launch& what, const runtime::inherited_state& before, int& failure);

/// The cores that this process may use, in order.
std::vector<int> usable_cores();

}  // namespace weft::run
