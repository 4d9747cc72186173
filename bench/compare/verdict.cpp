// SPDX-License-Identifier: Apache-2.0
#include "compare/verdict.hpp"

namespace weft::bench {
namespace {

verdict judge_one(const target& promise, const cell& where, const results& measured,
                  const std::string& own, const std::vector<std::string>& peers) {
  verdict result{.promise = promise,
                 .where = where,
                 .who = own,
                 .own = {},
                 .reference = {},
                 .other = {},
                 .to_other = {}};
  result.own = measured.median_of(where, own, promise.metric);

  std::optional<double> judged = result.own;
  if (promise.to != target::reference::absolute) {
    result.reference = promise.to == target::reference::named
                           ? promise.against
                           : best_peer(measured, where, promise.metric, peers).value_or("");
    result.other = measured.median_of(where, result.reference, promise.metric);
    result.to_other = paired_ratio(measured.rounds_of(where, own, promise.metric),
                                   measured.rounds_of(where, result.reference, promise.metric));
    judged.reset();
    if (result.to_other) judged = result.to_other->median;
  }
  if (judged) {
    const bool met = promise.direction == target::sense::at_most ? *judged <= promise.bound
                                                                 : *judged >= promise.bound;
    result.result = met ? verdict::outcome::met : verdict::outcome::falls_short;
  }
  return result;
}

}  // namespace

std::optional<std::string> best_peer(const results& measured, const cell& where,
                                     const std::string& metric,
                                     const std::vector<std::string>& peers) {
  const bool more = more_is_better(
      metric == mean_metric ? metric_of(bench_of(where.series), where.pattern) : metric);
  std::optional<std::string> best;
  double best_value = 0;
  for (const auto& peer : peers) {
    const auto value = measured.median_of(where, peer, metric);
    if (!value) continue;
    if (best && (more ? *value <= best_value : *value >= best_value)) continue;
    best = peer;
    best_value = *value;
  }
  return best;
}

std::vector<verdict> judge(const std::vector<target>& targets, const results& measured,
                           const std::vector<std::string>& own,
                           const std::vector<std::string>& peers) {
  std::vector<verdict> verdicts;
  for (const auto& promise : targets)
    for (const auto size : promise.sizes)
      for (const auto& who : own)
        verdicts.push_back(
            judge_one(promise, {promise.series, promise.pattern, size}, measured, who, peers));
  return verdicts;
}

}  // namespace weft::bench
