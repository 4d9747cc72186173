// SPDX-License-Identifier: Apache-2.0
#include "victim.hpp"

#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "api/core/core.hpp"
#include "gauge.hpp"
#include "honest.hpp"
#include "runtime/descriptors/fd.hpp"
#include "services.hpp"

namespace hostile {

using namespace weft;
using namespace std::chrono_literals;

namespace {

class house {
 public:
  house(board& on, context& ctx, const settings& s) : board_(on), ctx_(ctx), plant_(s.plant) {}

  task<void> keep() {
    const std::string name = "weft-hostile-" + std::to_string(::getpid());
    listener near = co_await ctx_.listen("unix://" + name);
    listener far = co_await ctx_.listen("tcp://127.0.0.1:0");
    bytes memory(open_region_bytes);
    region open(ctx_, memory, rights::read_write);
    board_.open_region = open.remote();
    board_.listening.set(near.address());
    board_.tcp_listener.set(far.address());
    board_.roster_listener.set(membership(ctx_).open("unix://" + name + "-join"));
    board_.ready.store(1, std::memory_order_release);
    const std::vector<handler> handlers = handlers_for_all(ctx_);
    // All of it exists from now on, so that no seed makes any.
    static_cast<void>(ctx_.make_loan<std::byte>(loan_budget));
    scope all;
    all.start(welcome(near, all));
    all.start(welcome(far, all));
    all.start(clear_away());
    if (plant_ == "stall") all.start(stall());
    all.start(listen_to(open));
    all.start(publish());
    // Of several sizes: longer messages are truncated.
    for (const std::size_t size : {8u, 100u, 4000u, 100'000u, 500'000u})
      all.start(honest(receive_from_anybody(ctx_, size, size > 4000, numbered_source_, numbered_)));
    while (board_.please_end != 2) co_await sleep_for(1ms);
    all.request_stop();
    co_await all.join();
    co_await loans_return();
  }

 private:
  task<void> welcome(listener& listening, scope& all) {
    for (;;) {
      listener::connection_request who = co_await listening.next();
      const std::string private_data = who.private_data();
      if (private_data == "reject") {
        who.reject("as you wish");
        continue;
      }
      auto guest = co_await as_result(who.accept());
      if (!guest) continue;  // it has gone in the meantime
      ++board_.requesters;
      if (plant_ == "leak") leaked_.emplace_back(100'000);
      if (plant_ == "descriptors") kept_.emplace_back(::dup(STDERR_FILENO));
      if (private_data == private_data_of_small) {
        all.start(honest(serve_small(ctx_, guest.value())));
      } else if (private_data == private_data_of_large) {
        numbered_source_ = guest.value().id();
        all.start(honest(serve_large(ctx_, guest.value())));
      } else {
        all.start(serve_requester(ctx_, guest.value(), private_data));
      }
    }
  }

  /// Its end is a failure, unless the oracle has asked for it.
  task<void> honest(task<void> service) {
    try {
      co_await std::move(service);
    } catch (const std::exception& e) {
      if (board_.please_end == 0) board_.trouble.set(std::string("an honest peer: ") + e.what());
    }
  }

  /// Messages without a receive would stay in the queue for ever: the application discards them now
  /// and then.
  task<void> clear_away() {
    bytes in(8);
    for (;;) {
      while (auto left = ctx_.try_claim({tag_left_lying, tag_honest}))
        static_cast<void>(co_await as_result(within(20ms, left->recv(in))));
      co_await sleep_for(2ms);
    }
  }

  /// Planted: answers no peer for longer than a round trip may take.
  static task<void> stall() {
    for (;;) {
      co_await sleep_for(100ms);
      std::this_thread::sleep_for(200ms);
    }
  }

  /// For subscribers that are not trusted: none of them can block it.
  task<void> publish() {
    publisher<std::uint64_t> out(ctx_, name_of_topic, {.history = 8, .may_be_blocked = false});
    for (std::uint64_t n = 1;; ++n) {
      co_await out.publish(n);
      co_await sleep_for(1ms);
    }
  }

  /// All peers have gone, or will, and none keeps a block.
  task<void> loans_return() {
    detail::core& lane = detail::core_of(ctx_);
    for (auto left = 10'000; left != 0; --left) {
      {
        const runtime::engine::holder hold(lane.engine());
        if (lane.loans().is_whole()) co_return;
      }
      co_await sleep_for(1ms);
    }
    throw std::runtime_error("a loan has not come back");
  }

  static task<void> listen_to(region& open) {
    for (;;) co_await open.notified();
  }

  board& board_;
  context& ctx_;
  const std::string plant_;
  std::vector<bytes> leaked_;    // planted
  std::vector<unique_fd> kept_;  // planted
  peer_id numbered_source_ = no_peer;
  std::uint64_t numbered_ = 0;
};

progress_mode mode_named(const std::string& name) {
  if (name == "polling") return progress_mode::polling;
  if (name == "interrupt") return progress_mode::interrupt;
  return progress_mode::dedicated;
}

}  // namespace

int be_victim(board& on, const settings& s) try {
  on.victim_pid = ::getpid();
  const gauge tells(on);
  options o = common_options(s);
  o.progress = mode_named(s.progress);
  context ctx(std::move(o));
  house h(on, ctx, s);
  run(ctx, h.keep());
  return 0;
} catch (const std::exception& e) {
  on.trouble.set(e.what());
  return 1;
}

}  // namespace hostile
