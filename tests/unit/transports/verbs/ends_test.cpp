// SPDX-License-Identifier: Apache-2.0
// How connections over verbs end: in good order, and in all other ways.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "ends.hpp"
#include "transports/verbs/hardware/addresses.hpp"

using namespace ends;

namespace {

/// Sends data that a correct peer's transport never sends.
int post_raw(fabric& net, std::uint32_t from, bytes data, std::uint32_t immediate) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(data.data()),
                static_cast<std::uint32_t>(data.size()), 0};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND_WITH_IMM;
  work.send_flags = IBV_SEND_INLINE;
  work.imm_data = htonl(immediate);
  return net.ends.at(from)->post(work);
}

std::uint32_t queue_pair_in(const wireup_message& card) {
  verbs::queue_pair_address c;
  REQUIRE(card.bytes.size() == sizeof c);
  std::memcpy(&c, card.bytes.data(), sizeof c);
  return c.queue_pair;
}

pid_t one_that_has_died() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  return child;
}

bytes frame(frame_header h, std::size_t behind) {
  bytes b(sizeof h + behind);
  std::memcpy(b.data(), &h, sizeof h);
  return b;
}

}  // namespace

TEST_CASE("verbs: what was sent before a peer leaves arrives, and the news waits for it") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  for (std::uint64_t i = 0; i != 10; ++i) REQUIRE(a.send(numbered(i), pattern(100)) == post::done);
  a.drop_link();
  b.forget();  // no poll in between
  CHECK(b.in.frames.size() == 10);
  CHECK(b.in.broken.empty());
  CHECK(net.ends.empty());
}

TEST_CASE("verbs: a link that is dropped waits until its last frames have arrived") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  REQUIRE(a.send(numbered(1), pattern(8)) == post::done);
  const std::size_t before = a.hardware.signalled;
  a.drop_link();
  CHECK(a.hardware.signalled == before + 1);
}

TEST_CASE("verbs: a link that ends while completions are acted upon knows of the rest of them") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  connect(b, a);
  const bytes there(32), here(32);
  const std::vector<const_buffer> pieces(32, const_buffer(here).first(1));
  bytes into(32);
  const auto to = a.expect(into);
  REQUIRE(a.send(numbered(1)) == post::done);
  {
    // So many frames that nothing can be sent before one of them is known to have ended.
    const engine::holder hold(b.turns);
    for (std::uint64_t i = 0; i != verbs::sizes{}.sends / pieces.size(); ++i)
      REQUIRE(b.link->put(gather(pieces), *to, pieces.size(), i) == post::posted);
    CHECK(b.link->put(gather(pieces), *to, pieces.size(), 99) == post::busy);
  }
  b.in.on_arrival = [&] { b.link.reset(); };
  const std::size_t before = b.hardware.posted;
  while (b.turns.poll_once() != 0) continue;
  CHECK(b.in.frames.size() == 1);
  CHECK(b.hardware.posted > before);  // a disconnect message
}

TEST_CASE("verbs: what a queue pair received is not for the next one of its number") {
  fabric net;
  end a(net), b(net);
  const wireup_message offer = a.open();
  wireup_message answer;
  REQUIRE(b.accept({0, offer.bytes, {}}, answer) == "");
  const std::uint32_t number = queue_pair_in(answer);
  REQUIRE(a.opened(std::move(answer)) == "");
  // More frames than one pass takes; the first one breaks the rules.
  for (std::uint8_t i = 0; i != 100; ++i)
    post_raw(net, queue_pair_in(offer),
             frame({i, 0, i == 0 ? std::uint8_t{0xff} : std::uint8_t{1}, 0, 0}, 0), 0);
  b.turns.poll_once();
  REQUIRE(b.in.broken.size() == 1);
  b.forget();
  net.next_number = number;
  recorder other;
  std::unique_ptr<transports::link> link;
  {
    const engine::holder hold(b.turns);
    wireup_message card;
    link = b.transport.open(other, b.who, card);
    REQUIRE(queue_pair_in(card) == number);
  }
  while (b.turns.poll_once() != 0) continue;
  CHECK(other.broken.empty());
  CHECK(other.frames.empty());
  const engine::holder hold(b.turns);
  link.reset();
}

