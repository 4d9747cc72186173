// SPDX-License-Identifier: Apache-2.0
// Completion queues: many VIs share one, its size, and notifications of queues and of VIs.
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

class shared_queue {
 public:
  shared_queue(side& s, VIP_ULONG entries) {
    REQUIRE(VipCreateCQ(s.nic, entries, &handle) == VIP_SUCCESS);
  }
  ~shared_queue() { CHECK(VipDestroyCQ(handle) == VIP_SUCCESS); }
  shared_queue(const shared_queue&) = delete;
  shared_queue& operator=(const shared_queue&) = delete;
  VIP_CQ_HANDLE handle = nullptr;
};

struct entry {
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN receives = VIP_FALSE;
};

entry next_entry(VIP_CQ_HANDLE q) {
  entry e;
  REQUIRE(VipCQWait(q, patience, &e.vi, &e.receives) == VIP_SUCCESS);
  return e;
}

/// A message of no bytes arrives at the connection's server.
void deliver(connection& c, std::size_t n) {
  VIP_DESCRIPTOR* const d = c.of.a.describe(n, {});
  c.receive(c.of.b.describe(n, {}));
  c.send(d);
  CHECK(c.sent(d) == 0);
}

}  // namespace

TEST_CASE("queues: sends and receives of many VIs complete through one queue") {
  at_each_level([](pair& p, level l) {
    constexpr std::size_t vis = 8, rounds = 4;
    const shared_queue at_a(p.a, 100), at_b(p.b, 100);
    std::vector<std::unique_ptr<connection>> all;
    for (std::size_t i = 0; i != vis; ++i) {
      // The last one has queues of its own at one side, the sends at the other.
      const VIP_CQ_HANDLE sends = at_a.handle, receives = i + 1 == vis ? nullptr : at_b.handle;
      all.push_back(std::make_unique<connection>(p, p.a.make_vi(l, sends, nullptr),
                                                 p.b.make_vi(l, nullptr, receives)));
    }
    CHECK(VipDestroyCQ(at_b.handle) == VIP_ERROR_RESOURCE);
    for (std::size_t r = 0; r != rounds; ++r)
      for (std::size_t i = 0; i != vis; ++i) {
        all[i]->receive(p.b.describe(r * vis + i, {}));
        all[i]->send(p.a.describe(r * vis + i, {}));
      }
    std::map<VIP_VI_HANDLE, std::size_t> sent, received;
    VIP_DESCRIPTOR* d = nullptr;
    for (std::size_t n = 0; n != vis * rounds; ++n) {
      const entry e = next_entry(at_a.handle);
      CHECK(!e.receives);
      REQUIRE(VipSendDone(e.vi, &d) == VIP_SUCCESS);
      ++sent[e.vi];
    }
    for (std::size_t n = 0; n != (vis - 1) * rounds; ++n) {
      const entry e = next_entry(at_b.handle);
      CHECK(e.receives);
      REQUIRE(VipRecvDone(e.vi, &d) == VIP_SUCCESS);
      ++received[e.vi];
    }
    for (std::size_t i = 0; i != vis; ++i) {
      CHECK(sent[all[i]->from] == rounds);
      CHECK(received[all[i]->to] == (i + 1 == vis ? 0 : rounds));
    }
    for (std::size_t n = 0; n != rounds; ++n)
      CHECK(VipRecvWait(all.back()->to, patience, &d) == VIP_SUCCESS);
    entry none;
    CHECK(VipCQDone(at_b.handle, &none.vi, &none.receives) == VIP_NOT_DONE);
    CHECK(VipCQWait(at_a.handle, 1, &none.vi, &none.receives) == VIP_TIMEOUT);
  });
}

TEST_CASE("queues: a queue with entries is resized, and more of them are kept and reported once") {
  over_each_transport([](pair& p) {
    const shared_queue q(p.b, 4);
    connection c(p, p.a.make_vi(VIP_SERVICE_RELIABLE_RECEPTION),
                 p.b.make_vi(VIP_SERVICE_RELIABLE_RECEPTION, nullptr, q.handle));
    for (std::size_t i = 0; i != 3; ++i) deliver(c, i);
    CHECK(VipResizeCQ(q.handle, 2) == VIP_ERROR_RESOURCE);
    CHECK(VipResizeCQ(q.handle, 3) == VIP_SUCCESS);
    CHECK(p.b.reports() == 0);
    deliver(c, 3);
    deliver(c, 4);
    CHECK(p.b.has_reported(VIP_ERROR_VI_OVERRUN, c.to));
    CHECK(p.b.reports() == 1);
    CHECK(VipResizeCQ(q.handle, 6) == VIP_SUCCESS);
    deliver(c, 5);
    for (std::size_t i = 0; i != 6; ++i) {
      const entry e = next_entry(q.handle);
      CHECK((e.vi == c.to && e.receives));
      VIP_DESCRIPTOR* d = nullptr;
      REQUIRE(VipRecvDone(c.to, &d) == VIP_SUCCESS);
      CHECK(d == p.b.describe(i, {}));
    }
    CHECK(p.b.reports() == 1);
  });
}

