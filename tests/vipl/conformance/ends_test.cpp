// SPDX-License-Identifier: Apache-2.0
// The end of a connection: all that is posted comes back once, in order, and to the completion
// queue as well.
#include <future>
#include <new>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

enum class cause { client_leaves, server_leaves, error_of_client, error_of_server };
constexpr cause causes[] = {cause::client_leaves, cause::server_leaves, cause::error_of_client,
                            cause::error_of_server};

constexpr std::size_t posted = 40, long_one = 9000;

/// The oldest receive of a VI, by its completion queue if it has one.
VIP_RETURN next_receive(VIP_VI_HANDLE v, VIP_CQ_HANDLE queue, VIP_DESCRIPTOR** d) {
  if (!queue) return VipRecvWait(v, patience, d);
  VIP_VI_HANDLE which = nullptr;
  VIP_BOOLEAN receives = VIP_FALSE;
  REQUIRE(VipCQWait(queue, patience, &which, &receives) == VIP_SUCCESS);
  CHECK((which == v && receives));
  return VipRecvDone(v, d);
}

void end_by(connection& c, cause why, VIP_CQ_HANDLE of_server) {
  side& a = c.of.a;
  side& b = c.of.b;
  VIP_DESCRIPTOR* wrong = nullptr;
  switch (why) {
    case cause::client_leaves:
      REQUIRE(VipDisconnect(c.from) == VIP_SUCCESS);
      break;
    case cause::server_leaves:
      REQUIRE(VipDisconnect(c.to) == VIP_SUCCESS);
      break;
    case cause::error_of_client:
      wrong = a.describe(100, {{0, 8}});
      wrong->CS.SegCount = 100;
      c.send(wrong);
      CHECK(c.sent(wrong) == VIP_STATUS_FORMAT_ERROR);
      break;
    case cause::error_of_server:
      wrong = b.describe(100, {{0, 8}});
      wrong->CS.SegCount = 100;
      c.receive(wrong);  // complete at once, so before those that wait
      VIP_DESCRIPTOR* got = nullptr;
      CHECK(next_receive(c.to, of_server, &got) == VIP_DESCRIPTOR_ERROR);
      CHECK((got == wrong && error_of(wrong) == VIP_STATUS_FORMAT_ERROR));
      break;
  }
}

/// Waits for the oldest receive, which is for the message. \return its bits of errors
std::uint32_t take_first(side& s, VIP_VI_HANDLE v, VIP_CQ_HANDLE queue) {
  VIP_DESCRIPTOR* d = nullptr;
  const VIP_RETURN code = next_receive(v, queue, &d);
  REQUIRE((code == VIP_SUCCESS || code == VIP_DESCRIPTOR_ERROR));
  CHECK(d->DS[0].Local.Data.Address == s.data(0));
  return error_of(d);
}

