// SPDX-License-Identifier: Apache-2.0
#include "trace_merge.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

namespace weft::run {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The parts of a rank: of its context, and of further lanes.
std::vector<fs::path> parts_of(const fs::path& file, std::uint32_t rank) {
  const std::string extension = file.extension().string();
  const auto with = [&](const std::string& between) {
    return fs::path(file).replace_extension(fmt::format(".{}{}{}", rank, between, extension));
  };
  std::vector<fs::path> all{with("")};
  for (unsigned lane = 1; fs::exists(with(fmt::format(".lane{}", lane))); ++lane)
    all.push_back(with(fmt::format(".lane{}", lane)));
  return all;
}

void discard(const fs::path& file) {
  std::error_code missing;
  fs::remove(file, missing);
}

/// The events of a part, each in a line of its own, as weft writes them.
/// \return empty: it is no whole trace
std::vector<std::string> events_of(const fs::path& part, std::uint64_t& overwritten) {
  std::ifstream in(part);
  std::string line;
  std::vector<std::string> events;
  if (!std::getline(in, line)) return {};
  const json head = json::parse(line + "]}", nullptr, false);
  if (head.is_discarded() || !head.contains("traceEvents")) return {};
  overwritten += head.value("/otherData/overwritten_events"_json_pointer, std::uint64_t{0});
  bool whole = false;
  while (std::getline(in, line)) {
    if ((whole = line == "]}")) break;
    if (line.ends_with(',')) line.pop_back();
    events.push_back(line);
  }
  return whole ? events : std::vector<std::string>();
}

/// For the name of a process its rank; others stay as they are.
void add(std::ofstream& out, bool& first, const std::string& event, std::uint32_t rank) {
  const auto put = [&](const std::string& text) {
    out << (first ? "\n" : ",\n") << text;
    first = false;
  };
  if (event.find("\"process_name\"") == event.npos) return put(event);
  const json named = json::parse(event, nullptr, false);
  if (named.is_discarded()) return;
  for (const auto& [what, args] :
       {std::pair<const char*, json>{"process_name", {{"name", fmt::format("rank {}", rank)}}},
        std::pair<const char*, json>{"process_sort_index", {{"sort_index", rank}}}})
    put(json{{"name", what}, {"ph", "M"}, {"pid", named.value("pid", 0)}, {"args", args}}.dump());
}

}  // namespace

trace_merge::trace_merge(const std::string& file, std::uint32_t ranks) : ranks_(ranks) {
  if (file.empty()) return;
  file_ = fs::absolute(file).string();
  if (!std::ofstream(file_))
    throw std::system_error(errno, std::system_category(), "the trace " + file_);
  for (std::uint32_t rank = 0; rank != ranks_; ++rank)
    for (const fs::path& part : parts_of(file_, rank)) discard(part);
}

std::string trace_merge::merge() {
  if (file_.empty()) return {};
  std::string said;
  std::string overwritten;
  std::ofstream out(file_);
  out << "{\"traceEvents\":[";
  bool first = true;
  for (std::uint32_t rank = 0; rank != ranks_; ++rank) {
    std::uint64_t lost = 0;
    bool any = false;
    for (const fs::path& part : parts_of(file_, rank)) {
      const std::vector<std::string> events = events_of(part, lost);
      any = any || !events.empty();
      for (const std::string& event : events) add(out, first, event, rank);
      discard(part);
    }
    if (!any)
      said += fmt::format(
          "weft-run: rank {} left no trace: it has made no weft context, or did not come to its "
          "end\n",
          rank);
    overwritten += fmt::format("{}\"rank {}\":{}", rank == 0 ? "" : ",", rank, lost);
  }
  out << "\n],\"otherData\":{\"overwritten_events\":{" << overwritten << "}}}\n";
  out.close();
  if (!out)
    said += fmt::format("weft-run: the trace {} could not be written: {}\n", file_,
                        std::strerror(errno));
  return said;
}

}  // namespace weft::run
