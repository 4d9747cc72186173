// SPDX-License-Identifier: Apache-2.0
#include "part.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace weft::traces {

using nlohmann::json;

/// Each event is in a line of its own, as weft writes them.
std::optional<part> read_part(const std::filesystem::path& file, std::uint32_t rank) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const json head = json::parse(line + "]}", nullptr, false);
  if (head.is_discarded() || !head.contains("traceEvents") || !head.contains("otherData"))
    return std::nullopt;
  part all;
  try {
    const json& about = head["otherData"];
    all.rank = about.value("rank", rank);
    all.overwritten = about.value("overwritten_events", std::uint64_t{0});
    all.clock = about.value("clock", std::string());
    all.time_of_day = about.value("time_of_day_us", 0.0);
  } catch (const json::exception&) {
    return std::nullopt;  // a file of another program
  }
  bool whole = false;
  while (std::getline(in, line)) {
    if ((whole = line == "]}")) break;
    if (line.ends_with(',')) line.pop_back();
    all.events.push_back(line);
  }
  if (!whole) return std::nullopt;
  return all;
}

}  // namespace weft::traces
