// SPDX-License-Identifier: Apache-2.0
// shared_flags of two contexts of one process. Of several processes: multiprocess/flags_test.cpp.
#include <weft/shared_flags.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <weft/context_address.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/expect.hpp"

using namespace weft;
using namespace std::chrono_literals;
using tests::expect;

namespace {

/// Two contexts of this process, and a group of both in each.
class both_sides {
 public:
  explicit both_sides(const char* transport = "shm", progress_mode mode = progress_mode::interrupt)
      : a_(std::make_unique<context>(options_of(transport, mode))),
        b_(std::make_unique<context>(options_of(transport, mode))) {}

  context& a() { return *a_; }
  context& b() { return *b_; }
  /// The second context ends.
  void end_b() { b_.reset(); }

  /// Both members call the function at the same time, each in its own thread.
  using role = std::function<task<void>(group)>;
  void run_both(role of_a, role of_b) {
    std::thread other([&] { side(*b_, {peer_at(*b_, context_address_of(*a_)), {}}, 1, of_b); });
    side(*a_, {{}, peer_at(*a_, context_address_of(*b_))}, 0, of_a);
    other.join();
    REQUIRE(failures_ == "");
  }
  void run_both(const role& of_each) { run_both(of_each, of_each); }

 private:
  static options options_of(const char* transport, progress_mode mode) {
    options o;
    o.standalone = true;
    o.progress = mode;
    o.transports = {"self", transport};
    return o;
  }
  void side(context& ctx, std::vector<endpoint> members, peer_id rank, const role& play) {
    try {
      run(ctx, play(group::of(ctx, members, rank, "both")));
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      failures_ += e.what();
      failures_ += "\n";
    }
  }

  std::unique_ptr<context> a_, b_;
  std::mutex mutex_;
  std::string failures_;
};

template <class Awaitable>
task<errc> how_it_ends(Awaitable wait) {
  const auto end = co_await as_result(std::move(wait));
  co_return end.code();
}

}  // namespace

