// SPDX-License-Identifier: Apache-2.0
// The WEFT_* variables of both tables, and the check of options that a program makes by itself.
#include "api/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <weft/environment.hpp>

#include "api/options/option_text.hpp"

namespace weft {

const std::vector<environment_variable>& environment_variables() {
  static const std::vector<environment_variable> all = [] {
    std::vector<environment_variable> both = setting_variables();
    both.insert(both.end(), experiment_variables().begin(), experiment_variables().end());
    return both;
  }();
  return all;
}

options detail::checked(options chosen) {
  const auto limit = [](std::size_t& n) { n = std::min(n, most_bytes); };  // SIZE_MAX: no limit
  if (chosen.eager_limit) limit(*chosen.eager_limit);
  for (auto& [over, most] : chosen.eager_limits) limit(most);
  if (chosen.shm_limit) limit(*chosen.shm_limit);
  limit(chosen.unexpected_budget);
  limit(chosen.loan_budget);
  if (chosen.experimental.fixed_credit) limit(*chosen.experimental.fixed_credit);
  limit(chosen.regions.most_bytes);
  options again;
  again.transport_factories = chosen.transport_factories;
  for (const environment_variable& v : environment_variables())
    v.set(again, fmt::format("options::{} ({})", v.option, v.name).c_str(), v.get(chosen));
  return chosen;
}

}  // namespace weft
