// SPDX-License-Identifier: Apache-2.0
#include "merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "traces/merged.hpp"
#include "traces/part.hpp"

namespace weft::info {

std::string merge_traces(const std::vector<std::string>& files) {
  std::string said;
  std::vector<traces::part> all;
  for (const std::string& file : files) {
    if (&file == &files.front()) continue;
    if (auto one = traces::read_part(file, 0))
      all.push_back(*std::move(one));
    else
      said += fmt::format("{} is no trace of a rank, or not all of one: left out\n", file);
  }
  if (all.empty())
    throw std::runtime_error(
        "none of these files is the trace of a rank: WEFT_TRACE=trace.json makes one of each "
        "(trace.0.json, ...), at the end of its context");
  std::ranges::stable_sort(all, {}, &traces::part::rank);
  said += traces::write_merged(files.front(), all);
  std::size_t ranks = 1;
  for (std::size_t i = 1; i != all.size(); ++i) ranks += all[i].rank != all[i - 1].rank ? 1 : 0;
  return said + fmt::format("{}: {} rank{}\n", files.front(), ranks, ranks == 1 ? "" : "s");
}

}  // namespace weft::info
