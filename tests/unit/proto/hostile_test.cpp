// SPDX-License-Identifier: Apache-2.0
// Frames that no correct peer sends: the peer fails with protocol_error, and no other peer is
// affected.
#include <functional>
#include <random>

#include "net.hpp"
#include "proto/select/select.hpp"

using namespace net;
using weft::any_tag;
using weft::proto::eager_ends;
using weft::proto::frame_extension;
using weft::proto::frame_header;
using weft::proto::frame_kind;
using weft::proto::header_of;
using weft::transports::has_extension;
using weft::transports::post;

namespace {

/// Node 2 attacks node 0 while node 1 communicates with node 0.
struct attack {
  nodes n;
  std::unique_ptr<weft::transports::link> link;
  const bytes junk = pattern(4096);

  explicit attack(fake::settings s = {}, weft::proto::messenger_settings m = {8u << 20, 64u << 10})
      : n(3, s, m), link(n.raw_link(2, 0)) {}

  post frame(frame_header h, const frame_extension* x = nullptr) {
    weft::transports::gather data(std::span<const weft::const_buffer>(&whole_, 1));
    return link->send(h, x, data);
  }
  post frame(frame_kind kind, std::uint32_t size, std::uint8_t flags, frame_extension x) {
    return frame(header_of(kind, 5, size, static_cast<std::uint8_t>(flags | has_extension)), &x);
  }
  peer& villain() { return n[0].to(2); }

