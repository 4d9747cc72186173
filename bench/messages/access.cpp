// SPDX-License-Identifier: Apache-2.0
// RMA on the memory of a peer that waits in weft or computes, compared with messages there and
// back, in turns in the same pair of processes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "output/stats.hpp"
#include "stage/turns.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/pattern.hpp"

namespace weft::bench::access_command {
namespace {

struct request : turns_request {
  std::vector<std::size_t> sizes{8, 4096, 64 << 10, 1 << 20};
};

/// The ways in turns: rank 0's operation, while rank 1 waits in weft or (computing) makes no call.
enum way : std::size_t {
  messages,
  put,
  get,
  fetch_add,
  computing_put,
  computing_get,
  computing_fetch_add,
  way_count
};
struct what_is_done {
  const char* by;
  const char* owner;
  way like;  ///< the same while the owner waits
};
constexpr std::array<what_is_done, way_count> ways{{{"messages", "waits", messages},
                                                    {"put", "waits", put},
                                                    {"get", "waits", get},
                                                    {"fetch_add", "waits", fetch_add},
                                                    {"put", "computes", put},
                                                    {"get", "computes", get},
                                                    {"fetch_add", "computes", fetch_add}}};

/// Rank 1's memory: a counter word, and space for the data.
struct board {
  alignas(64) std::uint64_t turns = 0;
  std::vector<std::byte> room;
};

/// Microseconds for each operation, at rank 0.
task<double> ask(const side& me, way by, remote_region turns, remote_region room,
                 std::size_t size) {
  const std::size_t count =
      std::max<std::size_t>(16, std::min<std::size_t>(2000, (16 << 20) / size));
  std::vector<std::byte> out(size), in(size);
  fill(out, 1);
  co_await me.peer.put(out, room);
  co_await barrier(me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != count; ++i) {
    switch (ways[by].like) {
      case messages:
        co_await me.peer.send(out, data_tag);
        co_await me.peer.recv(mutable_buffer{}, ack_tag);
        break;
      case put:
        co_await me.peer.put(out, room);
        break;
      case get:
        co_await me.peer.get(in, room);
        break;
      default:
        co_await me.peer.fetch_add(turns, 0);
        break;
    }
  }
  const double each = us_between(start, now_ns()) / static_cast<double>(count);
  if (ways[by].like == get) verify(in, 1);
  co_await me.peer.fetch_add(turns, 1);  // ends the turn of a computing rank 1
  if (by == messages)                    // an empty message ends that turn
    co_await me.peer.send(const_buffer{}, data_tag);
  co_return each;
}

/// Rank 1: answers messages, waits, or computes until its word has been counted up.
task<void> serve(const side& me, way by, board& mine, std::uint64_t turn) {
  co_await barrier(me);
  std::vector<std::byte> in(mine.room.size());
  if (by == messages)
    for (;;) {
      const received r = co_await me.peer.recv(in, data_tag);
      if (r.size == 0) break;
      co_await me.peer.send(const_buffer{}, ack_tag);
    }
  const std::atomic_ref<std::uint64_t> turns(mine.turns);
  if (by >= computing_put)
    while (turns.load(std::memory_order_relaxed) != turn + 1) {
    }
}

/// Without a progress thread no thread would answer for a computing owner.
std::size_t ways_with(const std::string& progress) {
  return progress == "dedicated" || progress == "two_threads" ? way_count : computing_put;
}

task<void> act(side& me, const request& wanted) {
  board mine;
  mine.room.resize(*std::max_element(wanted.sizes.begin(), wanted.sizes.end()));
  const region turns(me.ctx, std::as_writable_bytes(std::span(&mine.turns, 1)), rights::read_write);
  const region room(me.ctx, mine.room, rights::read_write);
  std::array<remote_region, 2> there{turns.remote(), room.remote()};
  const std::size_t tried = ways_with(wanted.chosen.progress);
  std::uint64_t turn = 0;
  const std::vector<column> columns{{"size", "size"},
                                    {"", "by"},
                                    {"owner", "owner"},
                                    {"µs", "us"},
                                    {"× messages", "to_messages"},
                                    {"× if it waits", "to_waiting"}};
  co_await with_report(me, wanted.chosen, columns, [&](report& out) -> task<void> {
    if (me.rank == 1)
      co_await me.peer.send(std::as_bytes(std::span(there)), sync_tag);
    else
      co_await me.peer.recv(std::as_writable_bytes(std::span(there)), sync_tag);
    for (const std::size_t size : wanted.sizes) {
      std::array<std::vector<double>, way_count> of;
      co_await take_turns(wanted.rounds, tried, [&](std::size_t n, bool counts) -> task<void> {
        const auto by = static_cast<way>(n);
        if (me.rank == 1) co_return co_await serve(me, by, mine, turn++);
        const double us = co_await ask(me, by, there[0], there[1].part(0, size), size);
        if (counts) of[by].push_back(us);
      });
      for (std::size_t by = 0; by != tried && me.rank == 0; ++by) {
        auto line = make_line(head_of("access", wanted.chosen, size), "us", of[by]);
        line["by"] = ways[by].by;
        line["owner"] = ways[by].owner;
        line["to_messages"] = median_ratio(of[by], of[messages]);
        line["to_waiting"] = median_ratio(of[by], of[ways[by].like]);
        out.add(line);
      }
    }
  });
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto& sub = add_turns_command(
      app, "access",
      "Put, get and fetch_add beside messages, while the owner of the memory computes", wanted,
      &act);
  add_sizes(sub, wanted->sizes, "Operations")->check(CLI::PositiveNumber);
}

}  // namespace weft::bench::access_command
