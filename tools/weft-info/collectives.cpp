// SPDX-License-Identifier: Apache-2.0
#include "collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>
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
  peer_id hosts;  ///< with as many ranks each; 0: the question does not say
};

/// "8", or "4x2": hosts and the ranks of each. \return whether the text is one of these
bool read_shape(std::string_view text, question& q) {
  const char* const end = text.data() + text.size();
  peer_id of_each = 1;
  auto [rest, failure] = std::from_chars(text.data(), end, q.ranks);
  if (failure == std::errc{} && rest != end && *rest == 'x') {
    q.hosts = q.ranks;
    const auto second = std::from_chars(rest + 1, end, of_each);
    rest = second.ptr;
    failure = second.ec;
    if (of_each > std::numeric_limits<peer_id>::max() / std::max<peer_id>(1, q.hosts)) return false;
    q.ranks *= of_each;
  }
  return failure == std::errc{} && rest == end && q.ranks != 0;
}

question read(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first == std::string::npos ? first : first + 1);
  question q{text.substr(0, first), 0, 0, 0};
  if (second == std::string::npos || !read_shape(std::string_view(text).substr(second + 1), q))
    throw std::invalid_argument(
        fmt::format("--why {}: write COLLECTIVE:SIZE:RANKS, such as all_reduce:1m:8 or "
                    "barrier:0:8, or hosts and the ranks of each, such as all_reduce:1m:2x4",
                    text));
  q.bytes = bytes_of(text.substr(first + 1, second - first - 1), "--why");
  return q;
}

/// Why it is used, or is not.
std::string reason(const algorithm_cost& one, bool chosen) {
  if (!one.unfit.empty())
    return one.forced ? "WEFT_COLLECTIVES asks for it, but: " + one.unfit : one.unfit;
  if (chosen) return one.forced ? "WEFT_COLLECTIVES" : "cheapest";
  return {};
}

ordered_json candidates_of(const question& q, peer_id hosts) {
  ordered_json all = ordered_json::array();
  const std::string forced = options::from_environment().experimental.collectives;
  for (const algorithm_cost& one :
       explain_collective(q.collective, q.bytes, q.ranks, hosts, forced)) {
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
    ordered_json one{{"collective", q.collective}, {"bytes", q.bytes}, {"ranks", q.ranks}};
    if (q.hosts != 0) {
      one["hosts"] = q.hosts;
      one["on_these_hosts"] = candidates_of(q, q.hosts);
    } else {
      one["on_one_host"] = candidates_of(q, 1);
      one["on_several_hosts"] = candidates_of(q, 0);
    }
    all.push_back(std::move(one));
  }
  return all;
}

namespace {

std::string on_hosts(const ordered_json& one) {
  if (!one.contains("hosts")) return {};
  const auto hosts = one["hosts"].get<peer_id>();
  return fmt::format("on {} hosts with {} ranks each", hosts, one["ranks"].get<peer_id>() / hosts);
}

}  // namespace

void show_algorithms(const ordered_json& all) {
  for (const auto& one : all) {
    fmt::print("{} of {} bytes by {} ranks\n", one["collective"].get<std::string>(),
               one["bytes"].get<std::size_t>(), one["ranks"].get<peer_id>());
    for (const auto& [key, where] :
         {std::pair("on_one_host", std::string("on one host")),
          std::pair("on_several_hosts", std::string("on several, of which nothing else is known")),
          std::pair("on_these_hosts", on_hosts(one))}) {
      if (!one.contains(key)) continue;
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
