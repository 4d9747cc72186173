// SPDX-License-Identifier: Apache-2.0
// Topics while processes are killed: subscribers that block, publishers, and ranks of a job.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "launcher.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr tag said{1};
constexpr std::size_t topic_elements = 50'000;
constexpr std::uint64_t topic_values = 200;

using frame = std::vector<std::uint64_t>;

options topic_options() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

/// A child that runs `act`, connected to this process; killed and reaped by the destructor.
class topic_child {
 public:
  using part = task<void> (*)(context& ctx, endpoint other);

  topic_child(part act, const std::string& name)
      : own_("unix://weft-topics-" + std::to_string(::getpid()) + "-here" + name),
        other_("unix://weft-topics-" + std::to_string(::getpid()) + "-there" + name) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    try {
      context ctx(topic_options());
      run(ctx, [](context& c, std::string own, std::string other, part p) -> task<void> {
        endpoint parent = co_await c.meet(own, other, "topics");
        co_await p(c, parent);
      }(ctx, other_, own_, act));
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  ~topic_child() {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  topic_child(const topic_child&) = delete;
  topic_child& operator=(const topic_child&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }
  task<endpoint> meet(context& ctx) const { return ctx.meet(own_, other_, "topics"); }

 private:
  const std::string own_, other_;
  pid_t pid_ = 0;
};

frame frame_with(std::uint64_t n) {
  frame f(topic_elements, n);
  f.front() = n + 1;
  return f;
}
template <class Sample>
bool holds(const Sample& s, std::uint64_t n) {
  const auto f = s.value();
  return f.size() == topic_elements && f.front() == n + 1 && f.back() == n;
}

/// Takes two values, keeps them, and no more.
task<void> block_for_ever(context& ctx, endpoint feed) {
  subscriber<frame> in(ctx, feed, "frames", {.policy = when_full::block, .depth = 4});
  auto first = co_await in.next(), second = co_await in.next();
  co_await feed.send_value(said, holds(*first, 1) && holds(*second, 2));
  co_await sleep_for(1h);
}
/// Takes all. Says how many came, if they are right.
task<void> take_all(context& ctx, endpoint feed) {
  subscriber<frame> in(ctx, feed, "frames", {.policy = when_full::block, .depth = 4});
  std::uint64_t n = 0;
  while (auto f = co_await in.next())
    if (!holds(*f, ++n)) n = topic_values * 2;
  co_await feed.send_value(said, n);
  co_await feed.recv_value<int>(said);
}
/// Takes the latest ones only. Says whether those were right, and the last one came.
task<void> take_latest(context& ctx, endpoint feed) {
  subscriber<frame> in(ctx, feed, "frames", {.policy = when_full::drop_oldest, .depth = 2});
  std::uint64_t last = 0;
  bool right = true;
  while (auto f = co_await in.next()) {
    right =
        right && holds(*f, f->sequence()) && (last == 0 || f->missed() == f->sequence() - last - 1);
    last = f->sequence();
    co_await sleep_for(1ms);
  }
  co_await feed.send_value(said, right && last == topic_values);
  co_await feed.recv_value<int>(said);
}

/// Publishes until it is killed.
task<void> publish_for_ever(context& ctx, endpoint) {
  publisher<frame> out(ctx, "frames");
  for (std::uint64_t n = 1;; ++n) {
    const frame next = frame_with(n);
    co_await out.publish(next);
  }
}

}  // namespace

TEST_CASE("topics: a subscriber that blocks is killed, and the others get all values") {
  const topic_child victim(&block_for_ever, "1"), all(&take_all, "2"), latest(&take_latest, "3");
  options o = topic_options();
  o.loan_budget = 40 * 8 * topic_elements;
  context ctx(o);
  const auto survive = [&](context& c) -> task<void> {
    publisher<frame> out(c, "frames");
    endpoint a = co_await victim.meet(c), b = co_await all.meet(c), d = co_await latest.meet(c);
    while (out.info().subscribers.size() != 3) co_await sleep_for(100us);
    std::uint64_t n = 1;
    for (;; ++n) {
      const frame next = frame_with(n);
      if (!out.try_publish(next) && n > 4) break;
    }
    const bool right = co_await a.recv_value<bool>(said);
    CHECK(right);
    for (;; ++n) {  // what it has taken made room
      const frame next = frame_with(n);
      const auto sent = co_await as_result(within(50ms, out.publish(next)));
      if (!sent) break;
    }
    CHECK(n < topic_values);
    victim.kill();
    for (; n <= topic_values; ++n) {
      const frame next = frame_with(n);
      const std::uint64_t number = co_await out.publish(next);
      CHECK(number == n);
    }
    CHECK(out.info().subscribers.size() == 2);
    CHECK(out.info().not_lent == 0);
    out.close();
    const auto count = co_await b.recv_value<std::uint64_t>(said);
    CHECK(count == topic_values);
    const bool last = co_await d.recv_value<bool>(said);
    CHECK(last);
    co_await out.closed();
    co_await b.send_value(said, 0);
    co_await d.send_value(said, 0);
  };
  run(ctx, survive(ctx));
}

TEST_CASE("topics: a publisher that is killed ends its subscription behind the values that came") {
  const topic_child victim(&publish_for_ever, "4");
  context ctx(topic_options());
  std::vector<sample<frame>> kept;
  const auto survive = [&](context& c) -> task<void> {
    endpoint feed = co_await victim.meet(c);
    subscriber<frame> in(c, feed, "frames", {.policy = when_full::block, .depth = 8});
    for (std::uint64_t n = 0; n != 20; ++n) {
      auto f = co_await in.next();
      CHECK(holds(*f, f->sequence()));
      if (n >= 15) kept.push_back(std::move(*f));
    }
    victim.kill();
    errc how = errc::ok;
    for (int n = 0; how == errc::ok && n != 100; ++n) {
      auto f = co_await as_result(in.next());
      if (f && f.value()) CHECK(holds(*f.value(), f.value()->sequence()));
      how = f.code();
    }
    CHECK(how == errc::peer_lost);
    CHECK(in.counts().publishers == 0);
  };
  run(ctx, survive(ctx));
  for (const auto& f : kept) CHECK(holds(f, f.sequence()));
  kept.clear();
}

TEST_CASE("topics: publishers of a job come, go and are killed, and its directory knows") {
  weft::tests::launcher job({"-n", "5", WEFT_TEST_BIN_DIR "/tests/topics"});
  job.wait();
  CAPTURE(job.err());
  CHECK(job.out().find("rank 1 is done\n") != std::string::npos);
  CHECK(job.out().find("rank 4 is done\n") != std::string::npos);
}
