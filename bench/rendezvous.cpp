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
#include "loops.hpp"
#include "report.hpp"
#include "support/clock.hpp"

namespace weft::bench::rendezvous_command {
namespace {

constexpr std::size_t kib = 1024;

struct request {
  settings chosen;
  job what{.bench = "rendezvous", .sizes = {64 * kib, 128 * kib, 256 * kib, 512 * kib, kib* kib}};
  int rounds = 11;
};

struct contestant {
  const char* name;
  bool receiver_first;
};
constexpr std::array<contestant, 2> contestants{{{"handshake", false}, {"receiver first", true}}};

/// Of one size, by one way.
struct figures {
  std::vector<double> first;   // µs of the first transfer of each round
  std::vector<double> median;  // µs of the others, of each round
};

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

void act(pair_member& member, const request& wanted) {
  report out({{"size", "size"},
              {"way", "way"},
              {"µs", "us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"first transfer µs", "first_us"},
              {"against handshake", "ratio"},
              {"first, against handshake", "first_ratio"}},
             wanted.chosen.as_json);
  if (member.rank() == 0)
    out.title(fmt::format("{}; the receive waits; {} rounds in turns; ratio: median of the pairs",
                          wanted.chosen.transport, wanted.rounds));
  for (const std::size_t size : wanted.what.sizes) {
    std::array<figures, contestants.size()> of;
    const std::size_t count =
        1 +
        plan{.warm_up = 0, .batches = 5, .per_batch = 1}.scaled(wanted.what.effort * 10).batches;
    for (int round = 0; round < wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != contestants.size(); ++turn) {
        const std::size_t which = (turn + static_cast<std::size_t>(round)) % contestants.size();
        place at(with(wanted.chosen, contestants[which]));
        at.meet(member);
        const auto us = run(at.ctx, transfers({at.ctx, at.peer, member.rank()}, size, count));
        if (member.rank() == 0) {
          of[which].first.push_back(us.front());
          of[which].median.push_back(median({us.begin() + 1, us.end()}));
        }
        member.barrier();
      }
    if (member.rank() != 0) continue;
    for (std::size_t i = 0; i != of.size(); ++i) {
      auto line = make_line(head_of("rendezvous", wanted.chosen, size), "us", of[i].median);
      line["way"] = contestants[i].name;
      line["first_us"] = median(of[i].first);
      line["ratio"] = median(paired_ratios(of[i].median, of[0].median));
      line["first_ratio"] = median(paired_ratios(of[i].first, of[0].first));
      out.add(line);
    }
  }
  if (member.rank() == 0) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("rendezvous", "Long messages to receives that wait");
  sub->add_option("--rounds", wanted->rounds, "Turns of both ways")->check(CLI::PositiveNumber);
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("rendezvous", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::rendezvous_command
