// SPDX-License-Identifier: Apache-2.0
// Answers that wait for their turn, or for credit: they are stopped, or lose their peer.
#include <array>

#include "calls_of_test.hpp"

using namespace net;
using weft::detail::send_mode;

namespace {

const weft::proto::messenger_settings smallest_credit{.unexpected_budget = 0,
                                                      .eager_limit = 64u << 10};

/// Sends from node 0 to node 1 until one waits for credit. \return that one
std::shared_ptr<sending> use_up_credit(nodes& n, const bytes& data,
                                       std::vector<std::shared_ptr<sending>>& all) {
  peer& to = n[0].to(1);
  do {
    all.push_back(n[0].send(1, data, tag{1}));
    n.settle();
  } while (to.writer().flow().can_begin_message(false));
  all.push_back(n[0].send(1, data, tag{1}));
  n.settle();
  REQUIRE(to.sender().order().holder() == all.back().get());
  return all.back();
}

void close(nodes& n, fake::node from, fake::node to) {
  peer& whom = n[from].to(to);
  const engine::holder hold(n[from].engine);
  whom.close();
}

/// Node 0 has no credit left, not even for answers, and these wait, in the order of their turns.
struct answers_without_credit {
  answers_without_credit() {
    const auto gave_way = use_up_credit(n, data, begun);
    begun.pop_back();
    const auto answer = [this] { return n[0].send(1, data, tag{1}, send_mode::answer); };
    begun.push_back(answer());  // has the last credit
    const auto has_turn = answer();
    const auto next = answer();
    waiting = {has_turn, next, gave_way, n[0].send(1, data, tag{1})};
    n.settle();
    const weft::proto::send_order& order = n[0].to(1).sender().order();
    REQUIRE(order.holder() == has_turn.get());
    REQUIRE(order.has_answers());
    for (const auto& s : begun) REQUIRE(s->begun);
    for (const auto& s : waiting) REQUIRE_FALSE(s->begun);
  }

  nodes n{2, {}, smallest_credit};
  const bytes data = pattern(8);
  std::vector<std::shared_ptr<sending>> begun;
  std::array<std::shared_ptr<sending>, 4> waiting;
};

}  // namespace

TEST_CASE("answers: those that wait are stopped in any order, and the others go") {
  const bool last_first = GENERATE(false, true);
  const bool one_by_one = GENERATE(false, true);
  for (unsigned stopped = 0; stopped != 16; ++stopped) {
    CAPTURE(stopped, last_first, one_by_one);
    answers_without_credit a;
    for (unsigned i = 0; i != 4; ++i) {
      const unsigned which = last_first ? 3 - i : i;
      if ((stopped >> which & 1) == 0) continue;
      a.waiting[which]->cancel();
      if (!one_by_one) continue;
      a.n.settle();
      REQUIRE(a.waiting[which]->ended_with(errc::stopped));
    }
    a.n.settle();
    const auto receive = [&](const sending& s) {
      bytes in(8);
      const auto op = a.n[1].recv(0, in, tag{1});
      a.n.settle();
      REQUIRE(op->ended_with(errc::ok));
      REQUIRE(s.ended_with(errc::ok));
    };
    for (const auto& s : a.begun) receive(*s);
    for (unsigned i = 0; i != 4; ++i)
      if ((stopped >> i & 1) == 0)
        receive(*a.waiting[i]);
      else
        REQUIRE(a.waiting[i]->ended_with(errc::stopped));
    CHECK(a.n.clean());
  }
}

TEST_CASE("answers: the connection ends while they wait, and nothing is left") {
  const bool in_good_order = GENERATE(false, true);
  const bool stopped_too = GENERATE(false, true);
  CAPTURE(in_good_order, stopped_too);
  answers_without_credit a;
  if (in_good_order)
    close(a.n, 1, 0);
  else
    a.n.world.kill(1);
  if (stopped_too)
    for (const auto& s : a.waiting) s->cancel();
  a.n.settle();
  const errc lost = in_good_order ? errc::closed : errc::peer_lost;
  for (const auto& s : a.begun) CHECK(s->ended_with(lost));
  for (const auto& s : a.waiting) CHECK(s->ended_with(stopped_too ? errc::stopped : lost));
  CHECK(a.n[0].clean());
}

