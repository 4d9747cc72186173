// SPDX-License-Identifier: Apache-2.0
// Both ways to connect: what becomes of requests that are not accepted, and of those of equals.
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

std::future<VIP_RETURN> ask(const std::string& where, VIP_VI_HANDLE v, VIP_ULONG timeout,
                            VIP_VI_ATTRIBUTES* other = nullptr) {
  return std::async(std::launch::async, [where, v, timeout, other] {
    address here("a client"), there(where);
    return VipConnectRequest(v, here.get(), there.get(), timeout, other);
  });
}

VIP_CONN_HANDLE next_request(pair& p, VIP_VI_ATTRIBUTES* other = nullptr) {
  address here(p.where), from;
  VIP_CONN_HANDLE c = nullptr;
  REQUIRE(VipConnectWait(p.b.nic, here.get(), patience, from.get(), other, &c) == VIP_SUCCESS);
  CHECK((from.get()->HostAddressLen == 4 && from.get()->DiscriminatorLen == 8));
  return c;
}

}  // namespace

TEST_CASE("connections: a server sees the client's attributes, rejects, or takes another VI") {
  over_each_transport([](pair& p) {
    VIP_VI_ATTRIBUTES a = p.a.attributes(VIP_SERVICE_RELIABLE_RECEPTION);
    a.MaxTransferSize = 12345;
    a.EnableRdmaRead = VIP_FALSE;
    VIP_VI_HANDLE v = nullptr;
    REQUIRE(VipCreateVi(p.a.nic, &a, nullptr, nullptr, &v) == VIP_SUCCESS);

    auto asked = ask(p.where, v, patience);
    VIP_VI_ATTRIBUTES seen{};
    REQUIRE(VipConnectReject(next_request(p, &seen)) == VIP_SUCCESS);
    CHECK(asked.get() == VIP_REJECT);
    CHECK(state_of(v) == VIP_STATE_IDLE);
    CHECK((seen.ReliabilityLevel == a.ReliabilityLevel && seen.MaxTransferSize == 12345));
    CHECK((seen.EnableRdmaWrite && !seen.EnableRdmaRead && seen.Ptag == nullptr));

    VIP_VI_ATTRIBUTES same = p.b.attributes(VIP_SERVICE_RELIABLE_RECEPTION);
    same.MaxTransferSize = 12345;
    const VIP_VI_HANDLE misfit = p.b.make_vi(VIP_SERVICE_UNRELIABLE),
                        longer = p.b.make_vi(VIP_SERVICE_RELIABLE_RECEPTION);
    VIP_VI_HANDLE fits = nullptr;
    REQUIRE(VipCreateVi(p.b.nic, &same, nullptr, nullptr, &fits) == VIP_SUCCESS);
    VIP_VI_ATTRIBUTES heard{};
    asked = ask(p.where, v, patience, &heard);
    const VIP_CONN_HANDLE request = next_request(p);
    CHECK(VipConnectAccept(request, misfit) == VIP_INVALID_RELIABILITY_LEVEL);
    CHECK(VipConnectAccept(request, longer) == VIP_INVALID_MTU);
    CHECK(VipConnectAccept(request, v) == VIP_INVALID_PARAMETER);  // of the other NIC
    CHECK(VipConnectAccept(request, fits) == VIP_SUCCESS);
    REQUIRE(asked.get() == VIP_SUCCESS);
    CHECK((heard.MaxTransferSize == 12345 && heard.EnableRdmaRead));
    for (const VIP_VI_HANDLE each : {v, misfit, longer, fits}) {
      CHECK(VipDisconnect(each) == VIP_SUCCESS);
      CHECK(VipDestroyVi(each) == VIP_SUCCESS);
    }
  });
}

