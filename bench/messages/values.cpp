// SPDX-License-Identifier: Apache-2.0
// Values beside the same bytes: half round trips of one word, sent and received in each way, in
// turns in the same pair of processes.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <weft/value.hpp>

#include "commands.hpp"
#include "output/stats.hpp"
#include "stage/turns.hpp"
#include "support/clock.hpp"

namespace weft::bench::values_command {
namespace {

struct request : turns_request {
  request() { rounds = 31; }
  double effort = 1;
};

using word = std::uint64_t;

/// Both sides send and receive in the same way.
enum way : std::size_t { plain, lvalue, rvalue, made, vector, way_count };
struct calls {
  const char* send;
  const char* receive;
};
constexpr std::array<calls, way_count> ways{{{"send", "recv"},
                                             {"send_value(t, v)", "recv"},
                                             {"send_value(t, 42)", "recv"},
                                             {"send", "recv_value<word>"},
                                             {"send", "recv_value<vector>"}}};

/// Microseconds. The calls are in the loop itself, which is otherwise the same for all ways.
template <way By>
task<double> half_round_trip(const side& me, std::size_t count) {
  const endpoint peer = me.peer;
  word out = 0, in = 0;
  co_await barrier(me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != 2 * count; ++i) {
    if (i % 2 == static_cast<std::size_t>(me.rank)) {
      ++out;
      if constexpr (By == lvalue)
        co_await peer.send_value(data_tag, out);
      else if constexpr (By == rvalue)
        co_await peer.send_value(data_tag, word{out});
      else
        co_await peer.send(std::as_bytes(std::span(&out, 1)), data_tag);
      continue;
    }
    if constexpr (By == made) {
      in = co_await peer.recv_value<word>(data_tag);
    } else if constexpr (By == vector) {
      const auto got = co_await peer.recv_value<std::vector<word>>(data_tag);
      in = got.at(0);
    } else {
      co_await peer.recv(std::as_writable_bytes(std::span(&in, 1)), data_tag);
    }
    if (in != i / 2 + 1) throw std::runtime_error("a word came with another value");
  }
  co_return us_between(start, now_ns()) / 2 / static_cast<double>(count);
}

task<double> by(way which, const side& me, std::size_t count) {
  switch (which) {
    case lvalue:
      return half_round_trip<lvalue>(me, count);
    case rvalue:
      return half_round_trip<rvalue>(me, count);
    case made:
      return half_round_trip<made>(me, count);
    case vector:
      return half_round_trip<vector>(me, count);
    default:
      return half_round_trip<plain>(me, count);
  }
}

task<void> act(side& me, const request& wanted) {
  const auto count = static_cast<std::size_t>(4000 * wanted.effort) + 10;
  const std::vector<column> columns{{"sent by", "send"},
                                    {"received by", "receive"},
                                    {"half round trip µs", "half_rtt_us"},
                                    {"× send, recv", "ratio"}};
  co_await with_report(me, wanted.chosen, columns, [&](report& out) -> task<void> {
    std::array<std::vector<double>, way_count> of;
    co_await take_turns(wanted.rounds, way_count, [&](std::size_t n, bool counts) -> task<void> {
      const double us = co_await by(static_cast<way>(n), me, count);
      if (counts) of[n].push_back(us);
    });
    for (std::size_t which = 0; which != way_count && me.rank == 0; ++which) {
      auto line = make_line(head_of("values", wanted.chosen, sizeof(word)), half_rtt_us, of[which]);
      line["send"] = ways[which].send;
      line["receive"] = ways[which].receive;
      line["ratio"] = median_ratio(of[which], of[plain]);
      out.add(line);
    }
  });
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto& sub = add_turns_command(app, "values", "send_value and recv_value beside the same bytes",
                                wanted, &act);
  sub.add_option("--effort", wanted->effort, "Round trips of a turn, as a share of the usual ones")
      ->check(CLI::PositiveNumber);
}

}  // namespace weft::bench::values_command
