// SPDX-License-Identifier: Apache-2.0
// Which message an answer is for. The peer of the NIC speaks the format with weft's own calls, so
// that it can answer late.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "../wire_peer.hpp"
#include "bindings/vipl/base/wire.hpp"
#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;
using namespace weft::vipl;

namespace {

constexpr std::size_t long_size = 60'000;  // such a message needs a descriptor of the peer

/// Only its own thread uses it while that runs.
class late_peer {
 public:
  explicit late_peer(weft::context& c) : ctx_(c) {
    hears_ = ctx_.on(weft::am{handler_number}, [this](weft::call m) { return hear(m); });
  }

  /// The descriptor of the first message travels ahead while the peer is asked for one. The answer
  /// to that question comes when the second message waits for its own.
  weft::task<void> act(std::string address) {
    to_ = co_await ctx_.connect(address, request_of_peer(VIP_SERVICE_RELIABLE_RECEPTION));
    std::memcpy(&victim_, (co_await next(message::connected)).body.data(), sizeof victim_);
    co_await say(header_of(message::agreed));
    const weft::region shown(ctx_, memory, weft::rights::write,
                             {region_key(0, access::landing, 0, handle), 0});

    const std::uint32_t first = (co_await next(message::asks)).h.length;
    co_await say(header_of(message::ahead), list_of(0, 1));
    flags_of_first = (co_await next(message::data)).h.flags;
    co_await confirm(1);

    co_await next(message::asks);
    header late = header_of(message::ahead);
    late.flags = flags::answers;
    late.length = first;
    co_await say(late, list_of_none());
    co_await say(header_of(message::data));
    co_await next(message::arrived);  // so the victim has seen the answer, too
    co_await say(header_of(message::ahead), list_of(1, long_size));
    flags_of_second = (co_await next(message::data)).h.flags;
    co_await confirm(2);
    co_await next(message::left);
  }

  std::uint8_t flags_of_first = 0, flags_of_second = 0;
  std::vector<std::byte> memory = std::vector<std::byte>(long_size);

 private:
  static constexpr VIP_MEM_HANDLE handle = 1;

  struct heard {
    header h;
    std::vector<std::byte> body;
  };

  weft::task<void> hear(weft::call c) {
    reader in(c.data());
    const auto h = in.take<header>();
    if (!h) co_return;
    heard m{*h, {in.rest().begin(), in.rest().end()}};
    co_await heard_.send(std::move(m));
  }

  weft::task<heard> next(message what) {
    for (;;) {
      std::optional<heard> m = co_await heard_.receive();
      if (m->h.what == what) co_return std::move(*m);
    }
  }

  header header_of(message what) const { return {victim_.vi, victim_.epoch, what, 0, 0, 0}; }

  weft::task<void> say(header h, std::vector<std::byte> body = {}) {
    const auto bytes = std::as_bytes(std::span(&h, 1));
    body.insert(body.begin(), bytes.begin(), bytes.end());
    co_await to_.post_bytes(weft::am{handler_number}, body);
  }

  weft::task<void> confirm(std::uint32_t messages) {
    header h = header_of(message::arrived);
    h.length = messages;
    co_await say(h);
  }

  static std::vector<std::byte> list_of_none() {
    const list_ahead none{0, 1, 0};
    const auto bytes = std::as_bytes(std::span(&none, 1));
    return {bytes.begin(), bytes.end()};
  }

  /// One descriptor with one place.
  static std::vector<std::byte> list_of(std::uint32_t number, std::uint32_t capacity) {
    const struct {
      list_ahead head;
      descriptor_ahead one;
      std::uint32_t place[4];  // a place_ahead, which would be aligned
    } list{{0, number, 1}, {capacity, 1}, {handle, capacity, 0, 0}};
    const auto bytes = std::as_bytes(std::span(&list, 1));
    return {bytes.begin(), bytes.end()};
  }

  weft::context& ctx_;
  weft::channel<heard> heard_{64};
  weft::handler hears_;
  weft::endpoint to_;
  introduction victim_{};
};

}  // namespace

TEST_CASE("answers: one to an earlier question leaves a later message its descriptor") {
  over_each_transport([](pair& p) {
    weft::options o = weft::options::from_environment();
    o.standalone = true;
    weft::context ctx(o);
    late_peer peer(ctx);
    auto over =
        std::async(std::launch::async, [&] { run(ctx, peer.act(address_of_listener(p.where))); });
    address here(p.where), who;
    VIP_CONN_HANDLE asked = nullptr;
    const VIP_VI_HANDLE v = p.b.make_vi(VIP_SERVICE_RELIABLE_RECEPTION);
    REQUIRE(VipConnectWait(p.b.nic, here.get(), patience, who.get(), nullptr, &asked) ==
            VIP_SUCCESS);
    REQUIRE(VipConnectAccept(asked, v) == VIP_SUCCESS);
    REQUIRE(VipPostRecv(v, p.b.describe(0, {{0, 8}}), p.b.handle) == VIP_SUCCESS);
    fill(p.b.data(100), long_size, 1);
    for (const std::size_t n : {1u, 2u}) {
      VIP_DESCRIPTOR* const d = p.b.describe(n, {{100, long_size}});
      REQUIRE(VipPostSend(v, d, p.b.handle) == VIP_SUCCESS);
    }
    for (const std::size_t n : {1u, 2u}) {
      VIP_DESCRIPTOR* d = nullptr;
      CHECK(VipSendWait(v, patience, &d) == VIP_SUCCESS);
      CHECK(d == p.b.describe(n, {}));
    }
    CHECK(VipDisconnect(v) == VIP_SUCCESS);
    over.get();
    CHECK(peer.flags_of_first == flags::unplaced);
    CHECK(peer.flags_of_second == flags::in_place);
    CHECK(filled(peer.memory.data(), long_size, 1));
    take_all(v, true);
    CHECK(VipDestroyVi(v) == VIP_SUCCESS);
  });
}
