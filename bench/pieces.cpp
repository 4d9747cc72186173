// SPDX-License-Identifier: Apache-2.0
// What it costs to send and receive a message by lists of pieces, in place of one contiguous
// buffer. Figure 7a of the paper on Open MPI over Elan4 compares its datatype engine with memcpy.
// weft has no datatypes: what is compared here is its cursor over a list (gather and scatter) with
// the copies of one buffer, with the transport's defaults: only one buffer could be read by the
// receiver. All ways take turns on the same two contexts, so that drift of the
// machine affects all of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "loops.hpp"
#include "report.hpp"
#include "support/clock.hpp"

namespace weft::bench::pieces_command {
namespace {

constexpr std::size_t kib = 1024;
// Of the datatype component, for messages up to 4 KiB: section 6.1.
constexpr double paper_more_us = 0.4;

struct request {
  settings chosen{.transport = "qdma", .progress = "polling"};
  job what{.bench = "pieces", .sizes = {4, 64, 256, kib, 1984, 2 * kib, 4 * kib}};
  int rounds = 21;
};

/// How often the message is cut; 0: it is no list.
struct way {
  const char* name;
  std::size_t pieces;
};
constexpr std::array<way, 3> ways{{{"one buffer", 0}, {"list of 1", 1}, {"list of 8", 8}}};

/// The buffer in so many pieces of about the same size.
template <class Buffer>
std::vector<Buffer> cut(Buffer whole, std::size_t pieces) {
  std::vector<Buffer> all;
  for (std::size_t i = 0; i != pieces; ++i) {
    const std::size_t from = whole.size() * i / pieces, to = whole.size() * (i + 1) / pieces;
    all.push_back(whole.subspan(from, to - from));
  }
  return all;
}

task<void> send(const endpoint& peer, const_buffer message, std::span<const const_buffer> list) {
  if (list.empty())
    co_await peer.send(message, data_tag);
  else
    co_await peer.send(list, data_tag);
}

task<std::size_t> receive(const endpoint& peer, mutable_buffer box,
                          std::span<const mutable_buffer> list) {
  received got;
  if (list.empty())
    got = co_await peer.recv(box, data_tag);
  else
    got = co_await peer.recv(list, data_tag);
  co_return got.size;
}

task<std::vector<double>> half_round_trips_in(const side& me, way how, std::size_t size,
                                              plan loops) {
  const endpoint peer = me.peer;
  heap_buffers out(1, size), in(1, size);
  fill_all(out);
  const std::vector<const_buffer> from = cut(const_buffer(out[0]), how.pieces);
  const std::vector<mutable_buffer> to = cut(mutable_buffer(in[0]), how.pieces);
  co_await barrier(me);
  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) -> task<void> {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      stamp(out[0], n);
      if (me.rank == 0) co_await send(peer, out[0], from);
      const std::size_t got = co_await receive(peer, in[0], to);
      if (got != size) throw std::runtime_error("a message came with another length");
      check_stamp(in[0], n);
      if (me.rank == 1) co_await send(peer, out[0], from);
    }
  };
  co_await round_trips(loops.warm_up);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await round_trips(loops.per_batch);
    if (me.rank == 0)
      samples.push_back(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
  }
  verify_all(in, n);
  co_return samples;
}

void act(pair_member& member, const request& wanted) {
  place at(options_of(wanted.chosen));
  at.meet(member);
  const side me{at.ctx, at.peer, member.rank()};
  const bool tells = member.rank() == 0;
  report out({{"size", "size"},
              {"message", "way"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"more, µs", "more_us"},
              {"to one buffer", "ratio"},
              {"paper, more µs", "paper_more_us"}},
             wanted.chosen.as_json);
  if (tells)
    out.title(fmt::format("{}; {} rounds in turns; differences: medians of the paired ones",
                          wanted.chosen.transport, wanted.rounds));
  const plan loops = plan{.warm_up = 50, .batches = 5, .per_batch = 500}.scaled(wanted.what.effort);
  for (const std::size_t size : wanted.what.sizes) {
    std::array<std::vector<double>, ways.size()> of;
    for (int round = 0; round != wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != ways.size(); ++turn) {
        // The order changes, so that no way always follows the same other one.
        const std::size_t w = (turn + static_cast<std::size_t>(round)) % ways.size();
        if (tells) out.measuring(fmt::format("{}, {}", size_text(size), ways[w].name));
        const auto samples = run(at.ctx, half_round_trips_in(me, ways[w], size, loops));
        if (tells) of[w].push_back(median(samples));
        member.barrier();
      }
    if (!tells) continue;
    for (std::size_t w = 0; w != ways.size(); ++w) {
      auto line = make_line(head_of("pieces", wanted.chosen, size), half_rtt_us, of[w]);
      line["way"] = ways[w].name;
      line["pieces"] = ways[w].pieces;
      if (w != 0) {
        std::vector<double> more;
        for (std::size_t i = 0; i != of[w].size(); ++i) more.push_back(of[w][i] - of[0][i]);
        line["more_us"] = median(std::move(more));
        line["ratio"] = median(paired_ratios(of[w], of[0]));
        line["paper_more_us"] = paper_more_us;
      }
      out.add(line);
    }
  }
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("pieces", "Messages by lists of pieces beside one buffer");
  sub->add_option("--rounds", wanted->rounds, "Turns of each way")->check(CLI::PositiveNumber);
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("pieces", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::pieces_command
