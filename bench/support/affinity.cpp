// SPDX-License-Identifier: Apache-2.0
#include "support/affinity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <cerrno>
#include <span>
#include <stdexcept>
#include <system_error>

namespace weft::bench {
namespace {

void bind_here(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::system_category(),
                            fmt::format("cannot pin to {}", fmt::join(cores, ", ")));
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::system_category(), "sched_getaffinity");
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::array<int, 2> pair_cores() {
  const auto cores = allowed_cores();
  if (cores.size() < 2)
    throw std::runtime_error(
        fmt::format("a pair needs two cores, but this process may use only core {}; give it more "
                    "(taskset, docker --cpuset-cores, a larger machine)",
                    cores.empty() ? -1 : cores.front()));
  return {cores[0], cores[1]};
}

void pin_to(int core) {
  const std::array one{core};
  bind_here(one);
}

void stay_on_first(std::size_t count) {
  auto cores = allowed_cores();
  if (cores.size() > count) cores.resize(count);
  bind_here(cores);
}

void pin_rank(int rank) {
  const auto cores = allowed_cores();
  pin_to(cores[static_cast<std::size_t>(rank) % cores.size()]);
}

}  // namespace weft::bench
