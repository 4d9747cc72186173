// SPDX-License-Identifier: Apache-2.0
// The states of a VI: what each call returns in each of them.
#include <future>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

constexpr VIP_VI_STATE idle = VIP_STATE_IDLE, pending = VIP_STATE_CONNECT_PENDING,
                       connected = VIP_STATE_CONNECTED, failed = VIP_STATE_ERROR;
constexpr VIP_RETURN success = VIP_SUCCESS, not_done = VIP_NOT_DONE, timeout = VIP_TIMEOUT,
                     wrong = VIP_INVALID_STATE;

struct in_states {
  const char* what;
  VIP_RETURN (*call)(side&, VIP_VI_HANDLE);
  VIP_RETURN idle, pending, connected, failed;
};

/// The receive that is posted in each state is taken back at its end.
const in_states table[] = {
    {"VipPostSend",
     [](side& s, VIP_VI_HANDLE v) { return VipPostSend(v, s.describe(0, {}), s.handle); }, wrong,
     wrong, success, success},
    {"VipPostRecv",
     [](side& s, VIP_VI_HANDLE v) { return VipPostRecv(v, s.describe(1, {}), s.handle); }, success,
     success, success, success},
    {"VipConnectRequest",
     [](side&, VIP_VI_HANDLE v) {
       address here("x"), there("without a listener");
       return VipConnectRequest(v, here.get(), there.get(), patience, nullptr);
     },
     VIP_NO_MATCH, wrong, wrong, wrong},
    {"VipConnectPeerRequest",
     [](side&, VIP_VI_HANDLE v) {
       address here("x"), there("y");
       const VIP_RETURN r = VipConnectPeerRequest(v, here.get(), there.get(), 0);
       return r == VIP_SUCCESS ? VipConnectPeerWait(v, nullptr) : r;
     },
     timeout, wrong, wrong, wrong},
    {"VipConnectPeerDone", [](side&, VIP_VI_HANDLE v) { return VipConnectPeerDone(v, nullptr); },
     wrong, not_done, wrong, wrong},
    {"VipSetViAttributes",
     [](side& s, VIP_VI_HANDLE v) {
       VIP_VI_ATTRIBUTES a = s.attributes(VIP_SERVICE_RELIABLE_DELIVERY);
       return VipSetViAttributes(v, &a);
     },
     success, wrong, wrong, wrong},
    {"VipDestroyVi", [](side&, VIP_VI_HANDLE v) { return VipDestroyVi(v); }, VIP_ERROR_RESOURCE,
     wrong, wrong, wrong},
};

void check_table(side& s, VIP_VI_HANDLE v, VIP_RETURN in_states::*column) {
  for (const in_states& row : table) {
    INFO(row.what);
    CHECK(row.call(s, v) == row.*column);
  }
}

/// What is posted comes back in order when the VI leaves its state.
void comes_back(VIP_VI_HANDLE v, std::size_t sends, std::size_t receives) {
  REQUIRE(VipDisconnect(v) == VIP_SUCCESS);
  CHECK(state_of(v) == idle);
  CHECK(take_all(v, false) == sends);
  CHECK(take_all(v, true) == receives);
  VIP_BOOLEAN no_sends = VIP_FALSE, no_receives = VIP_FALSE;
  CHECK(VipQueryVi(v, nullptr, nullptr, &no_sends, &no_receives) == VIP_SUCCESS);
  CHECK((no_sends && no_receives));
  VIP_DESCRIPTOR* d = nullptr;
  CHECK(VipSendWait(v, patience, &d) == VIP_NOT_DONE);
  CHECK(VipRecvWait(v, patience, &d) == VIP_NOT_DONE);
  CHECK(d == nullptr);
}

}  // namespace

