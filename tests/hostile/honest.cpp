// SPDX-License-Identifier: Apache-2.0
#include "honest.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "api/core/core.hpp"
#include "excuses.hpp"
#include "services.hpp"

namespace hostile {

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr unsigned rounds_between_excuses = 8;
constexpr std::int64_t worth_a_look = 2'000'000;  // nanoseconds

/// Measures round trips.
class stopwatch {
 public:
  stopwatch(board& on, honest_notes& notes)
      : notes_(notes), excuses_(on, {notes.pid, on.honest[0].pid, on.honest[1].pid, victim(on)}) {}

  void begin() {
    if (notes_.rounds % rounds_between_excuses == 0) excused_ = excuses_.so_far();
    began_ = now();
  }
  void end() {
    const std::int64_t took = now() - began_;
    if (took > std::max(notes_.slowest.load(), worth_a_look)) {
      const std::int64_t unexplained = took - (excuses_.so_far() - excused_);
      if (unexplained > notes_.slowest) {
        notes_.slowest = unexplained;
        notes_.whole = took;
      }
    }
    ++notes_.rounds;
  }

 private:
  static pid_t victim(const board& on) { return on.victim_pid; }

  honest_notes& notes_;
  excuses excuses_;
  std::int64_t excused_ = 0;
  std::int64_t began_ = 0;
};

void must_be_so(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

/// Small messages, some of them directly behind each other; a collective, and a call.
task<void> talk_small(context& ctx, endpoint to, board& on, honest_notes& notes) {
  stopwatch watch(on, notes);
  const group both = group::of(ctx, {to, endpoint()}, 1, honest_group);
  subscriber<std::uint64_t> ticks(ctx, to, name_of_topic);
  std::uint64_t tick = 0;
  bytes in(longest_small + 8);
  for (std::uint64_t n = 0; on.please_end == 0; n += burst) {
    watch.begin();
    for (std::uint64_t i = n; i != n + burst; ++i)
      co_await to.send(pattern(small_size(i), i), tag_small, i);
    for (std::uint64_t i = n; i != n + burst; ++i) {
      const received got = co_await to.recv(in, tag_small);
      const std::size_t size = small_size(i);
      must_be_so(got.size == size && got.immediate == i &&
                     tests::same(std::span(in).first(size), pattern(size, i)),
                 "a small answer came disturbed");
    }
    const std::uint64_t last = n + burst - 1;
    const std::uint64_t sum = co_await both.all_reduce(last);
    must_be_so(sum == 2 * last, "a sum with the victim is wrong");
    const std::uint64_t next = co_await to.call<std::uint64_t>(number_of_adder, last);
    must_be_so(next == last + 1, "a reply is wrong");
    while (const auto came = ticks.try_next()) {
      must_be_so(came->value() == came->sequence() && came->value() > tick,
                 "a value of a topic came disturbed");
      tick = came->value();
    }
    watch.end();
    co_await sleep_for(300us);
  }
}

/// Long messages both ways, numbered ones that any receive matches, and memory access.
task<void> talk_large(context& ctx, endpoint to, board& on, honest_notes& notes) {
  stopwatch watch(on, notes);
  remote_region there;
  co_await to.recv(std::as_writable_bytes(std::span(&there, 1)), tag_key);
  bytes in(longest_large + 1), back(4096);
  for (std::uint64_t n = 0; on.please_end == 0; ++n) {
    watch.begin();
    scope both;
    both.start(send_large(ctx, to, n));
    std::size_t got = 0;
    both.start(receive_large(to, n + 1, in), [&](std::size_t size) { got = size; });
    co_await both.join();
    const std::size_t size = large_size(n + 1);
    must_be_so(got == size && tests::same(std::span(in).first(size), pattern(size, n + 1)),
               "a large answer came disturbed");
    co_await to.send(std::as_bytes(std::span(&n, 1)), tag_numbered, n);
    const bytes put = pattern(back.size(), n);
    co_await to.put(put, there.part(8 + n % 1000 * 8, put.size()));
    co_await to.get(back, there.part(8 + n % 1000 * 8, back.size()));
    must_be_so(back == put, "memory that only this peer reaches has changed");
    must_be_so(co_await to.fetch_add(there.part(0, 8), 1) == n, "a count was lost or made twice");
    watch.end();
    co_await sleep_for(1ms);
  }
}

task<void> talk(context& ctx, board& on, std::size_t which) {
  honest_notes& notes = on.honest[which];
  endpoint victim = co_await ctx.connect(
      std::string(on.listening.get()), which == 0 ? private_data_of_small : private_data_of_large);
  const wireup::identity& self = weft::detail::core_of(ctx).manager().self();
  notes.id = self.id;
  notes.locator.set(self.locator);
  notes.ready = 1;
  while (on.honest[0].ready + on.honest[1].ready != 2) co_await sleep_for(1ms);
  if (which == 0)
    co_await talk_small(ctx, victim, on, notes);
  else
    co_await talk_large(ctx, victim, on, notes);
  victim.close();
  co_await victim.closed();
}

}  // namespace

int be_honest(board& on, const settings& s, std::size_t which) try {
  on.honest[which].pid = ::getpid();
  // One of the honest peers is a member of the victim's job, so that there is a rank about which
  // the attacker can lie.
  context ctx = which == 0 ? context(common_options(s))
                           : join(std::string(on.roster_listener.get()), common_options(s));
  run(ctx, talk(ctx, on, which));
  return 0;
} catch (const std::exception& e) {
  on.honest[which].trouble.set(e.what());
  return 1;
}

}  // namespace hostile
