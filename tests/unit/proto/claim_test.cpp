// SPDX-License-Identifier: Apache-2.0
// Claimed messages: their owner receives or discards them, and no other receive matches them.
#include <optional>
#include <vector>

#include "net.hpp"

using namespace net;
using weft::any_tag;
using weft::claimed_message;
using weft::detail::send_mode;

namespace {
using taking = tracked<weft::claimed_operation>;

const std::vector<bytes> out{pattern(0), pattern(44), pattern(5000), pattern(60'000),
                             pattern(400'000)};

/// The messages from node 1 to node 0: two of each kind, with different tags.
std::vector<std::shared_ptr<sending>> send_all(nodes& n) {
  std::vector<std::shared_ptr<sending>> all;
  for (std::size_t i = 0; i < 2 * out.size(); ++i)
    all.push_back(n[1].send(0, out[i / 2], tag{i},
                            i % 3 == 0 ? send_mode::synchronous : send_mode::standard));
  return all;
}

/// Claims the messages that are there, at most `steps` steps after the first was sent, and then
/// loses the peer if it `dies`. Of each two the first is received and the second discarded.
/// \return whether all messages had arrived by then
bool claim_after(int steps, bool dies, fake::settings s) {
  CAPTURE(steps, dies);
  nodes n(2, s, {256u << 10, 64u << 10});
  const std::uint32_t budget = n[0].budget_left();
  const auto sent = send_all(n);
  bool quiet = false;
  for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();

  std::vector<claimed_message> mine;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    std::optional<claimed_message> m = n[0].messages.receives().try_claim(&n[0].to(1), tag{i});
    if (!m) continue;
    CHECK(m->about().size == out[i / 2].size());
    CHECK_FALSE(n[0].messages.receives().try_probe(nullptr, tag{i}));
    mine.push_back(std::move(*m));
  }
  if (steps % 2 != 0) n.step();
  if (dies) n.world.kill(1);
  if (steps % 3 != 0) n.settle();

  std::vector<bytes> in(mine.size(), bytes(400'000));
  std::vector<std::shared_ptr<taking>> taken;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].about().tag.value % 2 != 0) {
      mine[i].discard();
      continue;
    }
    taken.push_back(std::make_shared<taking>(mine[i].recv(in[i])));
    taken.back()->go();
    CHECK_FALSE(mine[i]);
  }
  n.settle();
  for (const auto& op : taken) {
    REQUIRE(op->ends == 1);
    CHECK((op->status == errc::ok || (dies && op->status == errc::peer_lost)));
    if (op->status != errc::ok) continue;
    const bytes& whole = out[op->got.tag.value / 2];
    CHECK(op->got.size == whole.size());
    CHECK(std::equal(whole.begin(), whole.end(), op->into.front().begin()));
  }
  for (std::optional<claimed_message> m;
       (m = n[0].messages.receives().try_claim(nullptr, any_tag));)
    m->discard();
  n.settle();
  // Messages that had not come by then are not awaited if their sender lives.
  for (std::optional<claimed_message> m;
       (m = n[0].messages.receives().try_claim(nullptr, any_tag));) {
    m.reset();
    n.settle();
  }
  CHECK(n[0].clean());
  if (dies) {
    CHECK(n[0].budget_left() == budget);
  } else {
    for (const auto& op : sent) CHECK(op->ended_with(errc::ok));
    CHECK(n.clean());
  }
  return quiet;
}

}  // namespace

TEST_CASE("claim: messages are received or discarded at any moment, once, and nothing is left") {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  const bool dies = GENERATE(false, true);
  for (int steps = 0; !claim_after(steps, dies, s); steps += WEFT_TEST_SANITIZED ? 5 : 1) {
  }
}

TEST_CASE("claim: a message is received once") {
  nodes n(2);
  const auto sent = n[1].send(0, out[1], tag{1});
  n.settle();
  std::optional<claimed_message> m = n[0].messages.receives().try_claim(nullptr, tag{1});
  REQUIRE(m);
  bytes in(10);
  taking first(m->recv(in)), second(m->recv(in));
  CHECK(first.go().ended_with(errc::truncated));
  CHECK(second.go().ended_with(errc::invalid_argument));
  m->discard();
}

TEST_CASE("claim: a receive that is cancelled before it starts drops the message") {
  nodes n(2);
  const auto sent = n[1].send(0, out[4], tag{1}, send_mode::synchronous);
  n.settle();
  std::optional<claimed_message> m = n[0].messages.receives().try_claim(nullptr, tag{1});
  REQUIRE(m);
  bytes in(10);
  taking op(m->recv(in));
  op.cancel();
  CHECK(op.go().ended_with(errc::stopped));
  n.settle();
  CHECK(sent->ended_with(errc::ok));
  CHECK(n.clean());
}
