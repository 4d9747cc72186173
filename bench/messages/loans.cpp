// SPDX-License-Identifier: Apache-2.0
// Loans beside messages: half round trips, in turns in the same pair of processes. The receiver
// reads the first word of each message. Of a loan that is filled once, no byte is written between
// two messages, and the number of a message is its immediate word; one that is filled anew has its
// number in its first word, as the messages have that are copied whole.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/loan.hpp>

#include "commands.hpp"
#include "output/stats.hpp"
#include "stage/turns.hpp"
#include "support/clock.hpp"

namespace weft::bench::loans_command {
namespace {

struct request : turns_request {
  request() { rounds = 31; }
  double effort = 1;
};

using word = std::uint64_t;

enum class form { message, filled_once, filled_anew };
constexpr std::array<const char*, 3> names{"message", "loan, filled once", "loan, first word anew"};

struct way {
  form how;
  std::size_t bytes;
  std::size_t round_trips;
};
constexpr std::array<way, 8> ways{{{form::message, 8, 4000},
                                   {form::filled_once, 8, 4000},
                                   {form::message, 64 << 10, 1000},
                                   {form::filled_once, 64 << 10, 4000},
                                   {form::filled_anew, 64 << 10, 4000},
                                   {form::message, 1 << 20, 100},
                                   {form::filled_once, 1 << 20, 4000},
                                   {form::filled_anew, 1 << 20, 4000}}};

constexpr word mark = 0x6c6f616e;

struct result {
  double us;
  std::size_t in_place = 0;  // messages that this side received
};

void check(word came, std::size_t i) {
  if (came != i / 2 + 1) throw std::runtime_error("a message came with another number");
}

task<result> by_messages(const side& me, std::size_t bytes, std::size_t count) {
  const endpoint peer = me.peer;
  std::vector<word> out(bytes / sizeof(word)), in(out.size());
  co_await barrier(me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != 2 * count; ++i) {
    if (i % 2 == static_cast<std::size_t>(me.rank)) {
      ++out[0];
      co_await peer.send(std::as_bytes(std::span(out)), data_tag);
    } else {
      co_await peer.recv(std::as_writable_bytes(std::span(in)), data_tag);
      check(in[0], i);
    }
  }
  co_return result{us_between(start, now_ns()) / 2 / static_cast<double>(count)};
}

task<result> by_loans(const side& me, std::size_t bytes, std::size_t count, bool anew) {
  const endpoint peer = me.peer;
  context& ctx = me.ctx;
  word number = 0;
  result got{};
  co_await barrier(me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != 2 * count; ++i) {
    if (i % 2 == static_cast<std::size_t>(me.rank)) {
      loan<word> l = ctx.make_loan<word>(bytes / sizeof(word));
      ++number;
      if (anew)
        l[0] = number;
      else if (l[0] != mark)
        l[0] = mark;
      co_await peer.send_loan(data_tag, std::move(l), number);
    } else {
      const lent<word> view = co_await peer.recv_loan<word>(data_tag);
      check(anew ? view[0] : view.about().immediate, i);
      if (!anew && view[0] != mark) throw std::runtime_error("a loan came with other bytes");
      got.in_place += view.in_place();
    }
  }
  got.us = us_between(start, now_ns()) / 2 / static_cast<double>(count);
  co_return got;
}

task<void> measure(const side& me, const request& wanted, report& out) {
  std::array<std::vector<double>, ways.size()> of;
  std::array<std::size_t, ways.size()> in_place{}, received{};
  co_await take_turns(wanted.rounds, ways.size(), [&](std::size_t n, bool counts) -> task<void> {
    const way& w = ways[n];
    const auto count =
        static_cast<std::size_t>(static_cast<double>(w.round_trips) * wanted.effort) + 10;
    result r{};
    if (w.how == form::message)
      r = co_await by_messages(me, w.bytes, count);
    else
      r = co_await by_loans(me, w.bytes, count, w.how == form::filled_anew);
    if (!counts) co_return;
    of[n].push_back(r.us);
    in_place[n] += r.in_place;
    received[n] += count;
  });
  for (std::size_t which = 0; which != ways.size() && me.rank == 0; ++which) {
    const way& w = ways[which];
    auto line = make_line(head_of("loans", wanted.chosen, w.bytes), half_rtt_us, of[which]);
    line["way"] = names[static_cast<std::size_t>(w.how)];
    line["ratio"] = median_ratio(of[which], of[0]);
    line["in_place"] =
        100.0 * static_cast<double>(in_place[which]) / static_cast<double>(received[which]);
    out.add(line);
  }
}

task<void> act(side& me, const request& wanted) {
  const std::vector<column> columns{{"sent as", "way"},
                                    {"size", "size"},
                                    {"half round trip µs", "half_rtt_us"},
                                    {"× message of 8 B", "ratio"},
                                    {"in place %", "in_place"}};
  co_await with_report(me, wanted.chosen, columns,
                       [&](report& out) { return measure(me, wanted, out); });
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto& sub = add_turns_command(app, "loans", "Messages that are read in place, beside messages",
                                wanted, &act);
  sub.add_option("--effort", wanted->effort, "Round trips of a turn, as a share of the usual ones")
      ->check(CLI::PositiveNumber);
}

}  // namespace weft::bench::loans_command
