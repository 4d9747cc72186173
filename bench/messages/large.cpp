// SPDX-License-Identifier: Apache-2.0
// A long message beside the same bytes as a value, as an argument of a call, and as its result:
// the time from the send to a short answer, and the memory that both processes take for it, in
// turns in the same pair of processes.
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weft/value.hpp>

#include "commands.hpp"
#include "messages/large_ways.hpp"
#include "output/stats.hpp"
#include "stage/turns.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/process_memory.hpp"

namespace weft::bench::large_command {
namespace {

struct request : turns_request {
  std::vector<std::size_t> sizes{20 << 20};
  std::size_t count = 8;
};

/// \return microseconds of a transfer, at rank 0, and KiB that this process has had
task<std::pair<double, std::uint64_t>> turn(const side& me, way by, std::size_t count, shared& of) {
  const endpoint peer = me.peer;
  co_await barrier(me);
  const memory_peak memory;
  const bool in_one_vector = by == value_made || by == value_of_parts || by == call_to_span ||
                             by == call_to_vector || by == call_of_vector || by == call_to_kept;
  const bool results = by == result_made || by == result_of_parts;
  // The bare message has two buffers, and so has every way that needs no more than it.
  bytes own(me.rank == 0 ? (results ? 0 : of.size) : (in_one_vector ? 0 : of.size), std::byte{1});
  if (me.rank == 1) of.kept = &own;
  co_await barrier(me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != count; ++i) {
    if (me.rank == 0)
      co_await ask_once(peer, by, own, of.size, i);
    else if (by <= value_of_parts)
      co_await take_once(peer, by, own, of.size);
  }
  const double us = us_between(start, now_ns()) / static_cast<double>(count);
  co_await barrier(me);
  co_return std::pair(us, memory.kib());
}

task<void> measure(side& me, const request& wanted, shared& of, report& out) {
  std::array<std::vector<double>, way_count> us, kib;
  co_await take_turns(wanted.rounds, way_count, [&](std::size_t by, bool counts) -> task<void> {
    const auto [time, mine] = co_await turn(me, static_cast<way>(by), wanted.count, of);
    std::uint64_t theirs = mine;
    if (me.rank == 0)
      co_await me.peer.recv_value(sync_tag, theirs);
    else
      co_await me.peer.send_value(sync_tag, theirs);
    if (!counts) co_return;
    us[by].push_back(time);
    kib[by].push_back(static_cast<double>(mine + theirs));
  });
  for (std::size_t by = 0; by != way_count && me.rank == 0; ++by) {
    auto line = make_line(head_of("large", wanted.chosen, of.size), "us", us[by]);
    line["by"] = names[by];
    line["to_message"] = median_ratio(us[by], us[message]);
    line["mib"] = median(kib[by]) / 1024;
    line["memory_to_message"] = median_ratio(kib[by], kib[message]);
    out.add(line);
  }
}

task<void> act(side& me, const request& wanted) {
  shared of;
  const std::vector<handler> serving = handlers(me.ctx, of);
  const std::vector<column> columns{{"size", "size"},
                                    {"", "by"},
                                    {"there, and an answer µs", "us"},
                                    {"× message", "to_message"},
                                    {"memory of both MiB", "mib"},
                                    {"× message", "memory_to_message"}};
  co_await with_report(me, wanted.chosen, columns, [&](report& out) -> task<void> {
    for (const std::size_t size : wanted.sizes) {
      of.size = size;
      co_await measure(me, wanted, of, out);
    }
  });
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto& sub = add_turns_command(
      app, "large", "A long message beside the same bytes as a value, an argument, and a result",
      wanted, &act);
  add_sizes(sub, wanted->sizes, "Messages")->check(CLI::PositiveNumber);
  sub.add_option("--count", wanted->count, "Transfers of a turn")->check(CLI::PositiveNumber);
}

}  // namespace weft::bench::large_command
