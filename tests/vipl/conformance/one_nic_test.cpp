// SPDX-License-Identifier: Apache-2.0
// Two VIs of one NIC that are connected to each other, in both ways.
#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

void exchange_in_one_nic(side& s, VIP_VI_HANDLE from, VIP_VI_HANDLE to) {
  unsigned seed = 1;
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{100'000}}) {
    CAPTURE(size);
    fill(s.data(), size, ++seed);
    VIP_DESCRIPTOR* const in = s.describe(0, {{200'000, size}});
    VIP_DESCRIPTOR* const out = s.describe(1, {{0, size}});
    REQUIRE(VipPostRecv(to, in, s.handle) == VIP_SUCCESS);
    REQUIRE(VipPostSend(from, out, s.handle) == VIP_SUCCESS);
    VIP_DESCRIPTOR* d = nullptr;
    REQUIRE(VipRecvWait(to, patience, &d) == VIP_SUCCESS);
    REQUIRE((d == in && d->CS.Length == size && filled(s.data(200'000), size, seed)));
    REQUIRE(VipSendWait(from, patience, &d) == VIP_SUCCESS);
    REQUIRE(d == out);
  }
  fill(s.data(), 50'000, 77);
  VIP_DESCRIPTOR* const write =
      s.describe_rdma(0, VIP_CONTROL_OP_RDMAWRITE, s, 400'000, {{0, 50'000}});
  REQUIRE(VipPostSend(from, write, s.handle) == VIP_SUCCESS);
  VIP_DESCRIPTOR* d = nullptr;
  REQUIRE(VipSendWait(from, patience, &d) == VIP_SUCCESS);
  REQUIRE(filled(s.data(400'000), 50'000, 77));
}

void end_in_one_nic(VIP_VI_HANDLE one, VIP_VI_HANDLE two) {
  REQUIRE(VipDisconnect(one) == VIP_SUCCESS);
  REQUIRE(comes_to(two, VIP_STATE_ERROR));
  REQUIRE(VipDisconnect(two) == VIP_SUCCESS);
  REQUIRE(VipDestroyVi(one) == VIP_SUCCESS);
  REQUIRE(VipDestroyVi(two) == VIP_SUCCESS);
}

}  // namespace

TEST_CASE("one NIC: two of its VIs are connected as client and server, and as equals") {
  at_each_level([](pair& p, level l) {
    {
      const VIP_VI_HANDLE one = p.b.make_vi(l), two = p.b.make_vi(l);
      connect_by_request(p, one, two);
      exchange_in_one_nic(p.b, one, two);
      exchange_in_one_nic(p.b, two, one);
      end_in_one_nic(one, two);
    }
    const VIP_VI_HANDLE one = p.b.make_vi(l), two = p.b.make_vi(l);
    address first("one"), second("two");
    REQUIRE(VipConnectPeerRequest(one, first.get(), second.get(), patience) == VIP_SUCCESS);
    REQUIRE(VipConnectPeerRequest(two, second.get(), first.get(), patience) == VIP_SUCCESS);
    REQUIRE(VipConnectPeerWait(one, nullptr) == VIP_SUCCESS);
    REQUIRE(VipConnectPeerWait(two, nullptr) == VIP_SUCCESS);
    exchange_in_one_nic(p.b, one, two);
    end_in_one_nic(one, two);
  });
}
