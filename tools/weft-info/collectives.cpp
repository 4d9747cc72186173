// SPDX-License-Identifier: Apache-2.0
#include "collectives.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <utility>
#include <weft/explain.hpp>

#include "sizes.hpp"

namespace weft::info {

namespace {

using nlohmann::ordered_json;

/// One text, cut into its parts.
struct question {
  std::string collective;
  std::size_t bytes;
  peer_id ranks;
};

question read(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first == std::string::npos ? first : first + 1);
  const std::string number = second == std::string::npos ? "" : text.substr(second + 1);
  peer_id ranks = 0;
  const auto [rest, failure] = std::from_chars(number.data(), number.data() + number.size(), ranks);
  if (failure != std::errc{} || rest != number.data() + number.size() || ranks == 0)
    throw std::invalid_argument(fmt::format(
        "--why {}: write COLLECTIVE:SIZE:RANKS, such as all_reduce:1m:8 or barrier:0:8", text));
  return {text.substr(0, first), bytes_of(text.substr(first + 1, second - first - 1), "--why"),
          ranks};
}

/// Why it is used, or is not.
std::string reason(const algorithm_cost& one, bool chosen) {
  if (!one.unfit.empty())
    return one.forced ? "WEFT_COLLECTIVES asks for it, but: " + one.unfit : one.unfit;
  if (chosen) return one.forced ? "WEFT_COLLECTIVES" : "cheapest";
  return {};
}

ordered_json candidates_of(const question& q, bool one_host) {
  ordered_json all = ordered_json::array();
  const std::string forced = options::from_environment().experimental.collectives;
  for (const algorithm_cost& one :
       explain_collective(q.collective, q.bytes, q.ranks, one_host, forced)) {
    const bool chosen = all.empty();
    all.push_back({{"algorithm", one.algorithm},
                   {"cost_us", one.microseconds},
                   {"chosen", chosen},
                   {"why", reason(one, chosen)}});
  }
  return all;
}

}  // namespace

bool is_collective(const std::string& text) { return text.find(':') != std::string::npos; }

ordered_json algorithms(const std::vector<std::string>& about) {
  ordered_json all = ordered_json::array();
  for (const std::string& text : about) {
    const question q = read(text);
    all.push_back({{"collective", q.collective},
                   {"bytes", q.bytes},
                   {"ranks", q.ranks},
                   {"on_one_host", candidates_of(q, true)},
                   {"on_several_hosts", candidates_of(q, false)}});
  }
  return all;
}

void show_algorithms(const ordered_json& all) {
  for (const auto& one : all) {
    fmt::print("{} of {} bytes by {} ranks\n", one["collective"].get<std::string>(),
               one["bytes"].get<std::size_t>(), one["ranks"].get<peer_id>());
    for (const auto& [key, where] :
         {std::pair("on_one_host", "on one host"), std::pair("on_several_hosts", "on several")}) {
      fmt::print("  {}, in µs by the model:\n", where);
      for (const auto& c : one[key]) {
        const auto why = c["why"].get<std::string>();
        fmt::print("    {:<22} {:>10}{}{}\n", c["algorithm"].get<std::string>(),
                   without_exponent(c["cost_us"].get<double>()),
                   c["chosen"].get<bool>() ? "  chosen: "
                   : why.empty()           ? ""
                                           : "  not used: ",
                   why);
      }
    }
  }
}

}  // namespace weft::info
