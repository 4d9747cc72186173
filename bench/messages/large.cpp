// SPDX-License-Identifier: Apache-2.0
// A long message beside the same bytes as a value, as an argument of a call, and as its result:
// the time from the send to a short answer, and the memory that both processes take for it, in
// turns in the same pair of processes.
#include <malloc.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/value.hpp>

#include "commands.hpp"
#include "output/stats.hpp"
#include "stage/report.hpp"
#include "stage/stage.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"

namespace weft::bench::large_command {
namespace {

struct request {
  settings chosen;
  std::vector<std::size_t> sizes{20 << 20};
  int rounds = 15;
  std::size_t count = 8;
};

using bytes = std::vector<std::byte>;
using parts = std::tuple<std::uint64_t, bytes>;

enum way : std::size_t {
  message,
  value_kept,
  value_made,
  value_of_parts,
  call_bytes,
  call_to_span,
  call_to_vector,
  call_of_vector,
  call_to_kept,
  result_made,
  result_of_parts,
  way_count
};
constexpr std::array<const char*, way_count> names{"message",
                                                   "value, into a vector",
                                                   "value, a new vector",
                                                   "value, a number and a vector",
                                                   "call with bytes",
                                                   "call, (number, span)",
                                                   "call, span to a vector",
                                                   "call, (number, vector)",
                                                   "call, (number, vector that is kept)",
                                                   "result, a vector",
                                                   "result, a number and a vector"};

/// In turns of memory a figure is bytes, in others microseconds.
struct shared {
  std::size_t size = 0;
  bytes* kept = nullptr;  // of rank 1: where the handler of bytes receives, or what results are
};

am number_of(way by) { return {static_cast<std::uint32_t>(by)}; }

std::uint64_t status_kib(const char* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stoull(line.substr(line.find(':') + 1));
  throw std::runtime_error("/proc/self/status lacks a line");
}

/// How much more memory this process has had since.
class peak {
 public:
  peak() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;
    before_ = status_kib("VmRSS");
  }
  std::uint64_t kib() const { return status_kib("VmHWM") - before_; }

