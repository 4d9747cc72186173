// SPDX-License-Identifier: Apache-2.0
// Several threads that use one VI, or one completion queue, at the same time.
#include <atomic>
#include <cstring>
#include <future>
#include <vector>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

constexpr std::size_t threads = 3, of_each = 40, all = threads * of_each;
constexpr std::size_t room = 12'000;

struct note {
  std::uint32_t thread, number;
};

/// Every third message is long.
std::size_t size_of(std::size_t number) { return number % 3 == 2 ? 10'000 : sizeof(note); }

/// Runs it on as many threads. \return how many returned true
template <class F>
std::size_t on_threads(F f) {
  std::vector<std::future<bool>> running;
  for (std::size_t t = 0; t != threads; ++t)
    running.push_back(std::async(std::launch::async, f, t));
  std::size_t good = 0;
  for (auto& r : running) good += r.get() ? 1 : 0;
  return good;
}

}  // namespace

TEST_CASE("threads: several post sends to one VI and take them, and others take its receives") {
  at_each_level([](pair& p, level l) {
    connection c(p, l);
    for (std::size_t i = 0; i != all; ++i) c.receive(p.b.describe(i, {{i * room, room}}));
    std::atomic<std::size_t> received{0};
    auto receivers = std::async(std::launch::async, [&] {
      return on_threads([&](std::size_t) {
        while (received.fetch_add(1) < all) {
          VIP_DESCRIPTOR* d = nullptr;
          if (VipRecvWait(c.to, patience, &d) != VIP_SUCCESS) return false;
        }
        return true;
      });
    });
    const std::size_t senders = on_threads([&](std::size_t t) {
      for (std::size_t i = 0; i != of_each; ++i) {
        const std::size_t n = t * of_each + i;
        const note text{static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(i)};
        std::memcpy(p.a.data(n * room), &text, sizeof text);
        VIP_DESCRIPTOR* d = p.a.describe(n, {{n * room, size_of(i)}});
        if (VipPostSend(c.from, d, p.a.handle) != VIP_SUCCESS) return false;
        // Whose it is does not matter: each thread takes as many as it has posted.
        if (VipSendWait(c.from, patience, &d) != VIP_SUCCESS) return false;
      }
      return true;
    });
    CHECK(senders == threads);
    CHECK(receivers.get() == threads);
    // Each message has come once, and those of one thread in its order.
    std::uint32_t next[threads] = {};
    for (std::size_t i = 0; i != all; ++i) {
      CAPTURE(i);
      note text{};
      std::memcpy(&text, p.b.data(i * room), sizeof text);
      REQUIRE(text.thread < threads);
      CHECK(text.number == next[text.thread]++);
    }
  });
}

TEST_CASE("threads: several wait at one completion queue, and each entry goes to one of them") {
  over_each_transport([](pair& p) {
    VIP_CQ_HANDLE q = nullptr;
    REQUIRE(VipCreateCQ(p.b.nic, all, &q) == VIP_SUCCESS);
    {
      const VIP_VI_HANDLE v = p.b.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, q);
      connection c(p, p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY), v);
      for (std::size_t i = 0; i != all; ++i) c.receive(p.b.describe(i, {}));
      std::atomic<std::size_t> taken{0};
      auto waiting = std::async(std::launch::async, [&] {
        return on_threads([&](std::size_t) {
          for (std::size_t i = 0; i != of_each; ++i) {
            VIP_VI_HANDLE which = nullptr;
            VIP_BOOLEAN receives = VIP_FALSE;
            VIP_DESCRIPTOR* d = nullptr;
            if (VipCQWait(q, patience, &which, &receives) != VIP_SUCCESS || which != v)
              return false;
            if (VipRecvDone(v, &d) != VIP_SUCCESS) return false;
            ++taken;
          }
          return true;
        });
      });
      for (std::size_t i = 0; i != all; ++i) {
        VIP_DESCRIPTOR* const d = p.a.describe(i % side::descriptors, {});
        c.send(d);
        REQUIRE(c.sent(d) == 0);
      }
      CHECK(waiting.get() == threads);
      CHECK(taken == all);
    }
    REQUIRE(VipDestroyCQ(q) == VIP_SUCCESS);
  });
}

TEST_CASE("threads: VIs are made, connected and ended while others of the NIC exchange messages") {
  over_each_transport([](pair& p) {
    connection c(p, VIP_SERVICE_RELIABLE_RECEPTION);
    std::atomic<bool> stop{false};
    auto busy = std::async(std::launch::async, [&] {
      std::size_t messages = 0;
      for (; !stop; ++messages) {
        VIP_DESCRIPTOR* d = p.b.describe(0, {{0, 20'000}});
        if (VipPostRecv(c.to, d, p.b.handle) != VIP_SUCCESS) break;
        d = p.a.describe(0, {{0, 20'000}});
        if (VipPostSend(c.from, d, p.a.handle) != VIP_SUCCESS) break;
        if (VipSendWait(c.from, patience, &d) != VIP_SUCCESS) break;
        if (VipRecvWait(c.to, patience, &d) != VIP_SUCCESS) break;
      }
      return stop ? messages : std::size_t{0};
    });
    for (std::size_t i = 0; i != 20; ++i) {
      connection other(p, levels[i % levels.size()]);
      VIP_DESCRIPTOR* const in = p.b.describe(1, {{50'000, 20'000}});
      other.receive(in);
      VIP_DESCRIPTOR* const out = p.a.describe(1, {{50'000, 20'000}});
      other.send(out);
      CHECK(other.received(in) == 0);
      CHECK(other.sent(out) == 0);
    }
    stop = true;
    CHECK(busy.get() != 0);
  });
}
