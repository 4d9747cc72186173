// SPDX-License-Identifier: Apache-2.0
#include "stage/ways.hpp"

#include <fmt/format.h>

#include <utility>

namespace weft::bench {

void compare(pair_member& member, const ways_request& wanted, const std::string& title,
             std::vector<column> columns, const ways& all) {
  report out(std::move(columns), wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(
        fmt::format("{}; {} rounds in turns; ratios: medians of the pairs", title, wanted.rounds));
  for (const std::size_t size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    medians_of_rounds of(all.count);
    in_turns(wanted.rounds, all.count, [&](std::size_t way) {
      member.barrier();
      auto samples = all.measure(way, size);
      if (tells) of[way].push_back(median(std::move(samples)));
    });
    for (std::size_t way = 0; tells && way != all.count; ++way) out.add(all.line(way, size, of));
  }
  if (tells) out.finish();
  member.barrier();
}

void add_ways_options(CLI::App& sub, ways_request& into, choices open) {
  sub.add_option("--rounds", into.rounds, "Turns of all ways")->check(CLI::PositiveNumber);
  add_job_options(sub, into.what);
  add_settings(sub, into.chosen, open);
  add_side_options(sub, into.chosen);
}

}  // namespace weft::bench
