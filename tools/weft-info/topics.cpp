// SPDX-License-Identifier: Apache-2.0
#include "topics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <vector>

#include <weft/weft.hpp>

namespace weft::info {

using nlohmann::ordered_json;

namespace {

constexpr std::chrono::seconds longest_answer{10};

task<std::vector<topic_info>> ask(context& ctx, std::string address) {
  endpoint there = co_await ctx.connect(address);
  auto all = co_await within(longest_answer, topics_of(there));
  there.close();
  co_await within(longest_answer, there.closed());
  co_return all;
}

ordered_json subscribers_of(const topic_info& t) {
  ordered_json all = ordered_json::array();
  for (const subscriber_info& s : t.subscribers)
    all.push_back({{"who", s.who},
                   {"policy", to_string(static_cast<when_full>(s.policy))},
                   {"depth", s.depth},
                   {"waiting", s.waiting},
                   {"sent", s.sent},
                   {"taken", s.taken},
                   {"dropped", s.dropped}});
  return all;
}

}  // namespace

ordered_json topics(const options& chosen, const std::string& address) {
  options alone = chosen;
  alone.standalone = true;
  context ctx(alone);
  ordered_json all = ordered_json::array();
  for (const topic_info& t : run(ctx, ask(ctx, address)))
    all.push_back({{"name", t.name},
                   {"type", t.type},
                   {"published", t.published},
                   {"not_lent", t.not_lent},
                   {"history", t.history},
                   {"publishers", t.publishers},
                   {"subscribers", subscribers_of(t)}});
  return all;
}

void show_topics(const ordered_json& all) {
  if (all.empty()) fmt::print("no topics\n");
  for (const auto& t : all) {
    fmt::print("{}", t["name"].get<std::string>());
    // Without a type it is known from the directory only.
    if (const auto type = t["type"].get<std::string>(); !type.empty())
      fmt::print("  {}  published {}, history {}, not lent {}", type,
                 t["published"].get<std::uint64_t>(), t["history"].get<std::uint32_t>(),
                 t["not_lent"].get<std::uint64_t>());
    fmt::print("\n");
    if (const auto ranks = t["publishers"].get<std::vector<peer_id>>(); !ranks.empty())
      fmt::print("  published by rank {}\n", fmt::join(ranks, ", "));
    for (const auto& s : t["subscribers"])
      fmt::print("  {:<18}  {:<11}  depth {}, waiting {}, sent {}, taken {}, dropped {}\n",
                 s["who"].get<std::string>(), s["policy"].get<std::string>(),
                 s["depth"].get<std::uint32_t>(), s["waiting"].get<std::uint32_t>(),
                 s["sent"].get<std::uint64_t>(), s["taken"].get<std::uint64_t>(),
                 s["dropped"].get<std::uint64_t>());
  }
}

}  // namespace weft::info
