// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/parts.hpp"

namespace weft::collectives {

const algorithm& choose_part(const collective_size& c, const group_shape& g) noexcept {
  const auto all = table_of(c.what).algorithms;
  const std::uint8_t asked = g.forced[static_cast<std::size_t>(c.what)];
  const auto serves = [&](const algorithm& one) {
    return (one.steps || one.flags) && !one.unfit(c, g);
  };
  if (asked != 0 && serves(all[asked - 1u])) return all[asked - 1u];
  const terms t(c, g);
  const algorithm* best = nullptr;
  double least = 0;
  for (const algorithm& one : all) {
    if (!serves(one)) continue;
    const double cost = one.cost(t);
    if (!best || cost < least) least = cost, best = &one;
  }
  return *best;
}

double cost_of_part(const collective_size& c, const group_shape& g) noexcept {
  return choose_part(c, g).cost(terms(c, g));
}

const char* unfit_for_levels(const collective_size& c, const group_shape& g) {
  if (g.one_host) return "all ranks are on one host";
  if (g.per_host == 0) return "hosts have different numbers of ranks, or it is not known";
  if (!g.has_levels()) return "each host has one rank";
  return unfit_for_parts(c, g);
}

const char* unfit_for_shares(const collective_size& c, const group_shape& g) {
  if (const char* const why = unfit_for_levels(c, g)) return why;
  return c.bytes < 8 * std::uint64_t{g.per_host} ? "fewer than 8 bytes for each rank of a host"
                                                 : nullptr;
}

const char* unfit_for_reduced_shares(const collective_size& c, const group_shape& g) {
  return c.commutative ? unfit_for_shares(c, g) : "the operation does not commute";
}

part_of_collective::part_of_collective(const collective& among, kind what, std::uint64_t bytes,
                                       const arguments& with)
    : c_(among),
      size_{what, bytes, with.how.commutative, with.how.element},
      with_(with),
      how_(&choose_part(size_, c_.shape())) {
  if (how_->flags)
    by_flags_.emplace(c_.of().flags()->rounds(), words_of({0, c_.number(), c_.made()}), bytes, with,
                      *how_->flags);
}

task<void> part_of_collective::perform() {
  if (by_flags_) {
    if (co_await go_by_flags(c_, *by_flags_)) co_return;
    group_shape without = c_.shape();
    without.flags = false;
    how_ = &choose_part(size_, without);
  }
  co_await how_->steps(c_, with_);
}

}  // namespace weft::collectives