TEST_CASE("states: each call in each state of a VI, and what is posted comes back") {
  over_each_transport([](pair& p) {
    constexpr level l = VIP_SERVICE_RELIABLE_DELIVERY;
    const VIP_VI_HANDLE v = p.a.make_vi(l);
    {
      INFO("idle");
      CHECK(state_of(v) == idle);
      check_table(p.a, v, &in_states::idle);
      comes_back(v, 0, 1);
    }
    {
      INFO("connect pending");
      address here("this"), there("that never comes");
      REQUIRE(VipConnectPeerRequest(v, here.get(), there.get(), VIP_INFINITE) == VIP_SUCCESS);
      CHECK(state_of(v) == pending);
      check_table(p.a, v, &in_states::pending);
      comes_back(v, 0, 1);
    }
    const VIP_VI_HANDLE w = p.b.make_vi(l);
    {
      const connection c(p, v, w);
      {
        INFO("connected");
        CHECK(state_of(v) == connected);
        check_table(p.a, v, &in_states::connected);
      }
      // The send has found no descriptor.
      INFO("error");
      CHECK(comes_to(v, failed));
      CHECK(comes_to(w, failed));
      check_table(p.a, v, &in_states::failed);
      comes_back(v, 2, 2);
    }
    REQUIRE(p.b.has_reported(VIP_ERROR_RECVQ_EMPTY, w));
  });
}

TEST_CASE("states: one VI is connected many times, in both ways") {
  at_each_level([](pair& p, level l) {
    const VIP_VI_HANDLE v = p.a.make_vi(l), w = p.b.make_vi(l);
    for (unsigned i = 0; i != 6; ++i) {
      CAPTURE(i);
      for (std::size_t n = 0; n != 2; ++n)
        REQUIRE(VipPostRecv(w, p.b.describe(n, {{n * 20'000, 20'000}}), p.b.handle) == VIP_SUCCESS);
      if (i % 2 == 0) {
        auto asked = std::async(std::launch::async, [&] {
          address here("client"), there(p.where);
          return VipConnectRequest(v, here.get(), there.get(), patience, nullptr);
        });
        address here(p.where), who;
        VIP_CONN_HANDLE c = nullptr;
        REQUIRE(VipConnectWait(p.b.nic, here.get(), patience, who.get(), nullptr, &c) ==
                VIP_SUCCESS);
        REQUIRE(VipConnectAccept(c, w) == VIP_SUCCESS);
        REQUIRE(asked.get() == VIP_SUCCESS);
      } else {
        address one("one"), two("two");
        REQUIRE(VipConnectPeerRequest(v, one.get(), two.get(), patience) == VIP_SUCCESS);
        REQUIRE(VipConnectPeerRequest(w, two.get(), one.get(), patience) == VIP_SUCCESS);
        REQUIRE(VipConnectPeerWait(w, nullptr) == VIP_SUCCESS);
        REQUIRE(VipConnectPeerWait(v, nullptr) == VIP_SUCCESS);
      }
      fill(p.a.data(), 15'000, i);
      REQUIRE(VipPostSend(v, p.a.describe(0, {{0, 15'000}}), p.a.handle) == VIP_SUCCESS);
      VIP_DESCRIPTOR* d = nullptr;
      REQUIRE(VipRecvWait(w, patience, &d) == VIP_SUCCESS);
      CHECK(filled(p.b.data(), 15'000, i));
      REQUIRE(VipSendWait(v, patience, &d) == VIP_SUCCESS);
      // Either side leaves first.
      REQUIRE(VipDisconnect(i % 3 == 0 ? v : w) == VIP_SUCCESS);
      CHECK(comes_to(i % 3 == 0 ? w : v, failed));
      REQUIRE(VipDisconnect(i % 3 == 0 ? w : v) == VIP_SUCCESS);
      REQUIRE(VipRecvDone(w, &d) == VIP_DESCRIPTOR_ERROR);
      CHECK(error_of(d) == VIP_STATUS_DESC_FLUSHED_ERROR);
    }
    REQUIRE(VipDestroyVi(v) == VIP_SUCCESS);
    REQUIRE(VipDestroyVi(w) == VIP_SUCCESS);
  });
}
