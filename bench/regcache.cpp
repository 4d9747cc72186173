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
#include "loops.hpp"
#include "report.hpp"
#include "support/clock.hpp"

namespace weft::bench::regcache_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.transport = "verbs", .progress = "polling"};
  job what{.bench = "regcache", .sizes = {16 * kib, 64 * kib, 256 * kib, mib}};
  int rounds = 11;
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

struct outcome {
  std::vector<double> times;  ///< half round trips, or exchanges
  double registrations = 0, hits = 0,
         sub_range_hits = 0;  // per message, both ways, in this process
};

task<void> round_trips(const side& me, buffer_walk& out, buffer_walk& in, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto message = out.next(), box = in.next();
    if (me.rank == 0) {
      stamp(message, i);
      co_await me.peer.send(message, data_tag);
    }
    check_length(co_await me.peer.recv(box, data_tag), message.size());
    check_stamp(box, i);
    if (me.rank == 1) {
      stamp(message, i);
      co_await me.peer.send(message, data_tag);
    }
  }
}

task<void> exchange(const side& me, buffer_walk& out, buffer_walk& in, std::size_t count) {
  scope fly;
  received got;
  for (std::size_t i = 0; i < count; ++i) {
    const auto message = out.next(), box = in.next();
    stamp(message, i);
    fly.start(me.peer.recv(box, data_tag), [&got](const received& r) { got = r; });
    fly.start(me.peer.send(message, data_tag));
    co_await fly.join();
    check_length(got, message.size());
    check_stamp(box, i);
  }
}

/// \param step round_trips or exchange
task<outcome> measure(const side& me, std::size_t size, bool in_parts, decltype(&round_trips) step,
                      plan loops) {
  buffer_walk out(size, in_parts), in(size, in_parts);
  // The whole memory first: later messages are parts of it.
  if (me.rank == 0) co_await me.peer.send(out.whole(), sync_tag);
  co_await me.peer.recv(in.whole(), sync_tag);
  if (me.rank == 1) co_await me.peer.send(out.whole(), sync_tag);
  co_await step(me, out, in, loops.warm_up);
  const metrics before = me.ctx.snapshot();
  outcome result;
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await step(me, out, in, loops.per_batch);
    const double each = step == &exchange ? 1.0 : 2.0;
    result.times.push_back(us_between(start, now_ns()) / each /
                           static_cast<double>(loops.per_batch));
  }
  const metrics after = me.ctx.snapshot();
  const auto each = [&](std::uint64_t metrics::*counter) {
    return static_cast<double>(after.*counter - before.*counter) /
           static_cast<double>(2 * loops.batches * loops.per_batch);
  };
  result.registrations = each(&metrics::memory_registrations);
  result.hits = each(&metrics::registration_hits);
  result.sub_range_hits = each(&metrics::registration_sub_range_hits);
  // The memory is freed; its registrations must not be found again.
  me.ctx.invalidate_registrations(out.whole());
  me.ctx.invalidate_registrations(in.whole());
  co_return result;
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  for (const contestant& c : contestants) places.emplace_back(with(wanted.chosen, c)).meet(member);
  report out({{"size", "size"},
              {"cache", "cache"},
              {"half round trip µs", "half_rtt_us"},
              {"µs a call", "us_per_call"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"against off", "ratio"},
              {"registrations", "registrations"},
              {"hits", "hits"},
              {"of parts", "sub_range_hits"}},
             wanted.chosen.as_json);
  if (member.rank() == 0)
    out.title(fmt::format("{}; {} rounds in turns; ratio: median of the pairs; counts per message",
                          wanted.chosen.transport, wanted.rounds));
  const auto step = wanted.exchanges ? &exchange : &round_trips;
  for (const std::size_t size : wanted.what.sizes) {
    std::vector<std::vector<double>> samples(places.size());
    std::vector<outcome> last(places.size());
    const plan loops{
        .warm_up = 3, .batches = 5, .per_batch = size >= mib ? std::size_t{2} : std::size_t{8}};
    for (int round = 0; round < wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != places.size(); ++turn) {
        // The order changes, so that no way always follows the same other one.
        const std::size_t which = (turn + static_cast<std::size_t>(round)) % places.size();
        place& at = places[which];
        last[which] =
            run(at.ctx, measure({at.ctx, at.peer, member.rank()}, size, contestants[which].in_parts,
                                step, loops.scaled(wanted.what.effort)));
        samples[which].push_back(median(last[which].times));
        member.barrier();
      }
    if (member.rank() != 0) continue;
    for (std::size_t i = 0; i != places.size(); ++i) {
      auto line = make_line(head_of("regcache", wanted.chosen, size),
                            wanted.exchanges ? us_per_call : half_rtt_us, samples[i]);
      line["cache"] = contestants[i].name;
      line["ratio"] = median(paired_ratios(samples[i], samples[0]));
      line["registrations"] = last[i].registrations;
      line["hits"] = last[i].hits;
      line["sub_range_hits"] = last[i].sub_range_hits;
      out.add(line);
    }
  }
  if (member.rank() == 0) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("regcache", "Registered memory that is kept, and that is not");
  sub->add_option("--rounds", wanted->rounds, "Turns of all ways")->check(CLI::PositiveNumber);
  sub->add_flag("--sendrecv", wanted->exchanges, "Both sides send at once");
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("regcache", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::regcache_command
