// SPDX-License-Identifier: Apache-2.0
#include "output/json_lines.hpp"

#include <fmt/format.h>

namespace weft::bench {

json make_line(const line_head& head, std::string_view metric, const std::vector<double>& samples) {
  const summary s = summarise(samples);
  json line = {{"bench", head.bench},
               {"transport", head.transport},
               {"progress", head.progress},
               {"size", head.size}};
  line[std::string(metric)] = s.p50;
  line["samples"] = s.count;
  line["p10"] = s.p10;
  line["p50"] = s.p50;
  line["p90"] = s.p90;
  line["p99"] = s.p99;
  line["mean"] = s.mean;
  return line;
}

void print_line(const json& line, std::FILE* out) {
  fmt::print(out, "{}\n", line.dump());
  std::fflush(out);
}

std::vector<json> parse_lines(std::string_view text) {
  std::vector<json> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto one = text.substr(0, end);
    if (one.starts_with('{')) {
      auto parsed = json::parse(one, nullptr, false);
      if (parsed.is_object()) lines.push_back(std::move(parsed));
    }
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

}  // namespace weft::bench