 private:
  std::uint64_t before_;
};

void check(std::uint64_t size, std::uint64_t wanted) {
  if (size != wanted) throw std::runtime_error("another number of bytes came");
}

task<void> ask_once(const endpoint& peer, way by, const bytes& out, std::size_t size,
                    std::uint64_t n) {
  const am to = number_of(by);
  const std::span<const std::byte> whole(out);
  std::uint64_t got = 0;
  switch (by) {
    case message:
    case value_kept:
    case value_made:
      co_await peer.send(whole, data_tag);
      co_await peer.recv(mutable_buffer{}, ack_tag);
      break;
    case value_of_parts: {
      const std::tuple<std::uint64_t, std::span<const std::byte>> both(n, whole);
      co_await peer.send_value(data_tag, both);
      co_await peer.recv(mutable_buffer{}, ack_tag);
      break;
    }
    case call_bytes:
      got = co_await peer.call(to, whole, mutable_buffer{});
      check(got, 0);
      break;
    case call_to_vector:
      got = co_await peer.call<std::uint64_t>(to, whole);
      check(got, size);
      break;
    case call_to_span:
    case call_of_vector:
    case call_to_kept:
      got = co_await peer.call<std::uint64_t>(to, n, whole);
      check(got, size + n);
      break;
    case result_made: {
      const bytes made = co_await peer.call<bytes>(to, n);
      check(made.size(), size);
      break;
    }
    case result_of_parts: {
      const parts made = co_await peer.call<parts>(to, n);
      check(std::get<1>(made).size(), size);
      break;
    }
    case way_count:
      break;
  }
}

task<void> take_once(const endpoint& peer, way by, bytes& in, std::size_t size) {
  if (by == message) co_await peer.recv(in, data_tag);
  if (by == value_kept) co_await peer.recv_value(data_tag, in);
  if (by == value_made) {
    const auto made = co_await peer.recv_value<bytes>(data_tag);
    check(made.size(), size);
  }
  if (by == value_of_parts) {
    const auto made = co_await peer.recv_value<parts>(data_tag);
    check(std::get<1>(made).size(), size);
  }
  co_await peer.send(const_buffer{}, ack_tag);
}

/// \return microseconds of a transfer, at rank 0, and KiB that this process has had
task<std::pair<double, std::uint64_t>> turn(const side& me, way by, std::size_t count, shared& of) {
  const endpoint peer = me.peer;
  co_await barrier(me);
  const peak memory;
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

/// The handlers of rank 1, which answer with the number of bytes, or the bytes themselves.
std::vector<handler> handlers(context& ctx, shared& of) {
  using whole = std::span<const std::byte>;
  std::vector<handler> all;
  all.push_back(ctx.on(number_of(call_bytes), [&of](call c) -> task<void> {
    co_await c.recv(*of.kept);
    co_await c.reply(const_buffer{});
  }));
  all.push_back(ctx.on<std::uint64_t(std::uint64_t, whole)>(
      number_of(call_to_span), [](std::uint64_t n, whole b) { return n + b.size(); }));
  all.push_back(ctx.on<std::uint64_t(const bytes&)>(number_of(call_to_vector),
                                                    [](const bytes& b) { return b.size(); }));
  all.push_back(ctx.on<std::uint64_t(std::uint64_t, const bytes&)>(
      number_of(call_of_vector), [](std::uint64_t n, const bytes& b) { return n + b.size(); }));
  all.push_back(ctx.on<std::uint64_t(std::uint64_t, const bytes&)>(
      number_of(call_to_kept), [](std::uint64_t n, const bytes& b) { return n + b.size(); },
      {.keeps_memory = true}));
  all.push_back(ctx.on<whole(std::uint64_t)>(number_of(result_made),
                                             [&of](std::uint64_t) { return whole(*of.kept); }));
  all.push_back(ctx.on<std::tuple<std::uint64_t, whole>(std::uint64_t)>(
      number_of(result_of_parts),
      [&of](std::uint64_t n) { return std::tuple(n, whole(*of.kept)); }));
  return all;
}

task<void> measure(side& me, const request& wanted, shared& of, report& out) {
  std::array<std::vector<double>, way_count> us, kib;
  for (int round = -1; round != wanted.rounds; ++round)
    for (std::size_t n = 0; n != way_count; ++n) {
      const auto by = static_cast<way>((n + static_cast<std::size_t>(round + 1)) % way_count);
      const auto [time, mine] = co_await turn(me, by, wanted.count, of);
      std::uint64_t theirs = mine;
      if (me.rank == 0)
        co_await me.peer.recv_value(sync_tag, theirs);
      else
        co_await me.peer.send_value(sync_tag, theirs);
      if (round < 0) continue;  // the first one warms up
      us[by].push_back(time);
      kib[by].push_back(static_cast<double>(mine + theirs));
    }
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
  report out({{"size", "size"},
              {"", "by"},
              {"there, and an answer µs", "us"},
              {"× message", "to_message"},
              {"memory of both MiB", "mib"},
              {"× message", "memory_to_message"}},
             wanted.chosen.as_json);
  co_await barrier(me);
  if (me.rank == 0) out.title(me.peer.describe());
  shared of;
  const std::vector<handler> serving = handlers(me.ctx, of);
  for (const std::size_t size : wanted.sizes) {
    of.size = size;
    co_await measure(me, wanted, of, out);
  }
  if (me.rank == 0) out.finish();
  co_await barrier(me);
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand(
      "large", "A long message beside the same bytes as a value, an argument, and a result");
  add_sizes(*sub, wanted->sizes, "Messages")->check(CLI::PositiveNumber);
  sub->add_option("--rounds", wanted->rounds, "Turns of each")->check(CLI::PositiveNumber);
  sub->add_option("--count", wanted->count, "Transfers of a turn")->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_stage("large", wanted->chosen, false, [&](side& me) { return act(me, *wanted); });
  });
}

}  // namespace weft::bench::large_command
