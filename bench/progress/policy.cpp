// SPDX-License-Identifier: Apache-2.0
// Compares orders of polling transports, and read policies of rings, with several active senders:
// weft's defaults and those of SHIBA, in turns. The receiver has one process and one core; all
// senders are threads of the other process, each with its own context, those of `shm` on the
// receiver's host and those of `tcp` on another one (support/hosts.hpp).
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "progress/policy_broadcast.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"
#include "support/clock.hpp"
#include "support/hosts.hpp"
#include "support/pair.hpp"
#include "wireup/auth/job_key.hpp"

namespace weft::bench::policy_command {
namespace {

constexpr std::size_t short_one = 8;
constexpr std::size_t long_one = 1 << 20;
constexpr std::chrono::milliseconds silence{1};

struct request {
  settings chosen;
  int rounds = 7;
  double milliseconds = 100;
  bool broadcasts = false;
};

/// One sender: a window of messages, an answer, and again. A quiet sender sends a message now and
/// then, and measures the time of the answer.
struct sender {
  const char* transport;
  bool quiet = false;
  std::size_t size = short_one;
  bool is_shm() const { return std::string_view(transport) == "shm"; }
  bool is_long() const { return size == long_one; }
  std::size_t window() const { return quiet ? 1 : is_long() ? 4 : 16; }
};

struct scenario {
  const char* name;
  std::vector<sender> senders;
  bool is_long() const { return senders.front().is_long(); }
  std::size_t size() const { return senders.front().size; }
};

const std::vector<scenario>& scenarios() {
  constexpr sender shm{"shm"}, tcp{"tcp"}, quiet_shm{"shm", true}, quiet_tcp{"tcp", true};
  constexpr sender long_shm{"shm", false, long_one}, long_tcp{"tcp", false, long_one};
  static const std::vector<scenario> all{
      {"both busy", {shm, tcp}},
      {"shm hot, tcp quiet", {shm, quiet_tcp}},
      {"tcp hot, shm quiet", {tcp, quiet_shm}},
      {"many senders", {shm, shm, shm, shm, tcp, tcp, tcp, tcp}},
      {"long, both busy", {long_shm, long_tcp}},
      {"long, tcp quiet", {long_shm, quiet_tcp}},
      {"long, shm quiet", {long_shm, quiet_shm}},
      {"long, many senders", {long_shm, long_shm, long_shm, long_shm, quiet_shm}},
  };
  return all;
}

struct policy {
  const char* name;
  poll_policy polling = poll_policy::in_order;
  ring_read_policy reading = ring_read_policy::burst;
};
constexpr std::array<policy, 7> policies{
    {{"order"},
     {"adaptive", poll_policy::adaptive},
     {"toggle", poll_policy::toggle},
     {"single", poll_policy::in_order, ring_read_policy::single},
     {"contiguous", poll_policy::in_order, ring_read_policy::contiguous},
     {"post", poll_policy::in_order, ring_read_policy::post},
     {"immediate", poll_policy::in_order, ring_read_policy::immediate}}};

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

// --- the receiver --------------------------------------------------------------------------------

struct arrivals {
  std::int64_t begin = 0;  // messages between these two times count
  std::int64_t end = 0;
  double shm = 0;  // messages; bytes in a scenario of large ones
  double tcp = 0;  // the same
};

void check_way(const endpoint& from, const sender& other) {
  if (const auto way = from.describe(); !way.starts_with(other.transport))
    throw std::runtime_error(
        fmt::format("a sender should use {} and uses {}", other.transport, way));
}

/// Receives all messages of one sender, until the time is over.
task<void> take(endpoint from, const scenario& what, arrivals& all) {
  std::uint32_t who = 0;
  co_await from.recv(bytes_of(who), ack_tag);
  const sender& other = what.senders.at(who);
  const std::size_t window = other.window();
  heap_buffers boxes(window, other.size);
  double& count = other.is_shm() ? all.shm : all.tcp;
  const std::size_t worth = what.is_long() ? window * other.size : window;
  scope fly;
  std::uint64_t n = 0;
  for (std::uint32_t more = 1; more != 0;) {
    for (std::size_t i = 0; i < window; ++i) fly.start(from.recv(boxes[i], data_tag));
    co_await fly.join();
    for (std::size_t i = 0; i < window; ++i, ++n) check_stamp(boxes[i], n);
    const auto time = now_ns();
    if (time >= all.begin && time < all.end) count += static_cast<double>(worth);
    more = time < all.end;
    co_await from.send(bytes_of(more), ack_tag);
    // Now this side has a link, too, and a sender that continues is still there.
    if (n == window && more != 0) check_way(from, other);
  }
}

task<void> receive(listener& listening, const scenario& what, arrivals& all, double milliseconds) {
  std::vector<endpoint> peers;
  for (std::size_t i = 0; i < what.senders.size(); ++i)
    peers.push_back(co_await listening.accept());
  const auto span = static_cast<std::int64_t>(milliseconds * 1e6);
  all.begin = now_ns() + span / 5;
  all.end = all.begin + span;
  scope everybody;
  for (const endpoint& peer : peers) everybody.start(take(peer, what, all));
  co_await everybody.join();
}

// --- the senders ---------------------------------------------------------------------------------

task<void> send(context& ctx, const std::string& address, const scenario& what, std::uint32_t me,
                forked_member& member) {
  const sender& self = what.senders[me];
  const endpoint to = co_await ctx.connect(address);
  co_await to.send(bytes_of(me), ack_tag);
  heap_buffers buffers(self.window(), self.size);
  scope fly;
  std::uint64_t n = 0;
  for (std::uint32_t more = 1; more != 0;) {
    if (self.quiet) co_await sleep_for(silence);
    const auto start = now_ns();
    for (std::size_t i = 0; i < self.window(); ++i, ++n) {
      stamp(buffers[i], n);
      fly.start(to.send(buffers[i], data_tag));
    }
    co_await fly.join();
    co_await to.recv(bytes_of(more), ack_tag);
    if (self.quiet) member.report(us_between(start, now_ns()) / 2);  // there is one such sender
  }
}

/// A thread for each sender: namespaces belong to threads, and so does run().
void send_all(const options& mine, const std::string& address, const scenario& what,
              const hosts& apart, forked_member& member) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(what.senders.size());
  std::atomic<std::size_t> left = what.senders.size();
  for (std::uint32_t i = 0; i < what.senders.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        apart.enter(what.senders[i].is_shm() ? 0 : 1);
        context ctx(mine);
        run(ctx, send(ctx, address, what, i, member));
        --left;
        while (left != 0) std::this_thread::sleep_for(silence);
      } catch (...) {
        failures[i] = std::current_exception();
        left = 0;
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// --- both ----------------------------------------------------------------------------------------

/// The results of one policy in one scenario; a value for each round.
struct figures {
  std::vector<double> shm;       // millions of messages a second; of large ones, megabytes
  std::vector<double> tcp;       // the same
  std::vector<double> all;       // both together
  std::vector<double> half_rtt;  // of the quiet sender, microseconds: medians
};

void measure(const request& wanted, const hosts& apart, const scenario& what, const policy& how,
             figures& into) {
  options theirs = options_of(wanted.chosen);
  theirs.transports = options{}.transports;
  theirs.job_key = wireup::job_key::random().to_text();
  options mine = theirs;
  mine.experimental.polling = how.polling;
  mine.experimental.reading = how.reading;
  const pair_options stage{
      .name = "policy", .shared_bytes = longest_address, .pin = wanted.chosen.pin, .apart = &apart};
  const auto samples = run_pair(stage, [&](forked_member& member) {
    char* const where = reinterpret_cast<char*>(member.shared().data());
    if (member.rank() == 1) {
      member.barrier();
      send_all(theirs, where, what, apart, member);
      member.barrier();
      return;
    }
    context ctx(mine);
    listener listening = run(ctx, ctx.listen(fmt::format("tcp://{}:0", hosts::address(0))));
    listening.address().copy(where, longest_address - 1);
    member.barrier();
    arrivals all;
    run(ctx, receive(listening, what, all, wanted.milliseconds));
    const double us = us_between(all.begin, all.end);
    member.report(all.shm / us);
    member.report(all.tcp / us);
    member.barrier();
  });
  into.shm.push_back(samples[0].at(0));
  into.tcp.push_back(samples[0].at(1));
  into.all.push_back(samples[0][0] + samples[0][1]);
  if (!samples[1].empty()) into.half_rtt.push_back(median(samples[1]));
}

/// Nothing, if no round had a message: the turns are too short for this machine.
void add_ratio(json& line, const char* key, const std::vector<double>& a,
               const std::vector<double>& b) {
  if (auto ratios = paired_ratios(a, b); !ratios.empty()) line[key] = median(std::move(ratios));
}

void tell(report& out, const request& wanted, const scenario& what,
          const std::array<figures, policies.size()>& of) {
  for (std::size_t p = 0; p < policies.size(); ++p) {
    settings named = wanted.chosen;
    named.transport = "shm+tcp";
    auto line =
        make_line(head_of("policy", named, what.size()), what.is_long() ? mb_s : mmsg_s, of[p].all);
    line["scenario"] = what.name;
    line["policy"] = policies[p].name;
    line["of_shm"] = median(of[p].shm);
    line["of_tcp"] = median(of[p].tcp);
    add_ratio(line, "to_order", of[p].all, of[0].all);
    if (!of[p].half_rtt.empty()) {
      line["quiet_half_rtt_us"] = median(of[p].half_rtt);
      add_ratio(line, "quiet_to_order", of[p].half_rtt, of[0].half_rtt);
    }
    out.add(line);
  }
}

void act(const request& wanted) {
  const hosts apart;
  report out({{"scenario", "scenario"},
              {"policy", "policy"},
              {"M messages/s", "mmsg_s"},
              {"MB/s", "mb_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"of shm", "of_shm"},
              {"of tcp", "of_tcp"},
              {"to order", "to_order"},
              {"quiet one's half round trip µs", "quiet_half_rtt_us"},
              {"to order", "quiet_to_order"}},
             wanted.chosen.as_json);
  out.title(
      "8 bytes, or 1 MiB (long), into one receiver; medians of rounds in turns, ratios paired");
  for (const auto& what : scenarios()) {
    out.measuring(what.name);
    std::array<figures, policies.size()> of;
    in_turns(wanted.rounds, policies.size(),
             [&](std::size_t p) { measure(wanted, apart, what, policies[p], of[p]); });
    tell(out, wanted, what, of);
  }
  out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand(
      "policy",
      "In which order to look at transports, and how to read rings: WEFT_POLL_POLICY and "
      "WEFT_SHM_READ_POLICY; needs what --hosts needs");
  sub->add_option("--rounds", wanted->rounds, "Turns of each policy")->check(CLI::PositiveNumber);
  sub->add_option("--milliseconds", wanted->milliseconds, "How long each turn is")
      ->check(CLI::PositiveNumber);
  sub->add_flag("--broadcast", wanted->broadcasts,
                "Broadcasts of four ranks on two hosts, instead of senders to one receiver");
  add_settings(*sub, wanted->chosen, {.transport = false});
  sub->callback([wanted] {
    if (wanted->broadcasts)
      measure_broadcasts({.chosen = wanted->chosen, .rounds = wanted->rounds});
    else
      act(*wanted);
  });
}

}  // namespace weft::bench::policy_command
