// SPDX-License-Identifier: Apache-2.0
// Messages: every size, gathered and scattered over segments up to the limit, with and without
// immediate data.
#include <algorithm>
#include <cstring>
#include <vector>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

/// That many pieces, which are `size` together, some of them empty; they lie apart from `at` on.
std::vector<piece> pieces_of(std::size_t size, std::size_t count, std::size_t at) {
  std::vector<piece> all;
  for (std::size_t i = 0; i != count; ++i) {
    const std::size_t n = i + 1 == count ? size
                          : i % 5 == 3   ? 0
                                         : std::min(size, size / count + i % 7);
    all.push_back({at, n});
    at += n + 5;
    size -= n;
  }
  return all;
}

void scatter_pattern(side& s, const std::vector<piece>& to, std::size_t size, unsigned seed) {
  std::vector<std::byte> whole(size);
  fill(whole.data(), size, seed);
  const std::byte* from = whole.data();
  for (const piece& p : to) {
    std::copy_n(from, p.size, s.data(p.at));
    from += p.size;
  }
}

/// The bytes in the pieces, the first `size` of them.
bool has_pattern(side& s, const std::vector<piece>& in, std::size_t size, unsigned seed) {
  std::vector<std::byte> whole;
  for (const piece& p : in) whole.insert(whole.end(), s.data(p.at), s.data(p.at) + p.size);
  return whole.size() >= size && filled(whole.data(), size, seed);
}

struct shape {
  std::size_t size, from, to;  ///< bytes, and pieces at both sides
  std::size_t more;            ///< room in the receive beyond the message
};

/// Around the longest message that carries its bytes (8176), the longest one in pieces (49152), and
/// one that copies travel for.
constexpr shape shapes[] = {
    {0, 0, 0, 0},       {0, 1, 1, 8},         {0, 3, 2, 0},         {1, 1, 1, 0},
    {40, 5, 1, 24},     {4000, 1, 64, 0},     {8176, 64, 1, 0},     {8177, 1, 1, 0},
    {8177, 2, 3, 1000}, {20'000, 64, 64, 12}, {300'000, 1, 2, 100}, {1u << 20, 7, 1, 0},
    {16'352, 3, 1, 0},  {49'152, 7, 5, 9},    {49'153, 2, 2, 0},    {70'000, 64, 64, 12},
};

}  // namespace

TEST_CASE("messages: all sizes and numbers of segments arrive, with their immediate data") {
  at_each_level([](pair& p, level l) {
    connection c(p, l);
    unsigned seed = 0;
    // At first the sender has to ask for the descriptor of a long message; later it knows some.
    for (const bool immediate : {false, true})
      for (const shape& s : shapes) {
        CAPTURE(s.size, s.from, s.to, immediate);
        const auto out = pieces_of(s.size, s.from, 0);
        const auto in = pieces_of(s.size + s.more, s.to, 100);
        scatter_pattern(p.a, out, s.size, ++seed);
        VIP_DESCRIPTOR* const receive = p.b.describe(0, in);
        c.receive(receive);
        VIP_DESCRIPTOR* const send = p.a.describe(0, out);
        if (immediate) {
          send->CS.Control |= VIP_CONTROL_IMMEDIATE;
          send->CS.ImmediateData = 0xabcd0000u + seed;
        }
        c.send(send);
        REQUIRE(c.received(receive) == 0);
        CHECK(receive->CS.Status ==
              (VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | (immediate ? VIP_STATUS_IMMEDIATE : 0u)));
        CHECK(receive->CS.Length == s.size);
        if (immediate) CHECK(receive->CS.ImmediateData == 0xabcd0000u + seed);
        CHECK(has_pattern(p.b, in, s.size, seed));
        REQUIRE(c.sent(send) == 0);
        CHECK(send->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
        CHECK(send->CS.Length == s.size);
      }
    CHECK(c.connected());
  });
}

TEST_CASE("messages: those that wait for credit keep their order") {
  at_each_level([](pair& p, level l) {
    // More bytes than a transport takes at once. The receiver makes no progress meanwhile, but for
    // the library's own thread.
    constexpr std::size_t count = 120, size = 8000;
    connection c(p, l);
    for (std::size_t i = 0; i != count; ++i) c.receive(p.b.describe(i, {{i * size, size}}));
    for (std::size_t i = 0; i != count; ++i) {
      const std::size_t bytes = i % 4 == 3 ? 100 : size;
      fill(p.a.data(i * size), bytes, static_cast<unsigned>(i));
      c.send(p.a.describe(i, {{i * size, bytes}}));
    }
    for (std::size_t i = 0; i != count; ++i) {
      CAPTURE(i);
      VIP_DESCRIPTOR* d = nullptr;
      REQUIRE(VipRecvWait(c.to, patience, &d) == VIP_SUCCESS);
      const std::size_t bytes = i % 4 == 3 ? 100 : size;
      REQUIRE(d->DS[0].Local.Data.Address == p.b.data(i * size));
      REQUIRE(d->CS.Length == bytes);
      REQUIRE(filled(p.b.data(i * size), bytes, static_cast<unsigned>(i)));
      REQUIRE(VipSendWait(c.from, patience, &d) == VIP_SUCCESS);
    }
  });
}

TEST_CASE("messages: many in a row keep their order, long ones among short ones") {
  at_each_level([](pair& p, level l) {
    constexpr std::size_t count = 100, room = 24'000;
    connection c(p, l);
    const auto size_of = [](std::size_t i) { return i % 3 == 1 ? 20'000 + i : 10 + i; };
    for (std::size_t i = 0; i != count; ++i) {
      c.receive(p.b.describe(i, {{i * room, room}}));
      fill(p.a.data(i * room), size_of(i), static_cast<unsigned>(i));
    }
    for (std::size_t i = 0; i != count; ++i) {
      VIP_DESCRIPTOR* const d = p.a.describe(i, {{i * room, size_of(i)}});
      if (i % 10 == 7) d->CS.Control |= VIP_CONTROL_QFENCE;
      c.send(d);
    }
    for (std::size_t i = 0; i != count; ++i) {
      CAPTURE(i);
      VIP_DESCRIPTOR* d = nullptr;
      const VIP_RETURN code = VipRecvWait(c.to, patience, &d);
      REQUIRE(d);
      CAPTURE(d->CS.Status);
      REQUIRE(code == VIP_SUCCESS);
      CHECK(d->CS.Length == size_of(i));
      CHECK(filled(p.b.data(i * room), size_of(i), static_cast<unsigned>(i)));
      REQUIRE(VipSendWait(c.from, patience, &d) == VIP_SUCCESS);
      CHECK(d == p.a.describe(i, {}));
    }
  });
}
