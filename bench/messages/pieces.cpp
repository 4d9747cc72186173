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
#include "stage/loops.hpp"
#include "stage/ways.hpp"

namespace weft::bench::pieces_command {
namespace {

constexpr std::size_t kib = 1024;
// Of the datatype component, for messages up to 4 KiB: section 6.1.
constexpr double paper_more_us = 0.4;

/// How often the message is cut; 0: it is no list.
struct form {
  const char* name;
  std::size_t pieces;
};
constexpr std::array<form, 3> forms{{{"one buffer", 0}, {"list of 1", 1}, {"list of 8", 8}}};

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

task<std::vector<double>> half_round_trips_in(const side& me, form how, std::size_t size,
                                              plan loops) {
  const endpoint peer = me.peer;
  heap_buffers out(1, size), in(1, size);
  fill_all(out);
  const std::vector<const_buffer> from = cut(const_buffer(out[0]), how.pieces);
  const std::vector<mutable_buffer> to = cut(mutable_buffer(in[0]), how.pieces);
  co_await barrier(me);
  std::uint64_t n = 0;
  const auto there_and_back = [&](std::size_t count) -> task<void> {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      stamp(out[0], n);
      if (me.rank == 0) co_await send(peer, out[0], from);
      const std::size_t got = co_await receive(peer, in[0], to);
      if (got != size) throw std::runtime_error("a message came with another length");
      check_stamp(in[0], n);
      if (me.rank == 1) co_await send(peer, out[0], from);
    }
  };
  std::vector<double> samples = co_await timed(loops, there_and_back);
  for (double& us : samples) us /= 2;
  verify_all(in, n);
  co_return samples;
}

/// The median of the rounds' differences.
double median_difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> more;
  for (std::size_t i = 0; i != a.size(); ++i) more.push_back(a[i] - b[i]);
  return median(std::move(more));
}

json line_of(const ways_request& wanted, std::size_t way, std::size_t size,
             const medians_of_rounds& us) {
  json line = make_line(head_of("pieces", wanted.chosen, size), half_rtt_us, us[way]);
  line["way"] = forms[way].name;
  line["pieces"] = forms[way].pieces;
  if (way == 0) return line;
  line["more_us"] = median_difference(us[way], us[0]);
  line["ratio"] = median_ratio(us[way], us[0]);
  line["paper_more_us"] = paper_more_us;
  return line;
}

void act(pair_member& member, const ways_request& wanted) {
  place at(options_of(wanted.chosen));
  at.meet(member);
  const side me = side_at(at, member);
  compare(member, wanted, wanted.chosen.transport,
          {{"size", "size"},
           {"message", "way"},
           {"half round trip µs", "half_rtt_us"},
           {"p10", "p10"},
           {"p90", "p90"},
           {"more, µs", "more_us"},
           {"to one buffer", "ratio"},
           {"paper, more µs", "paper_more_us"}},
          {.count = forms.size(),
           .measure =
               [&](std::size_t way, std::size_t size) {
                 const plan loops{.warm_up = 50, .batches = 5, .per_batch = 500};
                 return run(me.ctx, half_round_trips_in(me, forms[way], size,
                                                        loops.scaled(wanted.what.effort)));
               },
           .line = [&](std::size_t way, std::size_t size,
                       const medians_of_rounds& us) { return line_of(wanted, way, size, us); }});
}

}  // namespace

void add(CLI::App& app) {
  add_ways_command(
      app, "Messages by lists of pieces beside one buffer",
      std::make_shared<ways_request>(ways_request{
          .chosen = {.transport = "qdma", .progress = "polling"},
          .what = {.bench = "pieces", .sizes = {4, 64, 256, kib, 1984, 2 * kib, 4 * kib}},
          .rounds = 21}),
      act);
}

}  // namespace weft::bench::pieces_command