TEST_CASE("queues: a queue that has a completion queue is waited for there only") {
  over_each_transport([](pair& p) {
    const shared_queue q(p.b, 4);
    const VIP_VI_HANDLE receiver = p.b.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, q.handle);
    connection c(p, p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY), receiver);
    VIP_DESCRIPTOR* d = nullptr;
    CHECK(VipRecvWait(c.to, 0, &d) == VIP_INVALID_PARAMETER);
    deliver(c, 0);
    CHECK(VipRecvWait(c.to, patience, &d) == VIP_INVALID_PARAMETER);
    CHECK(next_entry(q.handle).vi == c.to);
    CHECK(VipRecvDone(c.to, &d) == VIP_SUCCESS);
    CHECK(VipSendWait(c.to, 0, &d) == VIP_TIMEOUT);  // its sends have none
    const VIP_VI_HANDLE sender = p.b.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, q.handle, nullptr);
    CHECK(VipSendWait(sender, 0, &d) == VIP_INVALID_PARAMETER);
    CHECK(VipRecvWait(sender, 0, &d) == VIP_NOT_DONE);
    CHECK(VipDestroyVi(sender) == VIP_SUCCESS);
  });
}

namespace {

struct calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<entry> entries;
  std::vector<VIP_DESCRIPTOR*> descriptors;

  static void on_entry(VIP_PVOID self, VIP_NIC_HANDLE, VIP_VI_HANDLE v, VIP_BOOLEAN receives) {
    auto& c = *static_cast<calls*>(self);
    const std::lock_guard lock(c.mutex);
    c.entries.push_back({v, receives});
    c.changed.notify_all();
  }
  static void on_descriptor(VIP_PVOID self, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR* d) {
    auto& c = *static_cast<calls*>(self);
    const std::lock_guard lock(c.mutex);
    c.descriptors.push_back(d);
    c.changed.notify_all();
  }
  bool come_to(std::size_t e, std::size_t d) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::milliseconds(patience),
                            [&] { return entries.size() == e && descriptors.size() == d; });
  }
};

}  // namespace

TEST_CASE("queues: each request for a notification is answered by one call, before or after") {
  over_each_transport([](pair& p) {
    calls heard;
    const shared_queue q(p.b, 10);
    connection c(p, p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY),
                 p.b.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, q.handle));
    // Two requests before the entries, one after.
    for (int i = 0; i != 2; ++i)
      REQUIRE(VipCQNotify(q.handle, &heard, &calls::on_entry) == VIP_SUCCESS);
    for (std::size_t i = 0; i != 4; ++i) deliver(c, i);
    REQUIRE(heard.come_to(2, 0));
    entry e = next_entry(q.handle);
    REQUIRE(VipCQNotify(q.handle, &heard, &calls::on_entry) == VIP_SUCCESS);
    REQUIRE(heard.come_to(3, 0));
    CHECK(VipCQDone(q.handle, &e.vi, &e.receives) == VIP_NOT_DONE);
    // Descriptors have stayed; those of notifications are taken.
    REQUIRE(VipRecvNotify(c.to, &heard, &calls::on_descriptor) == VIP_SUCCESS);
    REQUIRE(heard.come_to(3, 1));
    VIP_DESCRIPTOR* d = nullptr;
    for (int i = 0; i != 3; ++i) CHECK(VipRecvDone(c.to, &d) == VIP_SUCCESS);
    CHECK(VipRecvDone(c.to, &d) == VIP_NOT_DONE);
    REQUIRE(VipSendNotify(c.from, &heard, &calls::on_descriptor) == VIP_SUCCESS);
    VIP_DESCRIPTOR* const send = p.a.describe(9, {});
    c.receive(p.b.describe(9, {}));
    c.send(send);
    REQUIRE(heard.come_to(3, 2));
    CHECK(heard.descriptors.back() == send);
    // One that is never answered ends with its VI.
    REQUIRE(VipRecvNotify(c.from, &heard, &calls::on_descriptor) == VIP_SUCCESS);
    next_entry(q.handle);
    CHECK(VipRecvDone(c.to, &d) == VIP_SUCCESS);
  });
}
