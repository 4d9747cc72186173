// SPDX-License-Identifier: Apache-2.0
// The policy of waiting under virtual time: ranks that pass a token round, neighbours that compute,
// and a scheduler with time slices.
#include "runtime/sleep/wait_policy.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using weft::runtime::wait_policy;

namespace {

constexpr unsigned slice = 3000;  // microseconds, which are the steps of the model

/// A thread of the model. Without a policy it is a neighbour, and computes.
struct thread {
  std::optional<wait_policy> policy = {};
  bool has_token = false;
  bool asleep = false;
  std::optional<unsigned> yielded_at = {};
};

/// A core runs the first thread of its queue: until its slice is over, it yields or it sleeps. A
/// thread that is woken comes first.
struct core {
  std::deque<thread*> queue = {};
  unsigned ran = 0;

  void rotate() {
    queue.push_back(queue.front());
    queue.pop_front();
    ran = 0;
  }
};

class machine {
 public:
  machine(unsigned cores, unsigned ranks, unsigned neighbours, wait_policy::settings how)
      : cores_(cores), threads_(ranks + neighbours), ranks_(ranks) {
    how.crowded = ranks > cores;
    for (unsigned i = 0; i != threads_.size(); ++i) {
      if (i < ranks) threads_[i].policy.emplace(how);
      core_of(i).queue.push_back(&threads_[i]);
    }
    threads_[0].has_token = true;
  }

  /// Passes the token for a second. \return the times of its passes, in rising order
  std::vector<unsigned> run() {
    unsigned last = 0;
    for (now_ = 1; now_ != 1'000'000; ++now_)
      for (core& c : cores_) {
        if (c.queue.empty()) continue;
        thread& t = *c.queue.front();
        if (t.policy && step(c, t)) {
          times_.push_back(now_ - last);
          last = now_;
        }
        if (++c.ran >= slice && !c.queue.empty()) c.rotate();
      }
    std::sort(times_.begin(), times_.end());
    return times_;
  }

  unsigned sleeps() const { return sleeps_; }

 private:
  static wait_policy::time_point at(unsigned step) {
    return wait_policy::time_point(std::chrono::microseconds(step));
  }
  core& core_of(std::size_t thread) { return cores_[thread % cores_.size()]; }

  /// A rank runs for a microsecond. \return whether it has passed the token on
  bool step(core& c, thread& t) {
    if (t.yielded_at) t.policy->on_yield(at(*t.yielded_at), at(now_));
    t.yielded_at.reset();
    if (t.has_token) {
      pass_on(t);
      return true;
    }
    switch (t.policy->on_empty_polls(at(now_))) {
      case wait_policy::advice::spin:
        break;
      case wait_policy::advice::yield:
        t.yielded_at = now_;
        c.rotate();
        break;
      case wait_policy::advice::sleep:
        t.asleep = true;
        c.queue.pop_front();
        c.ran = 0;
        ++sleeps_;
        break;
    }
    return false;
  }

  void pass_on(thread& from) {
    const auto i = static_cast<std::size_t>(&from - threads_.data());
    thread& to = threads_[(i + 1) % ranks_];
    from.policy->reset();
    from.has_token = false;
    to.has_token = true;
    if (!std::exchange(to.asleep, false)) return;
    core_of((i + 1) % ranks_).queue.push_front(&to);
  }

  std::vector<core> cores_;
  std::vector<thread> threads_;
  const unsigned ranks_;
  unsigned now_ = 0;
  unsigned sleeps_ = 0;
  std::vector<unsigned> times_;
};

unsigned median(const std::vector<unsigned>& sorted) { return sorted[sorted.size() / 2]; }

}  // namespace

