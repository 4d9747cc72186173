// SPDX-License-Identifier: Apache-2.0
// Sleeping until an operation has ended, and counting ends.
#include <poll.h>

#include <atomic>
#include <thread>

#include "memory.hpp"

using namespace ofi_test;
using namespace std::chrono_literals;

namespace {

/// Makes progress on a side in another thread, so that the other side may sleep.
class mover {
 public:
  explicit mover(side& s)
      : thread_([this, &s] {
          fi_cq_tagged_entry e{};
          while (!over_) fi_cq_sread(s.cq.get(), &e, 1, nullptr, 1);
        }) {}
  ~mover() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("ofi: a reader sleeps until something has ended, or its time is over") {
  pair p;
  fi_cq_tagged_entry e{};
  CHECK(fi_cq_sread(p.b.cq.get(), &e, 1, nullptr, 0) == -FI_EAGAIN);
  CHECK(fi_cq_sread(p.b.cq.get(), &e, 1, nullptr, 20) == -FI_EAGAIN);
  for (int i = 0; i != 20; ++i) {
    int in = 0;
    REQUIRE(fi_recv(p.b.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, &in) == 0);
    ssize_t sent = -1;  // Catch's assertions are for one thread
    std::thread sender([&] {
      std::this_thread::sleep_for(i * 100us);
      sent = fi_inject(p.a.ep.get(), &i, sizeof i, p.to_b);
    });
    const mover a(p.a);
    CHECK(fi_cq_sread(p.b.cq.get(), &e, 1, nullptr, -1) == 1);  // a lost wake-up hangs here
    CHECK(in == i);
    sender.join();
    CHECK(sent == 0);
  }
}

TEST_CASE("ofi: remote CQ data wakes who sleeps") {
  pair p({}, 0);
  std::array<std::byte, 100> there{};
  const exposed mine(p.b, there);
  fi_cq_tagged_entry e{};
  for (unsigned i = 0; i != 20; ++i) {
    ssize_t sent = -1;
    std::thread sender([&] {
      std::this_thread::sleep_for(i * 100us);
      sent = fi_inject_writedata(p.a.ep.get(), &i, sizeof i, i, p.to_b, mine.at(0), mine.key());
    });
    const mover a(p.a);
    CHECK(fi_cq_sread(p.b.cq.get(), &e, 1, nullptr, -1) == 1);
    CHECK(e.data == i);
    sender.join();
    CHECK(sent == 0);
  }
}

TEST_CASE("ofi: a signal ends a sleep") {
  side s;
  fi_cq_tagged_entry e{};
  int signalled = -1;
  std::thread other([&] {
    std::this_thread::sleep_for(5ms);
    signalled = fi_cq_signal(s.cq.get());
  });
  CHECK(fi_cq_sread(s.cq.get(), &e, 1, nullptr, -1) == -FI_EAGAIN);
  other.join();
  CHECK(signalled == 0);
}

TEST_CASE("ofi: a descriptor tells a foreign loop") {
  settings how;
  how.waits = FI_WAIT_FD;
  pair p(how);
  int fd = -1;
  REQUIRE(fi_control(&p.b.cq->fid, FI_GETWAIT, &fd) == 0);
  const mover a(p.a);
  for (int i = 0; i != 50; ++i) {
    int in = -1;
    REQUIRE(fi_recv(p.b.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, &in) == 0);
    REQUIRE(fi_inject(p.a.ep.get(), &i, sizeof i, p.to_b) == 0);
    const auto late = std::chrono::steady_clock::now() + 30s;
    for (;;) {
      fi_cq_tagged_entry e{};
      const ssize_t n = fi_cq_read(p.b.cq.get(), &e, 1);
      if (n == 1) break;
      REQUIRE(n == -FI_EAGAIN);
      REQUIRE(std::chrono::steady_clock::now() < late);
      fid* queue = &p.b.cq->fid;
      if (fi_trywait(p.b.fabric.get(), &queue, 1) != 0) continue;
      pollfd one{fd, POLLIN, 0};
      REQUIRE(::poll(&one, 1, 30'000) == 1);
    }
    CHECK(in == i);
  }
}

TEST_CASE("ofi: counters count what has ended, and can be waited for") {
  settings s;
  s.counts = true;
  s.bind_flags |= FI_SELECTIVE_COMPLETION;
  pair p(s);
  const mover a(p.a);
  std::array<int, 10> in{};
  for (int& one : in)
    REQUIRE(fi_recv(p.b.ep.get(), &one, sizeof one, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
  CHECK(fi_cntr_wait(p.b.received.get(), 1, 10) == -FI_ETIMEDOUT);
  for (int i = 0; i != 10; ++i) REQUIRE(fi_inject(p.a.ep.get(), &i, sizeof i, p.to_b) == 0);
  CHECK(fi_cntr_wait(p.a.sent.get(), 10, 30'000) == 0);
  CHECK(fi_cntr_wait(p.b.received.get(), 10, 30'000) == 0);
  CHECK(fi_cntr_read(p.b.received.get()) == 10);
  CHECK(std::accumulate(in.begin(), in.end(), 0) == 45);

  int never = 0;
  REQUIRE(fi_trecv(p.b.ep.get(), &never, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, &never) == 0);
  REQUIRE(fi_cancel(&p.b.ep->fid, &never) == 0);
  CHECK(fi_cntr_wait(p.b.received.get(), 11, 30'000) == -FI_EAVAIL);
  CHECK(fi_cntr_readerr(p.b.received.get()) == 1);
}