TEST_CASE("connections: a client that has given up is not connected") {
  over_each_transport([](pair& p) {
    const VIP_VI_HANDLE v = p.a.make_vi(VIP_SERVICE_UNRELIABLE),
                        w = p.b.make_vi(VIP_SERVICE_UNRELIABLE);
    // At a place of its own: its request may come to the server late.
    const std::string where = p.where + "-too-late";
    address here(where), from;
    VIP_CONN_HANDLE c = nullptr;
    REQUIRE(VipConnectWait(p.b.nic, here.get(), 0, from.get(), nullptr, &c) == VIP_TIMEOUT);
    CHECK(ask(where, v, 20).get() == VIP_TIMEOUT);
    CHECK(state_of(v) == VIP_STATE_IDLE);
    // Its request waits at the server, or went with it.
    if (VipConnectWait(p.b.nic, here.get(), 0, from.get(), nullptr, &c) == VIP_SUCCESS)
      CHECK(VipConnectAccept(c, w) == VIP_TIMEOUT);
    CHECK(state_of(w) == VIP_STATE_IDLE);
    // A disconnect ends a request as well.
    auto asked = ask(p.where, v, VIP_INFINITE);
    c = next_request(p);
    REQUIRE(comes_to(v, VIP_STATE_CONNECT_PENDING));
    const connection other(p, VIP_SERVICE_UNRELIABLE);
    CHECK(VipConnectReject(c) == VIP_SUCCESS);
    CHECK(asked.get() == VIP_REJECT);
    CHECK((VipDestroyVi(v) == VIP_SUCCESS && VipDestroyVi(w) == VIP_SUCCESS));
  });
}

TEST_CASE("connections: equals of different levels do not meet, and one alone times out") {
  over_each_transport([](pair& p) {
    const VIP_VI_HANDLE v = p.a.make_vi(VIP_SERVICE_UNRELIABLE),
                        w = p.b.make_vi(VIP_SERVICE_RELIABLE_DELIVERY),
                        fits = p.b.make_vi(VIP_SERVICE_UNRELIABLE);
    address one("equal one"), two("equal two");
    REQUIRE(VipConnectPeerRequest(v, one.get(), two.get(), patience) == VIP_SUCCESS);
    REQUIRE(VipConnectPeerRequest(w, two.get(), one.get(), patience) == VIP_SUCCESS);
    CHECK(VipConnectPeerWait(v, nullptr) == VIP_INVALID_RELIABILITY_LEVEL);
    CHECK(VipConnectPeerWait(w, nullptr) == VIP_INVALID_RELIABILITY_LEVEL);
    VIP_VI_ATTRIBUTES shorter = p.b.attributes(VIP_SERVICE_UNRELIABLE);
    shorter.MaxTransferSize = 12345;
    REQUIRE(VipSetViAttributes(w, &shorter) == VIP_SUCCESS);
    REQUIRE(VipConnectPeerRequest(v, one.get(), two.get(), patience) == VIP_SUCCESS);
    REQUIRE(VipConnectPeerRequest(w, two.get(), one.get(), patience) == VIP_SUCCESS);
    CHECK(VipConnectPeerWait(v, nullptr) == VIP_INVALID_MTU);
    CHECK(VipConnectPeerWait(w, nullptr) == VIP_INVALID_MTU);
    CHECK((state_of(v) == VIP_STATE_IDLE && state_of(w) == VIP_STATE_IDLE));

    REQUIRE(VipConnectPeerRequest(v, one.get(), two.get(), 1) == VIP_SUCCESS);
    VIP_RETURN r = VIP_NOT_DONE;
    while (r == VIP_NOT_DONE) r = VipConnectPeerDone(v, nullptr);
    CHECK(r == VIP_TIMEOUT);
    CHECK(VipConnectPeerDone(v, nullptr) == VIP_INVALID_STATE);

    // The second comes while the first waits, and both learn of each other.
    REQUIRE(VipConnectPeerRequest(v, one.get(), two.get(), VIP_INFINITE) == VIP_SUCCESS);
    CHECK(VipConnectPeerDone(v, nullptr) == VIP_NOT_DONE);
    REQUIRE(VipConnectPeerRequest(fits, two.get(), one.get(), VIP_INFINITE) == VIP_SUCCESS);
    VIP_VI_ATTRIBUTES seen{};
    CHECK(VipConnectPeerWait(v, &seen) == VIP_SUCCESS);
    CHECK((seen.ReliabilityLevel == VIP_SERVICE_UNRELIABLE && seen.MaxTransferSize == 1u << 20));
    CHECK(VipConnectPeerWait(fits, nullptr) == VIP_SUCCESS);
    for (const VIP_VI_HANDLE each : {v, w, fits}) {
      CHECK(VipDisconnect(each) == VIP_SUCCESS);
      CHECK(VipDestroyVi(each) == VIP_SUCCESS);
    }
  });
}
