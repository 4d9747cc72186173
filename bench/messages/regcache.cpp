// SPDX-License-Identifier: Apache-2.0
// The benefit of the registration cache: latency, or exchanges, with the cache off and on, from one
// buffer, and from parts of memory that was sent as a whole before; and the same in frames, which
// need no registration. Figures 5 and 6 of the report on the Chemnitz CH3 device. Each process has
// a context for each way, and these take turns, so that drift of the machine affects all.
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/ways.hpp"

namespace weft::bench::regcache_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request : ways_request {
  bool exchanges = false;  ///< both sides send at once, in place of there and back
};

struct contestant {
  const char* name;
  registration_caching caching;
  bool in_parts;  ///< each message is another part of memory that was sent as a whole
  rendezvous_scheme way = rendezvous_scheme::automatic;
};

constexpr contestant contestants[] = {
    {"off", registration_caching::off, false},
    {"on", registration_caching::bounded, false},
    {"off, parts", registration_caching::off, true},
    {"on, parts", registration_caching::bounded, true},
    {"frames", registration_caching::off, false, rendezvous_scheme::frames},
};

/// All bytes of a message cross by one get or put, except where all go in frames.
options with(const settings& chosen, const contestant& c) {
  options result = options_of(chosen);
  result.regions.caching = c.caching;
  result.eager_limit = kib;
  result.experimental.eager_data = rendezvous_eager_data::no;
  result.experimental.rendezvous = c.way;
  return result;
}

/// Memory for one message, or for several at different offsets.
class buffer_walk {
 public:
  buffer_walk(std::size_t size, bool in_parts)
      : size_(size), steps_(in_parts ? parts : 1), memory_(1, size + (steps_ - 1) * step) {
    fill(memory_[0], 1);
  }
  std::span<std::byte> whole() noexcept { return memory_[0]; }
  std::span<std::byte> next() noexcept { return whole().subspan(now_++ % steps_ * step, size_); }

 private:
  static constexpr std::size_t parts = 64, step = 1040;  // any offset within a page

  std::size_t size_, steps_, now_ = 0;
  heap_buffers memory_;
};

/// Per message, both ways, at this side.
struct registrations {
  double made = 0, hits = 0, sub_range_hits = 0;
};

registrations per_message(const metrics& before, const metrics& after, std::size_t messages) {
  const auto each = [&](std::uint64_t metrics::*counter) {
    return static_cast<double>(after.*counter - before.*counter) / static_cast<double>(messages);
  };
  return {.made = each(&metrics::memory_registrations),
          .hits = each(&metrics::registration_hits),
          .sub_range_hits = each(&metrics::registration_sub_range_hits)};
}

/// \return half round trips, or exchanges, in microseconds
/// \param count is set
task<std::vector<double>> measure(side me, std::size_t size, bool in_parts, bool at_once,
                                  plan loops, registrations& count) {
  buffer_walk out(size, in_parts), in(size, in_parts);
  // The whole memory first: later messages are parts of it.
  if (me.rank == 0) co_await me.peer.send(out.whole(), sync_tag);
  co_await me.peer.recv(in.whole(), sync_tag);
  if (me.rank == 1) co_await me.peer.send(out.whole(), sync_tag);
  std::uint64_t n = 0;
  const auto some = [&](std::size_t times) {
    return at_once ? exchanges(me, out, in, times, n) : round_trips(me, out, in, times, n);
  };
  co_await some(loops.warm_up);
  loops.warm_up = 0;
  const metrics before = me.ctx.snapshot();
  std::vector<double> us = co_await timed(loops, some);
  count = per_message(before, me.ctx.snapshot(), 2 * loops.batches * loops.per_batch);
  if (!at_once)
    for (double& one : us) one /= 2;
  // The memory is freed; its registrations must not be found again.
  me.ctx.invalidate_registrations(out.whole());
  me.ctx.invalidate_registrations(in.whole());
  co_return us;
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  for (const contestant& c : contestants) places.emplace_back(with(wanted.chosen, c)).meet(member);
  std::vector<registrations> last(places.size());
  compare(member, wanted, fmt::format("{}, counts per message", wanted.chosen.transport),
          {{"size", "size"},
           {"cache", "cache"},
           {"half round trip µs", "half_rtt_us"},
           {"µs a call", "us_per_call"},
           {"p10", "p10"},
           {"p90", "p90"},
           {"against off", "ratio"},
           {"registrations", "registrations"},
           {"hits", "hits"},
           {"of parts", "sub_range_hits"}},
          {.count = places.size(),
           .measure =
               [&](std::size_t way, std::size_t size) {
                 const side me = side_at(places[way], member);
                 const plan loops{
                     .warm_up = 3, .batches = 5, .per_batch = std::size_t{size >= mib ? 2u : 8u}};
                 return run(me.ctx, measure(me, size, contestants[way].in_parts, wanted.exchanges,
                                            loops.scaled(wanted.what.effort), last[way]));
               },
           .line =
               [&](std::size_t way, std::size_t size, const medians_of_rounds& us) {
                 json line = make_line(head_of("regcache", wanted.chosen, size),
                                       wanted.exchanges ? us_per_call : half_rtt_us, us[way]);
                 line["cache"] = contestants[way].name;
                 line["ratio"] = median_ratio(us[way], us[0]);
                 line["registrations"] = last[way].made;
                 line["hits"] = last[way].hits;
                 line["sub_range_hits"] = last[way].sub_range_hits;
                 return line;
               }});
}

}  // namespace

void add(CLI::App& app) {
  const auto wanted = std::make_shared<request>(
      request{{.chosen = {.transport = "verbs", .progress = "polling"},
               .what = {.bench = "regcache", .sizes = {16 * kib, 64 * kib, 256 * kib, mib}}}});
  add_ways_command(app, "Registered memory that is kept, and that is not", wanted, act)
      .add_flag("--sendrecv", wanted->exchanges, "Both sides send at once");
}

}  // namespace weft::bench::regcache_command