namespace {

/// More often than a device is given receives at once.
/// \param lets_go one end sends a disconnect message, which does not arrive: that takes its time
void lose_half_frames(bool lets_go) {
  fabric net;
  end b(net);
  bytes shown(100);
  for (int i = 0; i != 40; ++i) {
    end a(net);
    b.who.pid = one_that_has_died();
    connect(b, a);
    connect(a, b);
    net.half = true;
    REQUIRE(a.send(numbered(1)) == post::done);
    if (lets_go) {
      REQUIRE(b.expose(shown));
      b.let_go();
    }
    b.forget();
    b.drop_link();
    net.half = false;
    net.go_on();  // a learns that b is gone, and does not wait for its frame to arrive
  }
  while (b.turns.poll_once() != 0) continue;
  CHECK(b.hardware.receives_posted() > verbs::sizes{}.receives - 32);
  CHECK(b.in.frames.empty());
}

}  // namespace

TEST_CASE("verbs: a receive that half a frame lies in is not lost with its connection") {
  lose_half_frames(false);
}

TEST_CASE("verbs: nor is it with one that is left in an orderly way", "[many]") {
  lose_half_frames(true);
}

TEST_CASE("verbs: a connection that breaks is lost, after a moment for the news why") {
  fabric net;
  end a(net), b(net);
  std::vector<wireup_message> notes;
  a.who.tell = [&](wireup_message p) { notes.push_back(std::move(p)); };
  connect(a, b);
  REQUIRE(a.send(numbered(1)) == post::done);
  settle(a, b);
  SECTION("silence") { net.cut = true; }
  SECTION("the queue pair has failed, says the device") {
    a.hardware.tell({"QP_FATAL", net.ends.begin()->first});
  }
  SECTION("the device is gone") { a.hardware.tell({"DEVICE_FATAL", {}, true}); }
  for (int i = 0; i != 64; ++i) a.send(numbered(2));
  REQUIRE(eventually(a, b, [&] { return !a.in.broken.empty(); }));
  CHECK(a.in.broken == std::vector<errc>{errc::peer_lost});
  CHECK(a.send(numbered(3)) == post::failed);
  CHECK(a.transport.describe(a.in).size() > std::strlen("verbs, "));

  // The other end, which sends nothing, is told, and once only, independent of what it finds out by
  // itself.
  REQUIRE(notes.size() == 1);
  {
    const engine::holder hold(b.turns);
    b.transport.note(b.in, std::move(notes.front()));
  }
  REQUIRE(eventually(a, b, [&] { return !b.in.broken.empty(); }));
  CHECK(b.in.broken == std::vector<errc>{errc::peer_lost});
}

TEST_CASE("verbs: a port that is down for long ends connections that wait for nothing") {
  fabric net;
  verbs::settings s;
  s.peer_timeout = std::chrono::seconds(0);  // then the port is down for long at once
  end a(net, s), b(net);
  connect(a, b);
  a.hardware.port_up = false;
  a.hardware.tell({"PORT_ERR", {}, false, true});
  REQUIRE(eventually(a, b, [&] { return !a.in.broken.empty(); }));
  CHECK(a.in.broken == std::vector<errc>{errc::peer_lost});
  CHECK(a.transport.describe(a.in) == "verbs, its port is down");

  // A peer that connects now is told at once, and may use another transport.
  a.drop_link();
  a.forget();
  CHECK_THROWS_WITH(a.open(), weft::tests::contains("its port is down"));
  a.hardware.port_up = true;
  a.hardware.tell({"PORT_ACTIVE", {}, false, true});
  settle(a, b);
  CHECK_NOTHROW(a.open());
}

TEST_CASE("verbs: a port that came back while nobody looked ends nothing") {
  fabric net;
  verbs::settings s;
  s.peer_timeout = std::chrono::seconds(1);
  end a(net, s), b(net);
  connect(a, b);
  a.hardware.port_up = false;
  a.hardware.tell({"PORT_ERR", {}, false, true});
  settle(a, b);
  a.hardware.port_up = true;  // its event is not read before the clock
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  for (int i = 0; i != 3; ++i) settle(a, b);
  CHECK(a.send(numbered(1)) == post::done);
  settle(a, b);
  CHECK(b.in.frames.size() == 1);
  CHECK(a.in.broken.empty());
}