/// Takes receives until the last of them; they are flushed, and in order.
void all_flushed(side& s, VIP_VI_HANDLE v, VIP_CQ_HANDLE queue, std::size_t first) {
  for (std::size_t i = first; i != posted; ++i) {
    CAPTURE(i);
    VIP_DESCRIPTOR* d = nullptr;
    REQUIRE(next_receive(v, queue, &d) == VIP_DESCRIPTOR_ERROR);
    CHECK(d->DS[0].Local.Data.Address == s.data(i * 20'000));
    CHECK(d->CS.Status ==
          (VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | VIP_STATUS_DESC_FLUSHED_ERROR));
  }
  VIP_DESCRIPTOR* d = nullptr;
  CHECK(VipRecvDone(v, &d) == VIP_NOT_DONE);
}

void flush(pair& p, level l, cause why) {
  VIP_CQ_HANDLE queue = nullptr;
  REQUIRE(VipCreateCQ(p.b.nic, 2 * posted, &queue) == VIP_SUCCESS);
  {
    connection c(p, p.a.make_vi(l), p.b.make_vi(l, queue, queue));
    for (std::size_t i = 0; i != posted; ++i) {
      REQUIRE(VipPostRecv(c.to, p.b.describe(i, {{i * 20'000, long_one}}), p.b.handle) ==
              VIP_SUCCESS);
      REQUIRE(VipPostRecv(c.from, p.a.describe(i, {{i * 20'000, 10}}), p.a.handle) == VIP_SUCCESS);
    }
    VIP_DESCRIPTOR* const good = p.a.describe(posted, {{0, long_one}});
    c.send(good);
    CHECK(take_first(p.b, c.to, queue) == 0);
    CHECK(c.sent(good) == 0);
    end_by(c, why, queue);
    all_flushed(p.a, c.from, nullptr, 0);
    all_flushed(p.b, c.to, queue, 1);
    VIP_VI_HANDLE which = nullptr;
    VIP_BOOLEAN receives = VIP_FALSE;
    CHECK(VipCQDone(queue, &which, &receives) == VIP_NOT_DONE);
  }
  REQUIRE(VipDestroyCQ(queue) == VIP_SUCCESS);
}

}  // namespace

TEST_CASE("ends: what is posted comes back in order after a disconnect or an error") {
  at_each_level([](pair& p, level l) {
    for (const cause why : causes) {
      if (l == VIP_SERVICE_UNRELIABLE && why >= cause::error_of_client) continue;  // it stays
      CAPTURE(static_cast<int>(why));
      flush(p, l, why);
    }
  });
}

TEST_CASE("ends: sends in flight come back when either side leaves in the middle") {
  at_each_level([](pair& p, level l) {
    for (const bool client_leaves : {true, false}) {
      CAPTURE(client_leaves);
      connection c(p, l);
      constexpr std::size_t sends = 60;
      // Fewer receives than sends, some of them long: the client asks for the others.
      for (std::size_t i = 0; i != sends / 2; ++i)
        c.receive(p.b.describe(i, {{i * 50'000, 50'000}}));
      for (std::size_t i = 0; i != sends; ++i)
        c.send(p.a.describe(
            i, {{i * 50'000, i % 2 == 0 ? std::size_t{50'000} : std::size_t{20'000}}}));
      REQUIRE(VipDisconnect(client_leaves ? c.from : c.to) == VIP_SUCCESS);
      for (std::size_t i = 0; i != sends; ++i) {
        CAPTURE(i);
        VIP_DESCRIPTOR* d = nullptr;
        const VIP_RETURN code = VipSendWait(c.from, patience, &d);
        REQUIRE((code == VIP_SUCCESS || code == VIP_DESCRIPTOR_ERROR));
        CHECK(d->DS[0].Local.Data.Address == p.a.data(i * 50'000));
      }
      for (std::size_t i = 0; i != sends / 2; ++i) {
        CAPTURE(i);
        VIP_DESCRIPTOR* d = nullptr;
        const VIP_RETURN code = VipRecvWait(c.to, patience, &d);
        REQUIRE((code == VIP_SUCCESS || code == VIP_DESCRIPTOR_ERROR));
        CHECK(d->DS[0].Local.Data.Address == p.b.data(i * 50'000));
      }
    }
  });
}

TEST_CASE("ends: a NIC is closed with connections, queues, requests and memory in it") {
  over_each_transport([](pair& p) {
    VIP_NIC_HANDLE nic = nullptr;
    REQUIRE(VipOpenNic("short", &nic) == VIP_SUCCESS);
    VIP_PROTECTION_HANDLE tag = nullptr;
    REQUIRE(VipCreatePtag(nic, &tag) == VIP_SUCCESS);
    constexpr VIP_CQ_CALLBACK never = [](VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN) {};
    VIP_CQ_HANDLE queue = nullptr, unused = nullptr;
    REQUIRE(VipCreateCQ(nic, 8, &queue) == VIP_SUCCESS);
    REQUIRE(VipCreateCQ(nic, 8, &unused) == VIP_SUCCESS);
    REQUIRE(VipCQNotify(unused, nullptr, never) == VIP_SUCCESS);
    VIP_VI_ATTRIBUTES a = p.a.attributes(VIP_SERVICE_RELIABLE_DELIVERY);
    a.Ptag = tag;
    VIP_VI_HANDLE pending = nullptr, connected = nullptr, idle = nullptr;
    REQUIRE(VipCreateVi(nic, &a, nullptr, nullptr, &pending) == VIP_SUCCESS);
    REQUIRE(VipCreateVi(nic, &a, queue, queue, &connected) == VIP_SUCCESS);
    REQUIRE(VipCreateVi(nic, &a, nullptr, queue, &idle) == VIP_SUCCESS);
    address here("of a short life"), there("never there");
    REQUIRE(VipConnectPeerRequest(pending, here.get(), there.get(), VIP_INFINITE) == VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES m{tag, VIP_TRUE, VIP_TRUE};
    VIP_PVOID memory = nullptr;
    VIP_MEM_HANDLE handle = 0;
    REQUIRE(VipAllocateMem(nic, &memory, 100'000, &m, &handle) == VIP_SUCCESS);
    const VIP_VI_HANDLE peer = p.b.make_vi(VIP_SERVICE_RELIABLE_DELIVERY);
    connect_by_request(p, connected, peer);
    // A send that is complete, and whose entry no call takes.
    auto* const d = new (memory) VIP_DESCRIPTOR{};
    REQUIRE(VipPostRecv(peer, p.b.describe(0, {}), p.b.handle) == VIP_SUCCESS);
    REQUIRE(VipPostSend(connected, d, handle) == VIP_SUCCESS);
    VIP_DESCRIPTOR* got = nullptr;
    REQUIRE(VipRecvWait(peer, patience, &got) == VIP_SUCCESS);

    // A request that is taken and not answered, and one that is not taken.
    const VIP_VI_HANDLE first = p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY),
                        second = p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY);
    address at(p.where + "-short"), from;
    VIP_CONN_HANDLE request = nullptr;
    REQUIRE(VipConnectWait(nic, at.get(), 0, from.get(), nullptr, &request) == VIP_TIMEOUT);
    const auto ask = [where = p.where + "-short"](VIP_VI_HANDLE v) {
      address client("client"), server(where);
      return VipConnectRequest(v, client.get(), server.get(), patience, nullptr);
    };
    auto asked = std::async(std::launch::async, ask, first);
    REQUIRE(VipConnectWait(nic, at.get(), patience, from.get(), nullptr, &request) == VIP_SUCCESS);
    auto asked_too = std::async(std::launch::async, ask, second);
    REQUIRE(comes_to(second, VIP_STATE_CONNECT_PENDING));

    REQUIRE(VipCloseNic(nic) == VIP_SUCCESS);
    for (auto* const result : {&asked, &asked_too}) {
      const VIP_RETURN r = result->get();
      CAPTURE(static_cast<int>(r));
      CHECK((r == VIP_REJECT || r == VIP_NO_MATCH || r == VIP_NOT_REACHABLE));
    }
    CHECK(comes_to(peer, VIP_STATE_ERROR));

    // A handle of what has ended with the NIC is refused.
    VIP_VI_HANDLE which = nullptr;
    VIP_BOOLEAN receives = VIP_FALSE;
    CHECK(VipCQDone(queue, &which, &receives) == VIP_INVALID_PARAMETER);
    CHECK(VipDestroyCQ(queue) == VIP_INVALID_PARAMETER);
    CHECK(VipDestroyCQ(unused) == VIP_INVALID_PARAMETER);
    CHECK(VipConnectReject(request) == VIP_INVALID_PARAMETER);
    CHECK(VipSendDone(connected, &got) == VIP_INVALID_PARAMETER);
    CHECK(VipDestroyVi(idle) == VIP_INVALID_PARAMETER);
    CHECK(VipDestroyPtag(p.a.nic, tag) == VIP_INVALID_PARAMETER);
    CHECK(VipFreeMem(nic, memory, handle) == VIP_INVALID_PARAMETER);
    CHECK(VipCloseNic(nic) == VIP_INVALID_PARAMETER);
    CHECK(VipDisconnect(peer) == VIP_SUCCESS);
    for (const VIP_VI_HANDLE v : {peer, first, second}) CHECK(VipDestroyVi(v) == VIP_SUCCESS);
  });
}
