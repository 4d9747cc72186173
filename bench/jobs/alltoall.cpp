// SPDX-License-Identifier: Apache-2.0
// Every rank sends to every other rank: N ranks, usually more than cores.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/ranks.hpp"
#include "stage/report.hpp"
#include "support/clock.hpp"
#include "support/crowd_batches.hpp"

namespace weft::bench::alltoall_command {
namespace {

constexpr std::size_t kib = 1024;

struct request {
  settings chosen;
  job what{.bench = "alltoall", .sizes = {8, kib, 16 * kib}, .ranks = 8};
};

/// Microseconds for each message, on rank 0.
task<std::vector<double>> everybody(const group& world, std::size_t size, double effort) {
  const peer_id ranks = world.size();
  const peer_id me = world.rank();
  const std::size_t others = ranks - 1;
  heap_buffers out(others, size);
  heap_buffers in(others, size);
  for (std::size_t i = 0; i < others; ++i) fill(out[i], me + 1);
  const auto rank_of = [&](std::size_t i) { return static_cast<peer_id>((me + 1 + i) % ranks); };
  std::vector<endpoint> peers;
  for (std::size_t i = 0; i < others; ++i) peers.push_back(world[rank_of(i)]);
  scope fly;
  co_await world.barrier();

  std::uint64_t n = 0;
  const auto rounds = [&](std::size_t count) -> task<void> {
    for (std::size_t r = 0; r < count; ++r, ++n) {
      for (std::size_t i = 0; i < others; ++i) fly.start(peers[i].recv(in[i], data_tag));
      for (std::size_t i = 0; i < others; ++i) {
        stamp(out[i], n);
        fly.start(peers[i].send(out[i], data_tag));
      }
      co_await fly.join();
      for (std::size_t i = 0; i < others; ++i) check_stamp(in[i], n);
    }
  };
  crowd_batches batches(effort);
  const auto messages =
      static_cast<double>(crowd_batches::per_batch * others) * static_cast<double>(ranks);
  for (std::uint32_t more = 1; more != 0;) {
    const auto start = now_ns();
    co_await rounds(crowd_batches::per_batch);
    more = batches.add(start, now_ns(), messages) ? 1 : 0;
    const auto word = std::as_writable_bytes(std::span(&more, 1));
    if (me == 0)  // rank 0's clock decides for all
      for (const endpoint& peer : peers) fly.start(peer.send(word, ack_tag));
    else
      fly.start(world[0].recv(word, ack_tag));
    co_await fly.join();
  }
  for (std::size_t i = 0; i < others; ++i) verify(in[i], std::uint64_t{rank_of(i)} + 1);
  co_return batches.take();
}

task<void> act(context& ctx, const request& wanted) {
  const group world = ctx.world();
  const bool tells = world.rank() == 0;
  report out(
      with_percentiles(
          {{"size", "size"}, {"µs a message", "us_per_message"}, {"M messages/s", "mmsg_s"}}),
      wanted.chosen.as_json);
  if (tells) out.title(fmt::format("{} ranks", world.size()));
  for (const auto size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    const auto samples = co_await everybody(world, size, wanted.what.effort);
    if (!tells) continue;
    auto line = make_line(head_of("alltoall", wanted.chosen, size), "us_per_message", samples);
    line[std::string(mmsg_s)] = 1.0 / line["us_per_message"].get<double>();
    line["ranks"] = world.size();
    out.add(line);
  }
  co_await world.barrier();
  if (tells) out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("alltoall", "Everybody to everybody, with more ranks than cores");
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_ranks(wanted->chosen, {.counts = {wanted->what.ranks}},
             [&](context& ctx) { return act(ctx, *wanted); });
  });
}

}  // namespace weft::bench::alltoall_command
