// SPDX-License-Identifier: Apache-2.0
// A process is killed while loans are read: the memory of a lost receiver's views is free again,
// and views of a lost sender's memory stay readable.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;

namespace {

constexpr tag lent_to_other{1}, first_back{2};
constexpr std::size_t elements = 100'000;
constexpr std::size_t loans_in_budget = 8;

options small_pool() {
  options o = options::from_environment();
  o.standalone = true;
  o.transports = {"self", "shm"};
  o.loan_budget = 4 * elements * (loans_in_budget + 2);
  return o;
}

std::string address_of(const std::string& who) {
  return "unix://weft-loans-" + std::to_string(::getpid()) + who;
}

/// A child that runs `act`, connected to this process; killed and reaped by the destructor.
class child {
 public:
  using part = task<void> (*)(context& ctx, endpoint other);

  explicit child(part act, const std::string& name = {})
      : own_(address_of("-here" + name)), other_(address_of("-there" + name)) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    try {
      context ctx(small_pool());
      run(ctx, [](context& c, std::string own, std::string other, part p) -> task<void> {
        endpoint parent = co_await c.meet(own, other, "loans");
        co_await p(c, parent);
      }(ctx, other_, own_, act));
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  ~child() {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }
  task<endpoint> meet(context& ctx) const { return ctx.meet(own_, other_, "loans"); }

 private:
  const std::string own_, other_;
  pid_t pid_ = 0;
};

/// Both sides know each other's pools: the first loans may be copied.
task<void> warm_up(context& ctx, endpoint other, bool begins) {
  for (bool in_place = false; !in_place;) {
    loan<std::uint32_t> mine = ctx.make_loan<std::uint32_t>(16);
    mine[0] = 1;
    if (begins) co_await other.send_loan(first_back, std::move(mine));
    const auto theirs = co_await other.recv_loan<std::uint32_t>(first_back);
    const bool here = theirs.in_place();
    if (!begins) co_await other.send_loan(first_back, std::move(mine));
    co_await other.send_value(first_back, here);
    const bool there = co_await other.recv_value<bool>(first_back);
    in_place = here && there;
  }
}

/// Holds views until it is killed.
task<void> hold_views(context& ctx, endpoint other) {
  co_await warm_up(ctx, other, false);
  std::vector<lent<std::uint32_t>> views;
  for (std::size_t i = 0; i != loans_in_budget / 2; ++i)
    views.push_back(co_await other.recv_loan<std::uint32_t>(lent_to_other));
  bool all_in_place = true;
  for (const auto& v : views) all_in_place = all_in_place && v.in_place();
  co_await other.send_value(first_back, all_in_place);
  co_await other.recv_value<int>(first_back);
}

/// Sends loans, and is killed while they are read.
task<void> lend_some(context& ctx, endpoint other) {
  co_await warm_up(ctx, other, false);
  for (std::uint32_t i = 0; i != loans_in_budget / 2; ++i) {
    loan<std::uint32_t> l = ctx.make_loan<std::uint32_t>(elements);
    for (std::uint32_t& e : l) e = i;
    co_await other.send_loan(lent_to_other, std::move(l));
  }
  co_await other.recv_value<int>(first_back);
}

/// Holds a view of the one loan that all get, until it is killed or asked.
task<void> hold_one(context& ctx, endpoint other) {
  co_await warm_up(ctx, other, false);
  auto view = co_await other.recv_loan<std::uint32_t>(lent_to_other);
  co_await other.send_value(first_back, view.in_place() && view[elements - 1] == elements);
  co_await other.recv_value<int>(first_back);
  const bool same = view[0] == 1 && view[elements - 1] == elements;
  view = {};
  co_await other.send_value(first_back, same);
  co_await other.recv_value<int>(first_back);
}

/// Whether the pool has room for that many loans at once.
bool has_room_for(context& ctx, std::size_t count) {
  std::vector<loan<std::uint32_t>> all;
  try {
    while (all.size() != count) all.push_back(ctx.make_loan<std::uint32_t>(elements));
  } catch (const error& e) {
    CHECK(e.kind() == errc::out_of_memory);
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("loans: a receiver that is killed gives back what it was reading") {
  const child victim(&hold_views);
  context ctx(small_pool());
  const auto survive = [&](context& c) -> task<void> {
    endpoint other = co_await victim.meet(c);
    co_await warm_up(c, other, true);
    for (std::size_t i = 0; i != loans_in_budget; ++i)
      co_await other.send_loan(lent_to_other, c.make_loan<std::uint32_t>(elements));
    const bool in_place = co_await other.recv_value<bool>(first_back);
    CHECK(in_place);
    CHECK_FALSE(has_room_for(c, loans_in_budget));
    victim.kill();
    const auto lost = co_await as_result(other.recv_value<int>(first_back));
    CHECK(lost.code() == errc::peer_lost);
    CHECK(has_room_for(c, loans_in_budget));
  };
  run(ctx, survive(ctx));
}

TEST_CASE("loans: one of three receivers of a shared loan is killed, and the others read on") {
  const child one(&hold_one, "1"), victim(&hold_one, "2"), three(&hold_one, "3");
  options o = small_pool();
  o.loan_budget = 10 * elements;  // two loans, rounded up
  context ctx(o);
  const auto survive = [&](context& c) -> task<void> {
    endpoint lost = co_await victim.meet(c), first = co_await one.meet(c),
             last = co_await three.meet(c);
    const std::vector<endpoint> all{first, lost, last};
    for (const endpoint& each : all) co_await warm_up(c, each, true);
    loan<std::uint32_t> filled = c.make_loan<std::uint32_t>(elements);
    for (std::uint32_t i = 0; i != elements; ++i) filled[i] = i + 1;
    shared_loan<std::uint32_t> shared(std::move(filled));
    for (const endpoint& each : all) co_await each.send_loan(lent_to_other, shared);
    shared = {};
    for (const endpoint& each : all) {
      const bool in_place = co_await each.recv_value<bool>(first_back);
      CHECK(in_place);
    }
    CHECK_FALSE(has_room_for(c, 2));  // one memory for all three: another loan has room
    CHECK(has_room_for(c, 1));
    victim.kill();
    const auto gone = co_await as_result(lost.recv_value<int>(first_back));
    CHECK(gone.code() == errc::peer_lost);
    CHECK_FALSE(has_room_for(c, 2));
    for (const endpoint& each : {first, last}) {
      co_await each.send_value(first_back, 0);
      const bool same = co_await each.recv_value<bool>(first_back);
      CHECK(same);
    }
    CHECK(has_room_for(c, 2));
  };
  run(ctx, survive(ctx));
}

TEST_CASE("loans: views of a sender that is killed stay readable, also after the context's end") {
  std::vector<lent<std::uint32_t>> views;
  {
    const child victim(&lend_some);
    context ctx(small_pool());
    const auto survive = [&](context& c) -> task<void> {
      endpoint other = co_await victim.meet(c);
      co_await warm_up(c, other, true);
      for (std::size_t i = 0; i != loans_in_budget / 2; ++i)
        views.push_back(co_await other.recv_loan<std::uint32_t>(lent_to_other));
      victim.kill();
      const auto lost = co_await as_result(other.recv_value<int>(first_back));
      CHECK(lost.code() == errc::peer_lost);
      views.erase(views.begin());
    };
    run(ctx, survive(ctx));
  }
  for (std::uint32_t i = 0; i != views.size(); ++i) {
    CHECK(views[i].in_place());
    bool same = true;
    for (const std::uint32_t e : views[i].span()) same = same && e == i + 1;
    CHECK(same);
  }
  views.clear();
}