TEST_CASE("shared flags: what was written before a flag is seen by those that await it") {
  const progress_mode mode =
      GENERATE(progress_mode::polling, progress_mode::interrupt, progress_mode::dedicated);
  both_sides s("shm", mode);
  s.run_both([](group g) -> task<void> {
    const shared_flags flags = co_await shared_flags::make(g, 2, 100 * sizeof(int));
    expect(flags.size() == 2 && flags.bytes().size() == 100 * sizeof(int), "sizes");
    const std::span<int> table = flags.as<int>();
    const peer_id self = g.rank(), other = 1 - self;
    for (int round = 1; round != 50; ++round) {
      table[self] = 10 * round;
      flags.beside(self)[55] = static_cast<std::byte>(round);
      flags.raise(self, static_cast<std::uint64_t>(round));
      co_await flags.reaches(other, static_cast<std::uint64_t>(round));
      expect(table[other] >= 10 * round, "memory beside the flags");
      expect(std::to_integer<int>(flags.beside(other)[55]) >= round, "memory beside a flag");
      co_await flags.all_reach(0, 2, static_cast<std::uint64_t>(round));
      expect(flags.value(other) >= static_cast<std::uint64_t>(round), "a value");
    }
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: they only grow, and count what all members add") {
  both_sides s;
  s.run_both([](group g) -> task<void> {
    const shared_flags flags = co_await shared_flags::make(g, 2);
    expect(flags.bytes().empty(), "no memory was asked for");
    flags.raise(0, 7 + g.rank());
    flags.raise(0, 3);
    co_await flags.reaches(0, 8);
    expect(flags.value(0) == 8, "the highest value");
    for (int i = 0; i != 1000; ++i) flags.add(1);
    co_await flags.reaches(1, 2000);
    expect(flags.add(1, 0) == 2000, "the sum");
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: several of one group are apart, and handles are copies") {
  both_sides s;
  s.run_both([](group g) -> task<void> {
    std::vector<shared_flags> many;
    for (std::size_t n = 0; n != 12; ++n) many.push_back(co_await shared_flags::make(g, n + 1));
    const shared_flags copy = many[3];
    many[3].raise(0, 5);
    expect(copy.value(0) == 5, "a copy");
    for (std::size_t n = 0; n != 12; ++n) {
      expect(many[n].size() == n + 1, "its own size");
      many[n].add(n);
      co_await many[n].reaches(n, 2);
    }
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: a wait that is stopped ends alone") {
  both_sides s;
  s.run_both([](group g) -> task<void> {
    const shared_flags flags = co_await shared_flags::make(g, 1);
    if (g.rank() == 0)
      expect(co_await how_it_ends(within(1ms, flags.reaches(0, 1))) == errc::timed_out,
             "a deadline");
    co_await g.barrier();
    if (g.rank() == 1) flags.raise(0, 1);
    co_await flags.reaches(0, 1);
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: a thread that does not run weft wakes a member that sleeps") {
  both_sides s;
  s.run_both([](group g) -> task<void> {
    const shared_flags flags = co_await shared_flags::make(g, 2);
    co_await g.barrier();
    std::thread worker([&] {
      while (flags.value(1) == 0) std::this_thread::yield();
      flags.raise(0, g.rank() + 1);
    });
    flags.raise(1, 1);
    co_await flags.reaches(0, 2);
    worker.join();
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: there are no others than were asked for") {
  both_sides s;
  s.run_both([](group g) -> task<void> {
    const shared_flags flags = co_await shared_flags::make(g, 4);
    const std::vector<std::function<void()>> wrong{
        [&] { static_cast<void>(flags.value(4)); },
        [&] { flags.raise(4, 1); },
        [&] { flags.add(std::size_t{1} << 32); },
        [&] { static_cast<void>(flags.beside(4)); },
        [&] { static_cast<void>(flags.reaches(4, 1)); },
        [&] { static_cast<void>(flags.all_reach(1, 4, 1)); },
        [&] { static_cast<void>(flags.all_reach(~std::size_t{0}, 2, 1)); }};
    for (const auto& call : wrong) {
      errc end = errc::ok;
      try {
        call();
      } catch (const error& e) {
        end = e.kind();
      }
      expect(end == errc::invalid_argument, "a flag that there is not");
    }
    co_await flags.all_reach(4, 0, 1);
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: members that ask for different sizes all learn of it") {
  both_sides s;
  s.run_both([](group g) -> task<void> {
    const auto made = co_await as_result(shared_flags::make(g, 4, g.rank() * 8));
    expect(made.code() == errc::invalid_argument, "different sizes");
    const std::string text = made.failure().what();
    expect(text.find("of 4 flags and 8 bytes") != text.npos ||
               text.find("this rank of 4 and 8") != text.npos,
           "the text");
    expect(co_await how_it_ends(shared_flags::make(g, 1, std::size_t{1} << 50)) ==
               errc::invalid_argument,
           "too much memory");
    expect(
        co_await how_it_ends(shared_flags::make(g, std::size_t{1} << 32)) == errc::invalid_argument,
        "too many flags");
    const shared_flags flags = co_await shared_flags::make(g, 1);  // the group goes on
    flags.add(0);
    co_await flags.reaches(0, 2);
    co_await g.barrier();
  });
}

TEST_CASE("shared flags: members that cannot share memory learn of it, and how they can") {
  both_sides s("tcp");
  s.run_both([](group g) -> task<void> {
    const auto made = co_await as_result(shared_flags::make(g, 1));
    expect(made.code() == errc::unsupported, "over tcp");
    const std::string text = made.failure().what();
    expect(text.find("WEFT_TRANSPORTS") != text.npos, "the cure");
    co_await g.barrier();
  });
}

TEST_CASE(
    "shared flags: a member that leaves ends the waits of the others, but for flags that have "
    "come") {
  both_sides s;
  std::optional<shared_flags> kept;
  s.run_both(
      [&](group g) -> task<void> {
        kept = co_await shared_flags::make(g, 2);
        co_await g.barrier();
      },
      [&](group g) -> task<void> {
        const shared_flags flags = co_await shared_flags::make(g, 2);
        flags.raise(0, 1);
        co_await g.barrier();
      });
  s.end_b();
  const auto wait = [&]() -> task<void> {
    const auto end = co_await as_result(kept->reaches(1, 1));
    expect(end.code() == errc::closed, "a flag of a member that has left");
    const std::string text = end.failure().what();
    expect(text.find("rank 1 of the group has closed") != text.npos, "the text");
    co_await kept->reaches(0, 1);
    const errc later = co_await how_it_ends(kept->reaches(0, 2));
    expect(later == errc::closed, "a later wait");
  };
  run(s.a(), wait());
  kept.reset();
}

TEST_CASE("shared flags: a wait ends with the last handle, and with the context") {
  both_sides s;
  std::optional<shared_flags> a, b;
  s.run_both(
      [&](group g) -> task<void> {
        a = co_await shared_flags::make(g, 1);
        co_await g.barrier();
      },
      [&](group g) -> task<void> {
        b = co_await shared_flags::make(g, 1);
        co_await g.barrier();
      });
  const auto drop = [&]() -> task<void> {
    errc end = errc::ok;
    scope waits;
    waits.start(how_it_ends(a->reaches(0, 1)), [&](errc e) { end = e; });
    a.reset();
    co_await waits.join();
    expect(end == errc::closed, "a wait whose flags have gone");
  };
  run(s.a(), drop());
  b.reset();
}
