// SPDX-License-Identifier: Apache-2.0
#include "output/overlap_line.hpp"

namespace weft::bench {
namespace {

/// The figure of every line: the messages of the pattern without computation.
double rate_of(std::size_t size, double us) {
  return us > 0 ? static_cast<double>(size) / us : 0.0;
}

}  // namespace

json overlap_line(const line_head& head, const std::string& pattern, double compute_us,
                  const overlap_samples& samples) {
  if (samples.wait_us.empty() || samples.transfer_us.empty()) return json::object();
  json line = make_line(head, "wait_us", samples.wait_us);
  const double transfer = median(samples.transfer_us);
  line["pattern"] = pattern;
  line["compute_us"] = compute_us;
  line["transfer_us"] = transfer;
  line["excess_us"] = line["wait_us"].get<double>() - transfer;
  line[std::string(mb_s)] = rate_of(head.size, transfer);
  return line;
}

json slow_down_line(const line_head& head, const slow_down_samples& samples) {
  if (samples.alone_us.empty()) return json::object();
  std::vector<double> slow_down;
  std::vector<double> beyond;
  for (std::size_t i = 0; i < samples.alone_us.size(); ++i) {
    const double more = samples.with_messages_us[i] - samples.alone_us[i];
    slow_down.push_back(more / samples.alone_us[i]);
    beyond.push_back((more - samples.only_messages_us[i]) / samples.alone_us[i]);
  }
  json line = make_line(head, "with_messages_us", samples.with_messages_us);
  const double only = median(samples.only_messages_us);
  line["pattern"] = "slow_down";
  line["compute_us"] = median(samples.alone_us);
  line["only_messages_us"] = only;
  line["slow_down"] = median(slow_down);
  line["beyond_copy"] = median(beyond);
  line[std::string(mb_s)] = rate_of(head.size, only);
  return line;
}

}  // namespace weft::bench
