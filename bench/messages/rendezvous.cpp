// SPDX-License-Identifier: Apache-2.0
// Long messages to receives that wait: with the handshake that follows the match, and with the
// receive announced to its source before (WEFT_RENDEZVOUS_RECEIVER_FIRST), as in the paper on
// VIA2SISCI. Each round makes two contexts in each process for each way, so the first transfer is
// measured, too; the ways take turns, so that drift of the machine affects all.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/ways.hpp"
#include "support/clock.hpp"

namespace weft::bench::rendezvous_command {
namespace {

constexpr std::size_t kib = 1024;

struct contestant {
  const char* name;
  bool receiver_first;
};
constexpr std::array<contestant, 2> contestants{{{"handshake", false}, {"receiver first", true}}};

options with(const settings& chosen, const contestant& c) {
  options result = options_of(chosen);
  result.experimental.receiver_first = c.receiver_first;
  // qdma has a place to read from, or to write to, in its handshake; what is measured is frames.
  if (chosen.transport == "qdma") result.experimental.rendezvous = rendezvous_scheme::frames;
  result.eager_limit = 32 * kib;
  return result;
}

/// Process 1 posts its receive, and says so; process 0 then sends, until the answer has come.
/// \return at process 0, µs of each transfer, from its send to the answer
task<std::vector<double>> transfers(const side& me, std::size_t size, std::size_t count) {
  const endpoint peer = me.peer;
  heap_buffers buffers(2, size);
  if (me.rank == 0) fill_all(buffers);
  std::array<std::byte, 8> word{};
  scope fly;
  co_await barrier(me);
  std::vector<double> all;
  for (std::size_t i = 0; i != count; ++i) {
    const auto box = buffers.next();
    if (me.rank == 1) {
      received got;
      fly.start(peer.recv(box, data_tag), [&got](const received& r) { got = r; });
      co_await peer.send(word, sync_tag);
      co_await fly.join();
      co_await peer.send(word, ack_tag);
      check_length(got, size);
      check_stamp(box, i);
      continue;
    }
    stamp(box, i);
    co_await peer.recv(word, sync_tag);
    const auto start = now_ns();
    co_await peer.send(box, data_tag);
    co_await peer.recv(word, ack_tag);
    all.push_back(us_between(start, now_ns()));
  }
  if (me.rank == 1) verify_all(buffers, count);
  co_return all;
}

void act(pair_member& member, const ways_request& wanted) {
  // After the first transfer: as many as `effort` says, at least five.
  const std::size_t others =
      plan{.warm_up = 0, .batches = 5, .per_batch = 1}.scaled(wanted.what.effort * 10).batches;
  medians_of_rounds first;  // µs of the first transfer, of the present size
  compare(member, wanted, fmt::format("{}, the receive waits", wanted.chosen.transport),
          {{"size", "size"},
           {"way", "way"},
           {"µs", "us"},
           {"p10", "p10"},
           {"p90", "p90"},
           {"first transfer µs", "first_us"},
           {"against handshake", "ratio"},
           {"first, against handshake", "first_ratio"}},
          {.count = contestants.size(),
           .measure =
               [&](std::size_t way, std::size_t size) {
                 first.resize(contestants.size());
                 place at(with(wanted.chosen, contestants[way]));
                 at.meet(member);
                 std::vector<double> us =
                     run(at.ctx, transfers(side_at(at, member), size, 1 + others));
                 member.barrier();  // then the contexts may end
                 if (us.empty()) return us;
                 first[way].push_back(us.front());
                 us.erase(us.begin());
                 return us;
               },
           .line =
               [&](std::size_t way, std::size_t size, const medians_of_rounds& us) {
                 json line = make_line(head_of("rendezvous", wanted.chosen, size), "us", us[way]);
                 line["way"] = contestants[way].name;
                 line["first_us"] = median(first[way]);
                 line["ratio"] = median_ratio(us[way], us[0]);
                 line["first_ratio"] = median_ratio(first[way], first[0]);
                 if (way + 1 == contestants.size()) first.clear();
                 return line;
               }});
}

}  // namespace

void add(CLI::App& app) {
  add_ways_command(app, "Long messages to receives that wait",
                   std::make_shared<ways_request>(ways_request{
                       .what = {.bench = "rendezvous",
                                .sizes = {64 * kib, 128 * kib, 256 * kib, 512 * kib, 1024 * kib}}}),
                   act);
}

}  // namespace weft::bench::rendezvous_command
