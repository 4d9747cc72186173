// SPDX-License-Identifier: Apache-2.0
#include "runtime/cores/progress_cpus.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::runtime {

namespace {

/// How many of them are bound to cores of this set.
std::size_t count_in(const cpu_set& cpus, const std::vector<cpu_set>& bound) noexcept {
  return static_cast<std::size_t>(std::count_if(
      bound.begin(), bound.end(), [&](const cpu_set& one) { return (one & cpus).any(); }));
}

progress_cpus inherit(std::string reason, bool settled) { return {{}, std::move(reason), settled}; }

}  // namespace

progress_cpus choose_progress_cpus(const core_use& now) {
  if (now.allowed.none() || now.own.none()) return inherit("its cores cannot be read", true);
  if ((now.allowed & ~now.own).none()) return inherit("it may run on every core of its job", true);
  if (!now.launched) return inherit("no launcher bound the process", true);
  if (now.found < now.ranks)
    return inherit(fmt::format("{} of {} ranks of this host are seen", now.found, now.ranks),
                   false);
  cpu_set free = now.allowed;
  bool settled = true;
  for (const cpu_set& one : now.bound) {
    if (one.none()) return inherit("a peer on this host does not show where it is bound", false);
    free &= ~one;
    settled = settled && one != now.allowed;
  }
  if (free.none()) return inherit("no core is free", settled);
  for (const cpu_set& near : now.near) {
    const cpu_set here = free & near;
    if (here.any() && here.count() >= count_in(near | now.own, now.bound))
      return {here, "free cores, the nearest ones", true};
  }
  if (free.count() >= count_in(now.allowed, now.bound)) return {free, "free cores", true};
  return inherit("fewer free cores than ranks", settled);
}

}  // namespace weft::runtime