TEST_CASE("wait policy: a neighbour on each core costs a message no time slice", "[many]") {
  const unsigned neighbours = GENERATE(0u, 1u, 2u, 4u);
  machine m(2, 2, neighbours, {});
  const std::vector<unsigned> times = m.run();
  CAPTURE(neighbours);
  CHECK(median(times) <= 2);
  CHECK(times.size() > 100'000 / (1 + neighbours));
}

TEST_CASE("wait policy: a thread that never sleeps keeps its own slices", "[many]") {
  const unsigned neighbours = GENERATE(0u, 1u, 2u);
  machine m(2, 2, neighbours, {.never_sleep = true});
  const std::vector<unsigned> times = m.run();
  CAPTURE(neighbours);
  CHECK(median(times) <= 2);
  CHECK(m.sleeps() == 0);
}

TEST_CASE("wait policy: ranks that share cores let each other run, and do not sleep for it",
          "[many]") {
  machine m(2, 8, 0, {});
  CHECK(median(m.run()) <= 8);
  CHECK(m.sleeps() == 0);
}

TEST_CASE("wait policy: in a crowded job beside neighbours a message costs no time slice",
          "[many]") {
  const unsigned neighbours = GENERATE(1u, 2u, 4u);
  machine m(2, 8, neighbours, {});
  const std::vector<unsigned> times = m.run();
  CAPTURE(neighbours);
  CHECK(median(times) <= 8);
  CHECK(times.size() > 10'000);
}

TEST_CASE("wait policy: yields come back when the neighbours have left") {
  wait_policy p({.crowded = true});
  const auto at = [](std::chrono::microseconds t) { return wait_policy::time_point(1s + t); };
  CHECK(p.on_empty_polls(at(0us)) == wait_policy::advice::yield);
  p.on_yield(at(0us), at(3ms));
  p.reset();
  CHECK(p.on_empty_polls(at(4ms)) == wait_policy::advice::sleep);
  p.reset();
  CHECK(p.on_empty_polls(at(14ms)) == wait_policy::advice::yield);
  p.on_yield(at(14ms), at(17ms));
  p.reset();
  CHECK(p.on_empty_polls(at(36ms)) == wait_policy::advice::sleep);
  p.reset();
  CHECK(p.on_empty_polls(at(38ms)) == wait_policy::advice::yield);
  p.on_yield(at(38ms), at(38ms + 1us));
  CHECK(p.on_empty_polls(at(39ms)) == wait_policy::advice::yield);
  CHECK(p.on_empty_polls(at(41ms)) == wait_policy::advice::sleep);
}

TEST_CASE("wait policy: a yield that an interrupt made longer is no sign of a crowd") {
  wait_policy p({.never_sleep = true});
  auto now = wait_policy::time_point(1s);
  unsigned yields = 0, crowded = 0;
  for (unsigned wait = 0; wait != 10'000; ++wait) {
    p.reset();
    for (const auto end = now + 22us; now < end; now += 1us) {
      if (p.on_empty_polls(now) != wait_policy::advice::yield) continue;
      const auto from = now;
      now += ++yields % 64 == 0 ? 5us : 1us;
      p.on_yield(from, now);
    }
    crowded += p.crowded() ? 1u : 0u;
  }
  CHECK(yields >= 10'000);  // at the end of each wait
  CHECK(crowded == 0);
}

TEST_CASE("wait policy: a crowd that no launcher told of is noticed soon, and its end, too") {
  wait_policy p({.never_sleep = true});
  auto now = wait_policy::time_point(1s);
  const auto yield = [&](std::chrono::microseconds taken) {
    p.on_yield(now, now + taken);
    now += taken + 1us;
  };
  unsigned yields = 0;
  // Every fourth lets another thread run for a while.
  for (; !p.crowded() && yields != 100; ++yields) yield(yields % 4 == 0 ? 10us : 1us);
  CHECK(yields <= 32);
  for (yields = 0; p.crowded() && yields != 1000; ++yields) yield(1us);
  CHECK(yields <= 300);
}

TEST_CASE("wait policy: a thread spins, yields, then sleeps") {
  wait_policy p({.spin = 200us});
  const wait_policy::time_point t(1s);
  CHECK(p.on_empty_polls(t) == wait_policy::advice::spin);
  CHECK(p.on_empty_polls(t + 199us) == wait_policy::advice::yield);
  p.on_yield(t + 199us, t + 200us);
  CHECK(p.on_empty_polls(t + 200us) == wait_policy::advice::sleep);
  p.reset();
  CHECK(p.on_empty_polls(t + 300us) == wait_policy::advice::spin);
  wait_policy interrupt({.never_spin = true});
  CHECK(interrupt.on_empty_polls(t) == wait_policy::advice::sleep);
}