TEST_CASE("verbs: an event of another queue pair, or a port that comes back, ends nothing") {
  fabric net;
  verbs::settings s;
  s.peer_timeout = std::chrono::seconds(1);
  end a(net, s), b(net);
  connect(a, b);
  a.hardware.tell({"QP_FATAL", 99});
  a.hardware.port_up = false;
  a.hardware.tell({"PORT_ERR", {}, false, true});
  settle(a, b);
  a.hardware.port_up = true;
  a.hardware.tell({"PORT_ACTIVE", {}, false, true});
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1300);
  eventually(a, b, [&] { return std::chrono::steady_clock::now() > until; });
  CHECK(a.send(numbered(1)) == post::done);
  settle(a, b);
  CHECK(b.in.frames.size() == 1);
  CHECK(a.in.broken.empty());
}

TEST_CASE("verbs: cards that make no sense are refused") {
  fabric net;
  end a(net), b(net);
  const wireup_message good = a.open();
  const auto refused = [&](auto change) {
    verbs::queue_pair_address c;
    std::memcpy(&c, good.bytes.data(), sizeof c);
    change(c);
    wireup_message p, answer;
    p.bytes.resize(sizeof c);
    std::memcpy(p.bytes.data(), &c, sizeof c);
    return b.accept(std::move(p), answer);
  };
  CHECK(refused([](auto& c) { c.magic = 1; }) != "");
  CHECK(refused([](auto& c) { c.version = 9; }).find("version 9") != std::string::npos);
  CHECK(refused([](auto& c) { c.window = 100; }) != "");
  CHECK(refused([](auto& c) { c.slot_bytes = 1; }) != "");
  CHECK(refused([](auto& c) { c.queue_pair = 1u << 24; }) != "");
  CHECK(refused([](auto& c) { c.first_psn = 1u << 24; }) != "");
  CHECK(refused([](auto& c) { c.mtu = 0; }) != "");
  CHECK(refused([](auto& c) { c.mtu = 6; }) != "");
  CHECK(refused([](auto& c) { c.ethernet = 0; }).find("InfiniBand") != std::string::npos);
  wireup_message half, answer;
  half.bytes.resize(sizeof(verbs::queue_pair_address) - 1);
  CHECK(b.accept(std::move(half), answer) != "");
  CHECK(net.ends.size() == 1);  // nothing of the ends is left
  REQUIRE(refused([](auto&) {}) == "");
  CHECK(refused([](auto&) {}) != "");  // a second time: once is enough
}

TEST_CASE("verbs: a peer that breaks the rules is told of as that, and only it") {
  fabric net;
  end a(net), b(net);
  const wireup_message offer = a.open();
  wireup_message answer;
  REQUIRE(b.accept({0, offer.bytes, {}}, answer) == "");
  REQUIRE(a.opened(std::move(answer)) == "");
  const std::uint32_t from = queue_pair_in(offer);
  constexpr auto own = verbs::first_own_kind;
  SECTION("half a header") { post_raw(net, from, bytes(15), 0); }
  SECTION("nothing") { post_raw(net, from, {}, 0); }
  SECTION("less than it says") { post_raw(net, from, frame({0, 10, 1, 0, 0}, 9), 0); }
  SECTION("more than it says") { post_raw(net, from, frame({0, 10, 1, 0, 0}, 11), 0); }
  SECTION("no extension") { post_raw(net, from, frame({0, 0, 1, has_extension, 0}, 15), 0); }
  SECTION("an own frame of no kind") { post_raw(net, from, frame({0, 0, 0xff, 0, 0}, 0), 0); }
  SECTION("an own frame with more") { post_raw(net, from, frame({0, 1, own, 0, 0}, 1), 0); }
  SECTION("it says to have read what was not sent") {
    post_raw(net, from, frame({0, 0, own, 0, 0}, 0), 1);
  }
  SECTION("frames after the farewell") {
    post_raw(net, from, frame({0, 0, own + 1, 0, 0}, 0), 0);
    post_raw(net, from, frame({0, 0, 1, 0, 0}, 0), 0);
  }
  SECTION("a frame that the protocols refuse") {
    b.in.sensible = false;
    post_raw(net, from, frame({0, 0, 1, 0, 0}, 0), 0);
  }
  while (b.turns.poll_once() != 0) continue;
  CHECK(b.in.broken == std::vector<errc>{errc::protocol_error});
  const std::size_t frames = b.in.frames.size();
  post_raw(net, from, frame({0, 0, 1, 0, 0}, 0), 0);
  settle(a, b);
  CHECK(b.in.frames.size() == frames);
  CHECK(b.in.broken.size() == 1);
}