namespace {

enum class end_of { stop, loss_of_caller, loss_of_called, close_by_caller, close_by_called };

/// Node 0 answers three calls of node 1, which does nothing meanwhile: the first reply takes the
/// last credit, the second has the turn, the third waits for it.
/// \param whom of the calls, as bits: they are stopped
void strike_answers(end_of how, std::size_t size, unsigned whom) {
  CAPTURE(static_cast<int>(how), size, whom);
  fake::settings s;
  s.shortest_way = s.longest_way = fake::time{0};
  nodes n(2, s, smallest_credit);
  const bytes data = pattern(8);
  std::vector<std::shared_ptr<sending>> plain;
  std::vector<errc> replied;
  {
    const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
      const bytes reply = pattern(size);
      const auto r = co_await weft::as_result(c.reply(reply));
      replied.push_back(r.has_value() ? errc::ok : r.failure().kind());
      if (!r.has_value()) throw weft::error(r.failure());
    });
    call_of_test first(n[1], am{7}, 8, size);  // makes the links
    n.settle();
    REQUIRE(first.op.ended_with(errc::ok));
    replied.clear();
    use_up_credit(n, data, plain);
    std::vector<std::unique_ptr<call_of_test>> calls;
    for (int i = 0; i != 3; ++i)
      calls.push_back(std::make_unique<call_of_test>(n[1], am{7}, 8, size));
    const weft::proto::send_order& order = n[0].to(1).sender().order();
    const auto only_node_0 = [&n] {
      for (int i = 0; i != 10; ++i) n[0].engine.poll_once();
    };
    only_node_0();
    REQUIRE(order.has_answers());
    REQUIRE(replied.empty());

    switch (how) {
      case end_of::stop:
        for (unsigned i = 0; i != 3; ++i)
          if ((whom >> i & 1) != 0) calls[i]->op.cancel();
        only_node_0();
        break;
      case end_of::loss_of_caller:
        n.world.kill(1);
        break;
      case end_of::loss_of_called:
        n.world.kill(0);
        break;
      case end_of::close_by_caller:
        close(n, 1, 0);
        break;
      case end_of::close_by_called:
        close(n, 0, 1);
        break;
    }
    n.settle();
    if (how == end_of::stop) {
      for (unsigned i = 0; i != 3; ++i)
        CHECK(calls[i]->op.ended_with((whom >> i & 1) != 0 ? errc::stopped : errc::ok));
      // That of the first one had begun to leave.
      const unsigned late = whom >> 1;
      CHECK(std::count(replied.begin(), replied.end(), errc::stopped) ==
            static_cast<int>((late & 1) + (late >> 1)));
      CHECK(replied.size() == 3);
      for (const auto& p : plain) p->cancel();
    }
    if (how == end_of::loss_of_caller) CHECK(replied == std::vector(3, errc::peer_lost));
    if (how == end_of::loss_of_called)
      for (const auto& c : calls) CHECK(c->op.ended_with(errc::peer_lost));
    if (how == end_of::close_by_caller) {
      for (const auto& c : calls) CHECK(c->op.ended_with(errc::closed));
      CHECK(replied == std::vector(3, errc::closed));
    }
    if (how == end_of::close_by_called) {  // what waits for credit goes first
      for (const auto& c : calls) CHECK(c->op.ended_with(errc::ok));
      CHECK(replied == std::vector(3, errc::ok));
      for (const auto& p : plain) p->cancel();
    }
    n.settle();
    if (how == end_of::loss_of_caller) n[1].end();
    if (how == end_of::loss_of_called) n[0].end();
  }
  n.settle();
  if (how != end_of::loss_of_caller) CHECK(n[1].clean());
  if (how != end_of::loss_of_called) CHECK(n[0].clean());
}

constexpr std::array<std::size_t, 4> reply_sizes{0, 8, 60'000, 400'000};

}  // namespace

TEST_CASE("answers: replies that wait are stopped with their calls, and the others go") {
  for (const std::size_t size : reply_sizes)
    for (unsigned whom = 0; whom != 8; ++whom) strike_answers(end_of::stop, size, whom);
}
TEST_CASE("answers: replies that wait when a side is lost or closes end with the reason") {
  for (const std::size_t size : reply_sizes)
    for (const end_of how : {end_of::loss_of_caller, end_of::loss_of_called,
                             end_of::close_by_caller, end_of::close_by_called})
      strike_answers(how, size, 0);
}

TEST_CASE("answers: a caller that leaves stops a handler whose reply waits for a link") {
  nodes n(2);
  errc end = errc::ok;
  const bytes word(1);
  const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
    n.links_allowed = false;  // node 0 has none yet
    end = (co_await weft::as_result(c.reply(const_buffer(word)))).code();
  });
  call_of_test c(n[1], am{7}, 8, 8);
  n.settle();
  REQUIRE_FALSE(c.op.ended());
  c.op.cancel();
  n.settle();
  CHECK(c.op.ended_with(errc::stopped));
  CHECK(end == errc::stopped);
  n.links_allowed = true;
}
