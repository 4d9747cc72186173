// SPDX-License-Identifier: Apache-2.0
// Each of the two processes has one core and two ranks, which are threads: one on each host
// (support/hosts.hpp). A rank has a context for each policy, and these take turns.
#include "progress/policy_broadcast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"
#include "support/clock.hpp"
#include "support/hosts.hpp"
#include "wireup/auth/job_key.hpp"

namespace weft::bench {
namespace {

constexpr peer_id ranks = 4;

struct named_policy {
  const char* name;
  poll_policy polling;
};
constexpr std::array<named_policy, 3> orders{{{"order", poll_policy::in_order},
                                              {"adaptive", poll_policy::adaptive},
                                              {"toggle", poll_policy::toggle}}};

/// Where the ranks listen, for each policy. In memory of both processes, zeroed before.
struct address_book {
  struct entry {
    std::atomic<bool> written;
    char address[longest_address];
  };
  entry all[orders.size()][ranks];

  static address_book& in(std::span<std::byte> memory) {
    return *std::launder(reinterpret_cast<address_book*>(memory.data()));
  }
};

/// Ranks 0 and 1 are on host 0, in different processes; so are 2 and 3 on host 1.
int host_of(peer_id rank) { return static_cast<int>(rank / 2); }

/// A rank's context with one policy, and the group of all ranks.
class member_of_four {
 public:
  member_of_four(const options& how, peer_id me, address_book::entry (&book)[ranks],
                 const char* policy)
      : ctx_(how), me_(me), others_(ranks) {
    run(ctx_, connect(book));
    group_.emplace(group::of(ctx_, others_, me_, policy));
  }

  context& ctx() noexcept { return ctx_; }
  const group& all() const noexcept { return *group_; }

  /// \throws std::runtime_error when a transport is not the one that should be measured
  void check_ways() const {
    for (peer_id other = 0; other != ranks; ++other) {
      if (other == me_) continue;
      const std::string way = others_[other].describe();
      const char* const wanted = host_of(other) == host_of(me_) ? "shm" : "tcp";
      if (!way.starts_with(wanted))
        throw std::runtime_error(
            fmt::format("rank {} should use {} to rank {}, and uses {}", me_, wanted, other, way));
    }
  }

 private:
  /// A rank accepts those above it, and connects to those below.
  task<void> connect(address_book::entry (&book)[ranks]) {
    listener listening =
        co_await ctx_.listen(fmt::format("tcp://{}:0", hosts::address(host_of(me_))));
    listening.address().copy(book[me_].address, longest_address - 1);
    book[me_].written.store(true, std::memory_order_release);
    for (peer_id other = 0; other != me_; ++other) {
      while (!book[other].written.load(std::memory_order_acquire))
        co_await sleep_for(std::chrono::milliseconds{1});
      others_[other] = co_await ctx_.connect(book[other].address);
      co_await others_[other].send_value(ack_tag, me_);
    }
    for (peer_id left = ranks - 1 - me_; left != 0; --left) {
      const endpoint one = co_await listening.accept();
      peer_id who = 0;
      co_await one.recv_value(ack_tag, who);
      others_.at(who) = one;
    }
  }