TEST_CASE("verbs: a peer is no further ahead than it was told that it may be") {
  recorder to;
  verbs::port in;
  const bytes one = frame({0, 0, 1, 0, 0}, 0);
  for (std::uint32_t i = 0; i != verbs::window; ++i)
    REQUIRE(in.take(one, &to) == verbs::port::verdict::fine);
  CHECK(in.take(one, &to) == verbs::port::verdict::nonsense);
  in.told();
  CHECK(in.take(one, &to) == verbs::port::verdict::fine);
  CHECK(to.frames.size() == verbs::window + 1);
}

TEST_CASE("verbs: a peer that was not accepted may not send frames") {
  fabric net;
  end a(net), b(net);
  const wireup_message of_a = a.open();
  wireup_message to_a;
  REQUIRE(b.accept({0, of_a.bytes, {}}, to_a) == "");
  const std::uint32_t of_b = queue_pair_in(to_a);
  REQUIRE(a.opened(std::move(to_a)) == "");
  post_raw(net, of_b, frame({0, 0, 1, 0, 0}, 0), 0);  // b never opened its direction
  while (a.turns.poll_once() != 0) continue;
  CHECK(a.in.frames.empty());
  CHECK(a.in.broken == std::vector<errc>{errc::protocol_error});
}

TEST_CASE("verbs: no memory to lock, and no way there, are said and leave nothing") {
  fabric net;
  end a(net), b(net);
  SECTION("the opener has no memory") {
    a.hardware.lockable = 1000;
    CHECK_THROWS_WITH(a.open(), weft::tests::contains("memory to lock"));
    CHECK(net.ends.empty());
  }
  SECTION("memory for half of it only") {
    a.hardware.lockable = 3'000'000;
    CHECK_THROWS_WITH(a.open(), weft::tests::contains("memory to lock"));
    CHECK(net.ends.empty());
  }
  SECTION("no way") {
    b.hardware.unreachable = "no route";
    wireup_message answer;
    CHECK(b.accept(a.open(), answer) == "no route");
    CHECK(net.ends.size() == 1);
    a.drop_link();
    CHECK(net.ends.empty());
  }
}

TEST_CASE("verbs: how long a connection waits for an answer") {
  using namespace std::chrono_literals;
  // 7 times 4.096 us * 2^n, at most.
  CHECK(verbs::timeout_for(10s) == 18);
  CHECK(verbs::timeout_for(2s) == 16);
  CHECK(verbs::timeout_for(86'400s) == 31);
}

TEST_CASE("verbs: addresses that routers know are tried first") {
  const auto entry = [](std::uint32_t index, std::uint32_t type, std::string_view begins,
                        std::uint32_t port = 1) {
    ibv_gid_entry e{};
    e.gid_index = index;
    e.gid_type = type;
    e.port_num = port;
    std::copy(begins.begin(), begins.end(), e.gid.raw);
    return e;
  };
  using namespace std::string_view_literals;
  const auto link_local = "\xfe\x80"sv, v6 = "\x20\x01"sv;
  const auto v4 = "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1"sv;
  const ibv_gid_entry all[] = {
      entry(0, IBV_GID_TYPE_ROCE_V1, link_local), entry(1, IBV_GID_TYPE_ROCE_V2, link_local),
      entry(2, IBV_GID_TYPE_ROCE_V2, v4, 2),      entry(3, IBV_GID_TYPE_ROCE_V2, v6),
      entry(4, IBV_GID_TYPE_ROCE_V1, v4),         entry(5, IBV_GID_TYPE_ROCE_V2, v4)};
  std::vector<std::uint32_t> order;
  for (const auto& e : verbs::in_order_of_trial(all, 1)) order.push_back(e.gid_index);
  CHECK(order == std::vector<std::uint32_t>{5, 3, 1, 0, 4});
}
