// SPDX-License-Identifier: Apache-2.0
// A broadcast down a binary tree, in turns by chains of descriptors as in the sample `tree`, and by
// messages, where each inner rank receives and sends. Inner ranks compute meanwhile; the others
// wait. The result is the time until the root knows that all ranks have the data.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/qdma.hpp>

#include "commands.hpp"
#include "stage/ranks.hpp"
#include "stage/report.hpp"
#include "stage/stage.hpp"
#include "support/clock.hpp"
#include "support/compute.hpp"
#include "support/pattern.hpp"

namespace weft::bench::tree_command {
namespace {

constexpr std::size_t size = 4096;

struct request {
  settings chosen{.transport = "qdma"};
  int ranks = 4;
  int rounds = 101;
  std::vector<double> compute_us{0, 500};
};

template <class T>
const_buffer out(const T& t) {
  return std::as_bytes(std::span(&t, 1));
}
template <class T>
mutable_buffer in(T& t) {
  return std::as_writable_bytes(std::span(&t, 1));
}

/// A rank's place in the tree.
struct place_in_tree {
  peer_id me, others;
  peer_id above() const { return (me - 1) / 2; }
  std::vector<peer_id> below() const {
    std::vector<peer_id> all;
    for (peer_id r = 2 * me + 1; r <= std::min(2 * me + 2, others); ++r) all.push_back(r);
    return all;
  }
  bool inner() const { return me != 0 && 2 * me + 1 <= others; }
};

/// Passes the data on without the application.
class by_chains {
 public:
  by_chains(context& ctx, place_in_tree p) : world_(ctx.world()), at_(p) {}

  task<void> build(context& ctx) {
    struct root_names {
      qdma::device_address device;
      qdma::remote_event has_it;
    } root;
    struct place_of_data {
      qdma::remote_region memory;
      qdma::remote_event arrived;
    };
    if (at_.me == 0) {
      device_ = qdma::device::open(ctx);
      all_have_it_ = device_->make_event(at_.others, true);
      root = {device_->where(), all_have_it_->id()};
      for (peer_id r = 1; r <= at_.others; ++r) co_await world_[r].send(out(root), sync_tag);
    } else {
      co_await world_[0].recv(in(root), sync_tag);
      device_ = co_await qdma::device::join(ctx, root.device);
    }
    data_ = device_->allocate(size, qdma::rights::write);
    arrived_ = device_->make_event(1, true);
    if (at_.me != 0)
      co_await world_[at_.above()].send(out(place_of_data{data_->id(), arrived_->id()}), ack_tag);
    for (const peer_id child : at_.below()) {
      place_of_data there;
      co_await world_[child].recv(in(there), ack_tag);
      co_await device_->meet(there.memory.owner);
      arrived_->on_trigger(
          qdma::rdma_write(*data_, 0, there.memory, 0, size).then(qdma::signal(there.arrived)));
    }
    if (at_.me != 0) arrived_->on_trigger(qdma::signal(root.has_it));
  }

  task<void> lead(std::uint64_t n) {
    stamp(data_->bytes(), n);
    device_->start(qdma::signal(arrived_->id()));
    co_await *all_have_it_;
  }
  task<void> follow(std::uint64_t n) {
    co_await *arrived_;
    check_stamp(data_->bytes(), n);
  }

 private:
  const group world_;
  const place_in_tree at_;
  std::optional<qdma::device> device_;
  std::optional<qdma::event> all_have_it_, arrived_;
  std::optional<qdma::region> data_;
};

/// Passes the data on after the application has received it.
class by_messages {
 public:
  by_messages(context& ctx, place_in_tree p) : world_(ctx.world()), at_(p), data_(1, size) {}

  task<void> lead(std::uint64_t n) {
    stamp(data_[0], n);
    co_await hand_on();
    char word = 0;
    for (peer_id i = 0; i != at_.others; ++i) co_await world_[i + 1].recv(in(word), ack_tag);
  }
  task<void> follow(std::uint64_t n) {
    co_await world_[at_.above()].recv(data_[0], data_tag);
    check_stamp(data_[0], n);
    co_await hand_on();
    co_await world_[0].send(out('y'), ack_tag);
  }

 private:
  task<void> hand_on() {
    for (const peer_id child : at_.below()) co_await world_[child].send(data_[0], data_tag);
  }

  const group world_;
  const place_in_tree at_;
  heap_buffers data_;
};

/// One broadcast. \return microseconds, at the root
template <class Way>
task<double> broadcast(const group& world, Way& way, const place_in_tree& at, std::uint64_t n,
                       double compute_us) {
  co_await world.barrier();
  const auto start = now_ns();
  if (at.me == 0) {
    co_await way.lead(n);
    co_return us_between(start, now_ns());
  }
  if (at.inner() && compute_us != 0) compute_for_us(compute_us);
  co_await way.follow(n);
  co_return 0;
}

task<void> act(context& ctx, const request& wanted) {
  const group world = ctx.world();
  const place_in_tree at{world.rank(), world.size() - 1};
  by_chains chains(ctx, at);
  by_messages messages(ctx, at);
  co_await chains.build(ctx);
  const bool tells = at.me == 0;
  report table({{"inner ranks compute, µs", "compute_us"},
                {"way", "way"},
                {"µs", "us_per_call"},
                {"p10", "p10"},
                {"p90", "p90"},
                {"to messages", "ratio"}},
               wanted.chosen.as_json);
  if (tells)
    table.title(fmt::format("{} ranks, {} bytes, messages by {}; {} broadcasts each in turns",
                            world.size(), size, wanted.chosen.transport, wanted.rounds));
  std::uint64_t n = 0;
  for (const double compute_us : wanted.compute_us) {
    constexpr int warm_up = 5;
    std::vector<double> of_chains, of_messages;
    for (int round = -warm_up; round < wanted.rounds; ++round) {
      // The order changes, so that neither way always follows the other.
      for (const bool first : {true, false}) {
        const bool by_chain = first == (round % 2 == 0);
        ++n;
        const double us = by_chain ? co_await broadcast(world, chains, at, n, compute_us)
                                   : co_await broadcast(world, messages, at, n, compute_us);
        if (round >= 0) (by_chain ? of_chains : of_messages).push_back(us);
      }
    }
    if (!tells) continue;
    const auto add = [&](const char* way, const std::vector<double>& samples) {
      auto line = make_line(head_of("tree", wanted.chosen, size), us_per_call, samples);
      line["way"] = way;
      line["ranks"] = world.size();
      line["compute_us"] = compute_us;
      line["ratio"] = median_ratio(samples, of_messages);
      table.add(line);
    };
    add("messages", of_messages);
    add("chains", of_chains);
  }
  co_await world.barrier();
  if (tells) table.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("tree", "Broadcasts by chains of descriptors and by messages");
  sub->add_option("--ranks", wanted->ranks, "Processes, shared out over the allowed cores")
      ->check(CLI::Range(4, 1024));
  sub->add_option("--rounds", wanted->rounds, "Broadcasts of each way")->check(CLI::PositiveNumber);
  sub->add_option("--compute-us", wanted->compute_us, "How long inner ranks compute; a list")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_ranks(wanted->chosen, {.counts = {wanted->ranks}, .least = 4},
             [&](context& ctx) { return act(ctx, *wanted); });
  });
}

}  // namespace weft::bench::tree_command
