// SPDX-License-Identifier: Apache-2.0
#include "merged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "clocks.hpp"

namespace weft::traces {

namespace {

using nlohmann::json;

/// Replaces the number behind `key`, where there is one.
template <class Change>
void change_number(std::string& event, std::string_view key, Change change) {
  const std::size_t at = event.find(key);
  if (at == event.npos) return;
  const std::size_t from = at + key.size();
  const std::size_t end = event.find_first_of(",}", from);
  double value = 0;
  const char* const last = event.data() + std::min(end, event.size());
  if (std::from_chars(event.data() + from, last, value).ec != std::errc{}) return;
  event.replace(from, static_cast<std::size_t>(last - event.data()) - from, change(value));
}

/// Processes of several hosts may have the same number, so theirs follows from their rank. Perfetto
/// takes 0 for the idle process.
std::uint32_t process_of(std::uint32_t rank) { return rank + 1; }

class writer {
 public:
  explicit writer(const std::string& file) : name_(file), out_(file) {
    out_ << "{\"traceEvents\":[";
  }

  void add(const part& p, double shift) {
    for (std::string event : p.events) {
      if (event.find("\"process_name\"") != event.npos) continue;
      change_number(event, "\"pid\":", [&](double) { return std::to_string(process_of(p.rank)); });
      if (shift != 0)
        change_number(event,
                      "\"ts\":", [&](double ts) { return fmt::format("{:.3f}", ts + shift); });
      put(event);
    }
  }
  void name(std::uint32_t rank) {
    for (const auto& [what, args] :
         {std::pair<const char*, json>{"process_name", {{"name", fmt::format("rank {}", rank)}}},
          std::pair<const char*, json>{"process_sort_index", {{"sort_index", rank}}}})
      put(json{{"name", what}, {"ph", "M"}, {"pid", process_of(rank)}, {"args", args}}.dump());
  }
  void end(const json& about) {
    out_ << "\n],\"otherData\":" << about.dump() << "}\n";
    out_.close();
    if (!out_) throw std::system_error(errno, std::system_category(), "the trace " + name_);
  }

 private:
  void put(const std::string& event) {
    out_ << (first_ ? "\n" : ",\n") << event;
    first_ = false;
  }

  const std::string name_;
  std::ofstream out_;
  bool first_ = true;
};

}  // namespace

std::string write_merged(const std::string& file, const std::vector<part>& parts) {
  const std::map<std::string, shift> clocks = clocks_of(parts);
  writer out(file);
  json overwritten = json::object(), shifts = json::object();
  std::vector<std::pair<std::string, std::string>> hosts;  // their clocks, and their ranks
  for (const part& p : parts) {
    const shift& s = clocks.at(p.clock);
    out.add(p, s.add);
    const std::string name = fmt::format("rank {}", p.rank);
    if (overwritten.contains(name)) {  // another lane
      overwritten[name] = overwritten[name].get<std::uint64_t>() + p.overwritten;
      continue;
    }
    out.name(p.rank);
    overwritten[name] = p.overwritten;
    shifts[name] = {{"added_us", s.add}, {"error_us", s.error < 0 ? json() : json(s.error)}};
    const auto at = std::ranges::find(hosts, p.clock, &std::pair<std::string, std::string>::first);
    if (at == hosts.end())
      hosts.emplace_back(p.clock, std::to_string(p.rank));
    else
      at->second += fmt::format(", {}", p.rank);
  }
  json about{{"overwritten_events", overwritten}};
  std::string said;
  if (clocks.size() > 1) {
    about["clocks"] = shifts;
    for (const auto& [clock, list] : hosts) {
      const shift& s = clocks.at(clock);
      said += fmt::format("the host of rank {}: {:+.0f} µs, {}\n", list, s.add, s.how);
    }
  }
  out.end(about);
  return said;
}

}  // namespace weft::traces
