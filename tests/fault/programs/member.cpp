// SPDX-License-Identifier: Apache-2.0
// A member of a job that grows and shrinks. It asks the other members in turn and checks their
// answers.
//   member open ADDRESS   rank 0, or what was launched beside it; rank 0 opens the listener ADDRESS
//   member join ADDRESS   one that joins
// It goes on until it gets SIGTERM; then it leaves in good order. What it says, a line each:
//   open ADDRESS              others can join there
//   rank N                    it is a member
//   N sees +M, N sees -M      the book says that M joined, or went
//   N lost M: ERROR, TEXT     an operation with M ended so
//   N met all                 it has exchanged messages with all that it knows, once more since the
//                             book last changed
//   N left                    it has left, and has exchanged a message with rank 0 after that
//   error ERROR: TEXT         its end, with status 3
// Any fault that it finds ends it with status 1.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "../../support/pattern.hpp"

namespace {

using namespace weft;
using namespace std::chrono_literals;
using tests::bytes;

constexpr tag ask{1}, answer{2};
constexpr tag never{3};
constexpr std::size_t longest = 200'000;

std::atomic<bool> asked_to_leave{false};

void say(const std::string& what) { std::cout << (what + '\n') << std::flush; }

/// A message carries the rank that asks and the number of its question.
struct head {
  peer_id who;
  std::uint32_t number;
};

bytes question(peer_id who, std::uint32_t number) {
  const head h{who, number};
  bytes all = tests::pattern(sizeof h + (number * 7919) % longest, who * 31 + number);
  std::memcpy(all.data(), &h, sizeof h);
  return all;
}

class member {
 public:
  explicit member(context& c) : ctx_(c), job_(c), me_(job_.rank()) {}

  task<void> live() {
    say("rank " + std::to_string(me_));
    scope all;
    all.start(serve());
    all.start(follow(all));
    while (!asked_to_leave) {
      const std::uint64_t epoch = known_.epoch;
      bool met_all = true;
      for (const peer_id other : std::vector(known_.ranks))
        if (other != me_) met_all = co_await exchange(other) && met_all;
      if (met_all && known_.epoch == epoch && told_at_ != epoch) {
        told_at_ = epoch;
        say(std::to_string(me_) + " met all");
      }
      co_await sleep_for(1ms);
    }
    if (me_ != 0) {
      co_await job_.leave();
      if (!known_.contains(0) || co_await exchange(0)) say(std::to_string(me_) + " left");
    }
    all.request_stop();
    static_cast<void>(co_await as_result(all.join()));
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    say("wrong: " + std::to_string(me_) + ": " + what);
    std::_Exit(1);  // at once: other tasks may wait for messages that will not come
  }

  /// \return false if the other member has gone
  task<bool> exchange(peer_id other) {
    const bytes out = question(me_, ++asked_);
    bytes in(out.size() + 1);
    endpoint there = ctx_.peer(other);
    const auto sent = co_await as_result(there.send(out, ask));
    if (!sent) co_return lose(other, sent.failure());
    auto got = co_await as_result(there.recv(in, answer));
    if (!got) co_return lose(other, got.failure());
    in.resize(got.value().size);
    if (in != out) wrong("a wrong answer from " + std::to_string(other));
    co_return true;
  }

  bool lose(peer_id other, const error& e) {
    if (e.kind() != errc::peer_lost && e.kind() != errc::closed)
      wrong("with " + std::to_string(other) + ": " + e.what());
    if (lost_.insert(other).second)
      say(std::to_string(me_) + " lost " + std::to_string(other) + ": " +
          (e.kind() == errc::closed ? "closed, " : "peer_lost, ") + e.what());
    return false;
  }

  /// Answers all other members.
  task<void> serve() {
    bytes in(longest + sizeof(head));
    for (;;) {
      auto came = co_await as_result(ctx_.recv(in, ask));
      if (came.code() == errc::stopped) co_return;
      if (came.code() == errc::peer_lost) continue;  // the sender died in the middle of it
      if (!came) wrong(std::string("a receive from anybody ended: ") + came.failure().what());
      const received got = came.value();
      head h{};
      if (got.size < sizeof h) wrong("a question without a head");
      std::memcpy(&h, in.data(), sizeof h);
      const auto text = std::span(in).first(got.size);
      if (h.who != got.source || !tests::same(question(h.who, h.number), text))
        wrong("a wrong question from " + std::to_string(got.source));
      const auto sent = co_await as_result(ctx_.peer(got.source).send(text, answer));
      if (sent.code() == errc::stopped) co_return;
      if (!sent) lose(got.source, sent.failure());
    }
  }

  /// A receive without a sender ends when the other member does.
  task<void> watch(peer_id other) {
    std::byte nothing{};
    const auto got = co_await as_result(ctx_.peer(other).recv({&nothing, 1}, never));
    if (got) wrong("a message that nobody sent");
    if (got.code() != errc::stopped) lose(other, got.failure());
  }

  task<void> follow(scope& all) {
    try {
      for (membership_view next = job_.now();;) {
        learn(next, all);
        next = co_await job_.changed(next.epoch);
      }
    } catch (const error& e) {
      if (e.kind() == errc::stopped) throw;
      known_.ranks.erase(known_.ranks.begin(), known_.ranks.begin() + known_.contains(0));
      say(std::to_string(me_) + " follows nobody");
    }
  }

  void learn(const membership_view& next, scope& all) {
    for (const peer_id r : next.ranks) {
      if (known_.contains(r) || r == me_) continue;
      if (!ever_.insert(r).second) wrong("a rank came twice: " + std::to_string(r));
      say(std::to_string(me_) + " sees +" + std::to_string(r));
      all.start(watch(r));
    }
    for (const peer_id r : known_.ranks)
      if (!next.contains(r)) say(std::to_string(me_) + " sees -" + std::to_string(r));
    known_ = next;
  }

  context& ctx_;
  membership job_;
  const peer_id me_;
  membership_view known_;
  std::set<peer_id> ever_, lost_;
  std::uint32_t asked_ = 0;
  std::uint64_t told_at_ = ~std::uint64_t{0};
};

int live(const std::string& how, const std::string& address) {
  context ctx = how == "join" ? join(address) : context();
  if (how == "open" && ctx.world().rank() == 0) say("open " + membership(ctx).open(address));
  member m(ctx);
  run(ctx, m.live());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: member open|join ADDRESS\n";
    return 2;
  }
  ::signal(SIGTERM, [](int) { asked_to_leave = true; });
  try {
    return live(argv[1], argv[2]);
  } catch (const error& e) {
    say("error " + e.code().message() + ": " + e.what());
    return 3;
  } catch (const std::exception& e) {
    say(std::string("wrong: ") + e.what());
    return 1;
  }
}