  context ctx_;
  const peer_id me_;
  std::vector<endpoint> others_;
  std::optional<group> group_;
};

/// The root rotates, so that each call has to wait for the one before.
task<void> broadcasts(const group& all, std::span<std::byte> data, std::size_t count,
                      std::uint64_t& n) {
  for (std::size_t i = 0; i != count; ++i, ++n) {
    const auto root = static_cast<peer_id>(n % ranks);
    if (all.rank() == root) stamp(data, n);
    co_await all.broadcast(data, root);
    check_stamp(data, n);
  }
}

/// \return microseconds of a call, for each batch
task<std::vector<double>> measure(const group& all, std::span<std::byte> data, plan loops) {
  std::uint64_t n = 0;
  co_await broadcasts(all, data, loops.warm_up, n);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch != loops.batches; ++batch) {
    co_await all.barrier();
    const auto start = now_ns();
    co_await broadcasts(all, data, loops.per_batch, n);
    samples.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
  }
  co_await all.barrier();
  co_return samples;
}

/// For each size, policy and round, in this order, a median: as rank 0 reports them.
void be_rank(peer_id me, const broadcast_request& wanted, const options& common,
             forked_member& process) {
  address_book& book = address_book::in(process.shared());
  std::deque<member_of_four> mine;
  for (std::size_t p = 0; p != orders.size(); ++p) {
    options how = common;
    how.experimental.polling = orders[p].polling;
    mine.emplace_back(how, me, book.all[p], orders[p].name);
  }
  for (const std::size_t size : wanted.sizes) {
    heap_buffers data(1, size);
    const plan loops{.warm_up = 8,
                     .batches = 5,
                     .per_batch = std::clamp<std::size_t>((512u << 10) / (size + 1), 4, 20)};
    std::array<std::vector<double>, orders.size()> us;
    in_turns(wanted.rounds, orders.size(), [&](std::size_t p) {
      us[p].push_back(median(run(mine[p].ctx(), measure(mine[p].all(), data[0], loops))));
    });
    if (me == 0)
      for (const auto& one : us)
        for (const double sample : one) process.report(sample);
  }
  for (member_of_four& one : mine) one.check_ways();
  // No context ends while another rank still uses it.
  for (member_of_four& one : mine) run(one.ctx(), one.all().barrier());
}

void tell(const broadcast_request& wanted, const std::vector<double>& samples) {
  report out({{"size", "size"},
              {"policy", "policy"},
              {"µs a broadcast", std::string(us_per_call)},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to order", "to_order"}},
             wanted.chosen.as_json);
  out.title(
      fmt::format("broadcasts of {} ranks on two hosts, shm and tcp; {} rounds in turns; "
                  "ratios: medians of the pairs",
                  ranks, wanted.rounds));
  settings named = wanted.chosen;
  named.transport = "shm+tcp";
  std::span left(samples);
  const auto rounds = static_cast<std::size_t>(wanted.rounds);
  for (const std::size_t size : wanted.sizes) {
    const auto in_order = left.first(rounds);
    for (const auto& order : orders) {
      const auto own = left.first(rounds);
      auto line = make_line(head_of("policy", named, size), us_per_call, {own.begin(), own.end()});
      line["scenario"] = "broadcast";
      line["policy"] = order.name;
      line["ranks"] = ranks;
      line["to_order"] = median_ratio(own, in_order);
      out.add(line);
      left = left.subspan(rounds);
    }
  }
  out.finish();
}

}  // namespace

void measure_broadcasts(const broadcast_request& wanted) {
  const hosts apart;
  options common = options_of(wanted.chosen);
  common.transports = {"self", "shm", "tcp"};
  common.job_key = wireup::job_key::random().to_text();
  common.processes_per_host = ranks;  // they share the cores
  const pair_options stage{.name = "policy",
                           .shared_bytes = sizeof(address_book),
                           .pin = wanted.chosen.pin,
                           .apart = &apart};
  const auto samples = run_pair(stage, [&](forked_member& process) {
    std::array<std::exception_ptr, 2> failures;
    std::vector<std::thread> threads;
    for (const int host : {0, 1})
      threads.emplace_back([&, host] {
        try {
          apart.enter(host);
          be_rank(static_cast<peer_id>(2 * host + process.rank()), wanted, common, process);
        } catch (...) {
          failures[static_cast<std::size_t>(host)] = std::current_exception();
        }
      });
    for (auto& thread : threads) thread.join();
    for (const auto& failure : failures)
      if (failure) std::rethrow_exception(failure);
  });
  tell(wanted, samples[0]);
}

}  // namespace weft::bench
