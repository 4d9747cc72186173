// SPDX-License-Identifier: Apache-2.0
// Errors that only error handlers hear of: codes that no test of another subject raises. The
// transport error of RDMA is in programs/death.c, and the end of memory in memory.cpp.
#include <future>

#include <weft/weft.hpp>

#include "../wire_peer.hpp"
#include "bindings/vipl/base/wire.hpp"
#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;
using namespace weft::vipl;

namespace {

/// Memory with a tag of its own that can be taken away.
struct borrowed_memory {
  explicit borrowed_memory(side& s) : of(s) {
    REQUIRE(VipCreatePtag(s.nic, &other) == VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES a{s.tag, VIP_FALSE, VIP_FALSE};
    REQUIRE(VipAllocateMem(s.nic, &at, 65'536, &a, &handle) == VIP_SUCCESS);
  }
  ~borrowed_memory() {
    CHECK(VipFreeMem(of.nic, at, handle) == VIP_SUCCESS);
    CHECK(VipDestroyPtag(of.nic, other) == VIP_SUCCESS);
  }
  borrowed_memory(const borrowed_memory&) = delete;
  borrowed_memory& operator=(const borrowed_memory&) = delete;
  void take_away() {
    VIP_MEM_ATTRIBUTES a{other, VIP_FALSE, VIP_FALSE};
    REQUIRE(VipSetMemAttributes(of.nic, at, handle, &a) == VIP_SUCCESS);
  }

  side& of;
  VIP_PROTECTION_HANDLE other = nullptr;
  VIP_PVOID at = nullptr;
  VIP_MEM_HANDLE handle = 0;
};

}  // namespace

TEST_CASE("errors: a receive whose memory has lost its tag cannot be completed") {
  at_each_level([](pair& p, level l) {
    for (const std::size_t size : {0U, 8U, 30'000U}) {
      CAPTURE(size);
      p.b.forget_reports();
      borrowed_memory m(p.b);
      connection c(p, l);
      VIP_DESCRIPTOR* const in = p.b.describe(0, {{0, 40'000}});
      in->DS[0].Local.Data.Address = m.at;
      in->DS[0].Local.Handle = m.handle;
      c.receive(in);
      fill(static_cast<std::byte*>(m.at), 40'000, 1);
      m.take_away();
      VIP_DESCRIPTOR* const d = p.a.describe(0, {{0, size}});
      c.send(d);
      CHECK(c.received(in) == VIP_STATUS_PROTECTION_ERROR);
      CHECK(p.b.has_reported(VIP_ERROR_COMP_PROT, c.to));
      CHECK(c.sent(d) == (l == VIP_SERVICE_RELIABLE_RECEPTION ? VIP_STATUS_REMOTE_DESC_ERROR : 0U));
      CHECK(filled(static_cast<std::byte*>(m.at), 40'000, 1));
      CHECK((l == VIP_SERVICE_UNRELIABLE ? c.connected() : c.broken()));
    }
  });
}

TEST_CASE("errors: who leaves in the middle of a write tells the memory's side") {
  at_each_level([](pair& p, level l) {
    // The write may have ended before: then there is nothing to tell, and the next one is tried.
    for (std::size_t n = 0;; ++n) {
      REQUIRE(n != 1000);
      p.b.forget_reports();
      connection c(p, l);
      VIP_DESCRIPTOR* const d =
          p.a.describe_rdma(0, VIP_CONTROL_OP_RDMAWRITE, p.b, 0, {{0, 1'000'000}});
      c.send(d);
      REQUIRE(VipDisconnect(c.from) == VIP_SUCCESS);
      REQUIRE(comes_to(c.to, VIP_STATE_ERROR));
      const std::uint32_t outcome = c.sent(d);
      if (outcome == 0) continue;
      CHECK(outcome == VIP_STATUS_DESC_FLUSHED_ERROR);
      CHECK(p.b.has_reported(VIP_ERROR_RDMAW_ABORT, c.to));
      break;
    }
  });
}

namespace {

/// Connects, and announces a write that is longer than was agreed.
weft::task<void> announce_wrongly(weft::context& ctx, std::string address, level l) {
  weft::channel<introduction> met{1};
  const weft::handler hears =
      ctx.on(weft::am{handler_number}, [&](weft::call c) -> weft::task<void> {
        reader in(c.data());
        const auto h = in.take<header>();
        const auto who = in.take<introduction>();
        if (h && who && h->what == message::connected) co_await met.send(introduction(*who));
      });
  const weft::endpoint to = co_await ctx.connect(address, request_of_peer(l));
  const std::optional<introduction> victim = co_await met.receive();
  const header agreed{victim->vi, victim->epoch, message::agreed, 0, 0, 0};
  co_await to.post_bytes(weft::am{handler_number}, std::as_bytes(std::span(&agreed, 1)));
  const header wrong{victim->vi, victim->epoch, message::written, with_immediate, 3U << 30, 7};
  co_await to.post_bytes(weft::am{handler_number}, std::as_bytes(std::span(&wrong, 1)));
}

}  // namespace

TEST_CASE("errors: a write that is not what was agreed is an error of its data") {
  at_each_level([](pair& p, level l) {
    weft::options o = weft::options::from_environment();
    o.standalone = true;
    weft::context ctx(o);
    auto over = std::async(std::launch::async, [&] {
      run(ctx, announce_wrongly(ctx, address_of_listener(p.where), l));
    });
    address here(p.where), who;
    VIP_CONN_HANDLE asked = nullptr;
    VIP_VI_ATTRIBUTES a = p.b.attributes(l), other{};
    REQUIRE(VipConnectWait(p.b.nic, here.get(), patience, who.get(), &other, &asked) ==
            VIP_SUCCESS);
    a.MaxTransferSize = other.MaxTransferSize;
    VIP_VI_HANDLE v = nullptr;
    REQUIRE(VipCreateVi(p.b.nic, &a, nullptr, nullptr, &v) == VIP_SUCCESS);
    VIP_DESCRIPTOR* const in = p.b.describe(0, {{0, 8}});
    REQUIRE(VipPostRecv(v, in, p.b.handle) == VIP_SUCCESS);
    p.b.forget_reports();
    REQUIRE(VipConnectAccept(asked, v) == VIP_SUCCESS);
    VIP_DESCRIPTOR* got = nullptr;
    CHECK(VipRecvWait(v, patience, &got) == VIP_DESCRIPTOR_ERROR);
    CHECK(error_of(in) == VIP_STATUS_TRANSPORT_ERROR);
    CHECK(p.b.has_reported(VIP_ERROR_RDMAW_DATA, v));
    over.get();
    CHECK(VipDisconnect(v) == VIP_SUCCESS);
    CHECK(VipDestroyVi(v) == VIP_SUCCESS);
  });
}