  /// Node 1 and node 0 exchange messages in both directions.
  void others_are_well() {
    for (const std::size_t size : {std::size_t{10}, std::size_t{300'000}}) {
      const bytes out = pattern(size, 8);
      bytes in(size), back(size);
      auto there = n[1].send(0, out, tag{5});
      auto receive = n[0].recv(1, in, tag{5});
      auto here = n[0].send(1, out, tag{5});
      auto receive_there = n[1].recv(0, back, tag{5});
      n.settle();
      REQUIRE(there->ended_with(errc::ok));
      REQUIRE(receive->ended_with(errc::ok));
      REQUIRE(here->ended_with(errc::ok));
      REQUIRE(receive_there->ended_with(errc::ok));
      CHECK((in == out));
      CHECK((back == out));
    }
  }

 private:
  const weft::const_buffer whole_{junk};
};

using moves = std::function<void(attack&)>;
struct named {
  const char* what;
  moves attack_with;
};

const std::vector<named>& nonsense() {
  static const std::vector<named> all{
      {"kind 0", [](attack& a) { a.frame(frame_header{}); }},
      {"kind 200",
       [](attack& a) {
         a.frame(frame_header{0, 0, 200, 0, 0});
       }},
      {"kind 26, which is unassigned",
       [](attack& a) {
         a.frame(frame_kind{26}, 24, 0, {6, 0});
       }},
      {"kind 27, which is unassigned",
       [](attack& a) {
         a.frame(frame_kind{27}, 0, 0, {1, 0});
       }},
      {"more without a message", [](attack& a) { a.frame(header_of(frame_kind::more, 5, 10)); }},
      {"more beyond the size",
       [](attack& a) {
         a.frame(frame_kind::eager, 10, 0, {20, 0});
         a.frame(header_of(frame_kind::more, 5, 11, eager_ends));
       }},
      {"an end before the size is reached",
       [](attack& a) {
         a.frame(frame_kind::eager, 10, 0, {20, 0});
         a.frame(header_of(frame_kind::more, 5, 5, eager_ends));
       }},
      {"a message within a message",
       [](attack& a) {
         a.frame(frame_kind::eager, 10, 0, {20, 0});
         a.frame(header_of(frame_kind::eager, 5, 5, eager_ends));
       }},
      {"a beginning longer than the message",
       [](attack& a) {
         a.frame(frame_kind::eager, 11, eager_ends, {10, 0});
       }},
      {"a size beyond all sizes",
       [](attack& a) {
         a.frame(frame_kind::rts, 0, eager_ends, {(1ull << 48) - 1, 0});
       }},
      {"an eager size beyond the credit",
       [](attack& a) {
         a.frame(frame_kind::eager, 10, 0, {1ull << 40, 0});
       }},
      {"rts without its extension", [](attack& a) { a.frame(header_of(frame_kind::rts, 5, 10)); }},
      {"data without its extension",
       [](attack& a) { a.frame(header_of(frame_kind::data, 0, 10)); }},
      {"data that nobody asked for",
       [](attack& a) {
         a.frame(frame_kind::data, 10, 0, {1, 0});
       }},
      {"an answer to nothing: cts",
       [](attack& a) {
         a.frame(frame_kind::cts, 0, 0, {1, 1});
       }},
      {"an answer to nothing: fin_ack",
       [](attack& a) {
         a.frame(frame_kind::fin_ack, 0, 0, {9, 0});
       }},
      {"an answer to nothing: matched",
       [](attack& a) {
         a.frame(frame_kind::matched, 0, 0, {65'535, 0});
       }},
      {"an answer beyond all numbers",
       [](attack& a) {
         a.frame(frame_kind::cts, 0, 0, {1ull << 60, 1});
       }},
      {"a write into nothing that was asked for",
       [](attack& a) {
         a.frame(frame_kind::fin, 0, 0, {1, 0});
       }},
      {"fin without its extension", [](attack& a) { a.frame(header_of(frame_kind::fin)); }},
      {"signal without its extension", [](attack& a) { a.frame(header_of(frame_kind::signal)); }},
      {"signal with bytes",
       [](attack& a) {
         a.frame(frame_kind::signal, 10, 0, {weft::proto::first_signal_tag, 0});
       }},
      {"signal with a tag of a stream",
       [](attack& a) {
         a.frame(frame_kind::signal, 0, 0, {weft::proto::first_signal_tag - 1, 0});
       }},
      {"more signals than are kept",
       [](attack& a) {
         for (std::uint32_t i = 0; i <= weft::proto::most_signals; ++i) {
           a.frame(frame_kind::signal, 0, 0, {weft::proto::first_signal_tag + i % 32, 0});
           if (i % 16 == 0) a.n.settle();
         }
       }},
      {"cts without its extension", [](attack& a) { a.frame(header_of(frame_kind::cts)); }},
      {"cancel without its extension", [](attack& a) { a.frame(header_of(frame_kind::cancel)); }},
      {"enough without its extension",
       [](attack& a) { a.frame(header_of(frame_kind::stop_data)); }},
      {"more than the credit allows",
       [](attack& a) {
         for (int i = 0; i < 200; ++i) {
           a.frame(header_of(frame_kind::eager, 5, 4096, eager_ends));
           if (i % 16 == 0) a.n.settle();
         }
       }},
      {"more of a message than the credit allows",
       [](attack& a) {
         a.frame(frame_kind::rts, 4096, 0, {1ull << 30 | 1ull << 48, 0});
         for (int i = 0; i < 200; ++i) {
           a.frame(header_of(frame_kind::more, 5, 4096));
           if (i % 16 == 0) a.n.settle();
         }
       }},
      {"cancel in mid-message, and then more of it",
       [](attack& a) {
         a.frame(frame_kind::rts, 10, 0, {1000 | 7ull << 48, 0});
         a.frame(frame_kind::cancel, 0, 0, {7, 0});
         a.frame(header_of(frame_kind::more, 5, 10));
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("hostile: nonsense of every kind fails its sender only") {
  for (const named& one : nonsense()) {
    CAPTURE(one.what);
    attack a;
    bytes in(100);
    auto receive = a.n[0].recv(2, in, tag{77});
    auto any = a.n[0].recv_any(in, tag{78});
    one.attack_with(a);
    a.n.settle();
    CHECK(a.villain().now() == peer::state::lost);
    CHECK(a.villain().why() == errc::protocol_error);
    CHECK(receive->ended_with(errc::protocol_error));
    CHECK(receive->explain().find("no correct peer") != std::string::npos);
    CHECK_FALSE(any->ended());
    a.others_are_well();
    CHECK(a.n[0].send(2, in, tag{1})->ended_with(errc::protocol_error));
  }
}

TEST_CASE("hostile: data out of order, beyond the size, or before the beginning has ended") {
  attack a;
  const bytes mine = pattern(100);
  bytes in(100'000);
  auto receive = a.n[0].recv(2, in, tag{5});
  frame_extension x{3ull << 48 | 100'000, 0};
  const bool ends = GENERATE(true, false);
  a.frame(frame_kind::rts, 64, ends ? eager_ends : std::uint8_t{0}, x);
  a.n.settle();  // node 0 has asked for the rest, under number 1
  SECTION("a gap") { a.frame(frame_kind::data, 100, 0, {1, 128}); }
  SECTION("again from the beginning") { a.frame(frame_kind::data, 100, 0, {1, 0}); }
  SECTION("another number") { a.frame(frame_kind::data, 100, 0, {2, 64}); }
  SECTION("a number above all others") { a.frame(frame_kind::data, 100, 0, {1u << 16 | 1, 64}); }
  SECTION("the end of a write that was not let") { a.frame(frame_kind::fin, 0, 0, {1, 0}); }
  SECTION("an early end") { a.frame(frame_kind::data, 0, 0, {1, 100'000}); }
  SECTION("beyond the size") {
    for (std::uint64_t at = 64; at < 110'000; at += 4096) {
      a.frame(frame_kind::data, 4096, 0, {1, at});
      a.n.settle();
    }
  }
  SECTION("all of it, and then more of the beginning") {
    for (std::uint64_t at = 64; at < 100'000; at += 4000) {
      a.frame(frame_kind::data,
              static_cast<std::uint32_t>(std::min<std::uint64_t>(4000, 100'000 - at)), 0, {1, at});
      a.n.settle();
    }
    // In the meantime the memory of that message is used by a message of another peer.
    auto other = a.n[1].send(0, mine, tag{9}, weft::detail::send_mode::synchronous);
    a.n.settle();
    a.frame(header_of(frame_kind::more, 5, 0, eager_ends));
    a.frame(header_of(frame_kind::more, 5, 64, eager_ends));
    a.n.settle();
    bytes theirs(100);
    auto receive_other = a.n[0].recv(1, theirs, tag{9});
    a.n.settle();
    CHECK(receive_other->ended_with(errc::ok));
    CHECK(other->ended_with(errc::ok));
    CHECK((theirs == mine));
  }
  a.n.settle();
  CHECK(a.villain().why() == errc::protocol_error);
  CHECK(receive->ends == 1);
  a.others_are_well();
  CHECK(a.n[0].clean());
}

TEST_CASE("hostile: answers of the wrong kind") {
  attack a;
  const bytes out = pattern(200'000);
  a.n[0].to(2);
  auto send = a.n[0].send(
      2, out, tag{1},
      GENERATE(weft::detail::send_mode::standard, weft::detail::send_mode::synchronous));
  a.n.settle();
  REQUIRE_FALSE(send->ended());
  SECTION("twice clear to send") {
    a.frame(frame_kind::cts, 0, 0, {1, 1});
    a.frame(frame_kind::cts, 0, 0, {1, 1});
  }
  SECTION("matched, which is for messages that are whole") {
    a.frame(frame_kind::matched, 0, 0, {1, 0});
  }
  SECTION("cancelled, which nobody asked for") { a.frame(frame_kind::cancelled, 0, 0, {1, 0}); }
  a.n.settle();
  CHECK(send->ends == 1);
  CHECK(send->status != errc::stopped);
  CHECK(a.villain().why() == errc::protocol_error);
  a.others_are_well();
}

TEST_CASE("hostile: where a message may be written, a lie spoils nothing but that message") {
  fake::settings s;
  s.memory = fake::memory::readable;
  s.prefers_put = true;
  attack a(s);
  bytes in(100'000);
  auto receive = a.n[0].recv(2, in, tag{5});
  const bool begun = GENERATE(true, false);
  a.frame(frame_kind::rts, 64, begun ? eager_ends : std::uint8_t{0}, {3ull << 48 | 100'000, 0});
  a.n.settle();
  CHECK(a.n.world.shown() == 1);
  a.frame(frame_kind::fin, 0, 0, {1, 0});  // nothing was written
  a.n.settle();
  CHECK(receive->ended_with(begun ? errc::ok : errc::protocol_error));
  CHECK(a.n.world.shown() == 0);
  a.frame(frame_kind::fin, 0, 0, {1, 0});  // and again
  a.n.settle();
  CHECK(a.villain().why() == errc::protocol_error);
  a.others_are_well();
}

TEST_CASE("hostile: enough of what was never asked for is not looked at") {
  attack a;
  const bytes out = pattern(200'000);
  auto send = a.n[0].send(2, out, tag{1});
  a.n.settle();
  a.frame(frame_kind::stop_data, 0, 0, {1, 1});  // too early
  a.frame(frame_kind::stop_data, 0, 0, {1ull << 60, 1});
  a.n.settle();
  CHECK_FALSE(send->ended());
  CHECK_FALSE(a.villain().has_ended());
  a.frame(frame_kind::fin_ack, 0, 0, {1, 0});
  a.n.settle();
  CHECK(send->ended_with(errc::ok));
}

TEST_CASE("hostile: a small synchronous message is never clear to send") {
  attack a;
  const bytes out = pattern(10);
  auto send = a.n[0].send(2, out, tag{1}, weft::detail::send_mode::synchronous);
  a.n.settle();
  REQUIRE_FALSE(send->ended());
  a.frame(frame_kind::cts, 0, 0, {1, 1});
  a.n.settle();
  CHECK(send->ended_with(errc::protocol_error));
}

TEST_CASE("hostile: credit without end does no harm") {
  attack a;
  const bytes out = pattern(50'000);
  auto send = a.n[0].send(2, out, tag{1});
  a.n.settle();
  for (int i = 0; i < 40'000; ++i) {  // beyond 2^31 units
    frame_header h = header_of(frame_kind::credit);
    h.credit = 0xffff;
    if (a.frame(h) != post::done) a.n.settle();
  }
  a.n.settle();
  CHECK(a.villain().now() == peer::state::open);
  a.others_are_well();
}

TEST_CASE("hostile: connecting again brings no new credit") {
  attack a({}, {1u << 20, 64u << 10});
  a.frame(header_of(frame_kind::eager, 5, 4096, eager_ends));
  a.n.settle();
  const std::uint32_t left = a.n[0].budget_left();
  std::uint32_t again = 0;
  peer& villain = a.villain();
  for (int i = 0; i < 100; ++i) {
    const engine::holder hold(a.n[0].engine);
    again = villain.writer().grant_first_credit();
  }
  CHECK(a.n[0].budget_left() == left);
  CHECK(again == (1u << 20) / weft::proto::credit_unit - left);
  {
    const engine::holder hold(a.n[0].engine);
    villain.on_broken(errc::protocol_error);
    CHECK(villain.writer().grant_first_credit() == 0);
  }
  a.others_are_well();
}

TEST_CASE("hostile: headers of huge messages take no memory beyond the budget") {
  attack a({}, {1u << 20, 64u << 10});
  for (unsigned i = 0; i != 2000; ++i) {
    a.frame(frame_kind::rts, 1, eager_ends, {1ull << 46 | (i + 1ull) << 48, 0});
    if (i % 16 == 0) a.n.settle();
  }
  a.n.settle();
  CHECK(a.n[0].messages.snapshot().unexpected_bytes_peak <=
        (1u << 20) + weft::proto::smallest_grant * weft::proto::credit_unit);
}

TEST_CASE("hostile: whole messages that never say that they end") {
  attack a;
  bytes in(100);
  a.frame(frame_kind::eager, 10, 0, {10, 4});
  a.n.settle();
  a.n.world.kill(2);
  a.n.settle();
  auto receive = a.n[0].recv(2, in, tag{5});
  a.n.settle();
  CHECK(receive->ends == 1);
  CHECK(a.n[0].clean());
}

TEST_CASE("hostile: random frames, thousands of them") {
  const auto seed = GENERATE(range(1u, 41u));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t k) { return random() % k; };
  fake::settings s;
  s.seed = seed;
  attack a(s, {1u << 20, 64u << 10});
  std::vector<std::shared_ptr<receiving>> receives;
  std::vector<std::shared_ptr<sending>> sends;
  std::vector<bytes> room(400, bytes(3000));
  const bytes out = pattern(100'000);
  for (int i = 0; i < 3000 && a.villain().now() != peer::state::lost; ++i) {
    if (i < 400 && below(2) == 0)
      receives.push_back(a.n[0].recv(below(2) ? 2 : 1, room[static_cast<std::size_t>(i)], any_tag));
    if (below(20) == 0) sends.push_back(a.n[0].send(2, out, tag{1}));
    frame_header h{below(3), 0, static_cast<std::uint8_t>(1 + below(seed % 4 ? 11 : 13)),
                   static_cast<std::uint8_t>(below(4)), static_cast<std::uint16_t>(below(3))};
    // Mostly plausible, so that the attack goes on for a while.
    h.size = static_cast<std::uint32_t>(below(3) ? below(200) : below(4097));
    if (h.kind >= static_cast<std::uint8_t>(frame_kind::cts))
      h.kind = static_cast<std::uint8_t>(below(8) ? 1 + below(3) : h.kind);
    if (h.kind == static_cast<std::uint8_t>(frame_kind::more) && below(4)) h.kind = 1;
    const std::uint64_t total = below(2) ? h.size : h.size + below(5000);
    frame_extension x{total | below(4) << 48, below(16) ? 0 : below(1u << 20)};
    if (h.kind > 3) x = {below(4), below(4)};
    if (h.kind == 3 || below(2)) h.flags |= has_extension;
    if ((h.flags & has_extension) == 0 || total == h.size) h.flags |= eager_ends;
    a.frame(h, h.flags & has_extension ? &x : nullptr);
    if (below(4) == 0) a.n.step();
  }
  a.n.settle();
  // Only operations with node 1 can still be pending.
  a.n.world.kill(2);
  a.n.settle();
  for (const auto& op : sends) CHECK(op->ends == 1);
  for (const auto& op : receives)
    if (op->from == &a.villain()) CHECK(op->ends == 1);
  for (const auto& op : receives)
    if (!op->ended()) op->cancel();
  a.n.settle();
  CHECK(a.n[0].messages.snapshot().unexpected_bytes_peak <=
        (1u << 20) + 2 * weft::proto::smallest_grant * weft::proto::credit_unit);
  a.others_are_well();
  a.n[0].end();
  CHECK(a.n[0].clean());
}
