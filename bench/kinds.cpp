// SPDX-License-Identifier: Apache-2.0
// Kinds of transfers, as figures 4 to 6 of the paper on VIA2SISCI have them: a copy by ordinary
// stores, one by streaming stores, and an engine; and those of weft that copy once. The same two
// processes have a context for each, and these take turns; beside them one core's memcpy.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "loops.hpp"
#include "support/clock.hpp"
#include "ways.hpp"

namespace weft::bench::kinds_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct kind {
  const char* name;
  const char* transport;
  const char* copy = "auto";    ///< WEFT_SHM_COPY
  const char* stores = "auto";  ///< WEFT_SHM_STORES
  bool from_shared = false;     ///< the sender's buffers are weft::shared_memory
};

/// The first one is the reference of the others.
constexpr kind kinds[] = {{"ordinary", "shm", "pipeline", "ordinary"},
                          {"streaming", "shm", "pipeline", "streaming"},
#ifndef WEFT_WITHOUT_QDMA
                          {"engine", "qdma"},
#endif
                          {"cma", "shm", "cma"},
                          {"direct", "shm", "direct", "auto", true}};

options with(const settings& chosen, const kind& k) {
  options result = options_of(chosen);
  result.transports = {"self", k.transport};
  result.apply("WEFT_EAGER_LIMIT=auto");
  result.apply(std::string("WEFT_SHM_COPY=") + k.copy);
  result.apply(std::string("WEFT_SHM_STORES=") + k.stores);
  // The engine reads and writes by itself; in frames the processes would copy.
  if (std::string_view(k.transport) == "qdma") result.apply("WEFT_RENDEZVOUS=get");
  return result;
}

/// The buffers of a window, of either kind of memory; cold ones of 4 MiB fit into no cache.
class window_buffers {
 public:
  window_buffers(context& ctx, bool shared, std::size_t count, std::size_t size)
      : size_(size), stride_((size + 63) / 64 * 64) {
    if (shared)
      all_ = shared_.emplace(ctx, count * stride_).bytes();
    else
      all_ = heap_.emplace(1, count * stride_)[0];
    for (std::size_t i = 0; i != count; ++i) fill((*this)[i], i + 1);
  }
  std::span<std::byte> operator[](std::size_t i) const { return all_.subspan(i * stride_, size_); }

 private:
  std::optional<shared_memory> shared_;
  std::optional<heap_buffers> heap_;
  std::span<std::byte> all_;
  std::size_t size_, stride_;
};

/// One way: a window of messages and an answer.
task<void> windows(const side& me, const window_buffers& buffers, std::size_t window,
                   std::size_t count, std::uint64_t& n) {
  scope fly;
  std::byte answer{};
  for (std::size_t w = 0; w != count; ++w, n += window) {
    for (std::size_t i = 0; i != window; ++i) {
      if (me.rank == 0) {
        stamp(buffers[i], n + i);
        fly.start(me.peer.send(buffers[i], data_tag));
      } else {
        fly.start(me.peer.recv(buffers[i], data_tag));
      }
    }
    co_await fly.join();
    if (me.rank == 0) {
      co_await me.peer.recv({&answer, 1}, ack_tag);
    } else {
      for (std::size_t i = 0; i != window; ++i) check_stamp(buffers[i], n + i);
      co_await me.peer.send({&answer, 1}, ack_tag);
    }
  }
}

/// \return 10^6 bytes a second, for each batch
task<std::vector<double>> measure(side me, bool from_shared, std::size_t size, std::size_t window,
                                  plan loops) {
  const window_buffers buffers(me.ctx, from_shared && me.rank == 0, window, size);
  std::uint64_t n = 0;
  co_await barrier(me);
  const auto some = [&](std::size_t count) { return windows(me, buffers, window, count, n); };
  std::vector<double> samples = co_await timed(loops, some);
  for (double& sample : samples) sample = static_cast<double>(size * window) / sample;
  for (std::size_t i = 0; i != window; ++i) verify(buffers[i], i + 1);
  co_await barrier(me);
  co_return samples;
}

/// One core copies as many bytes as a window has, between two places.
std::vector<double> plain_copies(std::size_t size, std::size_t window, plan loops) {
  heap_buffers from(window, size), to(window, size);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch != loops.batches; ++batch) {
    const auto start = now_ns();
    for (std::size_t i = 0; i != window * loops.per_batch; ++i) {
      const auto source = from.next(), target = to.next();
      stamp(source, i);
      std::memcpy(target.data(), source.data(), size);
      check_stamp(target, i);
    }
    samples.push_back(static_cast<double>(size * window * loops.per_batch) /
                      us_between(start, now_ns()));
  }
  return samples;
}

plan plan_of(const job& what, std::size_t size) {
  return plan{.warm_up = 2,
              .batches = 5,
              .per_batch = std::clamp<std::size_t>(2 * mib / (what.window * size + 1), 1, 40)}
      .scaled(what.effort);
}

/// After the kinds comes memcpy, on side 0 alone.
constexpr std::size_t by_memcpy = std::size(kinds);

json line_of(const ways_request& wanted, std::size_t way, std::size_t size,
             const medians_of_rounds& bandwidths) {
  settings named = wanted.chosen;
  named.transport = way == by_memcpy ? "none" : kinds[way].transport;
  json line = make_line(head_of("kinds", named, size), mb_s, bandwidths[way]);
  line["kind"] = way == by_memcpy ? "memcpy" : kinds[way].name;
  line["window"] = wanted.what.window;
  line["to_ordinary"] = median_ratio(bandwidths[way], bandwidths[0]);
  line["of_memcpy"] = median_ratio(bandwidths[way], bandwidths[by_memcpy]);
  return line;
}

void act(pair_member& member, const ways_request& wanted) {
  std::deque<place> places;
  for (const kind& k : kinds) places.emplace_back(with(wanted.chosen, k)).meet(member);
  const std::size_t window = wanted.what.window;
  compare(member, wanted,
          fmt::format("one way, {} in flight, memcpy on one core, ratios are of bandwidth", window),
          {{"size", "size"},
           {"kind", "kind"},
           {"MB/s", "mb_s"},
           {"p10", "p10"},
           {"p90", "p90"},
           {"to ordinary", "to_ordinary"},
           {"of memcpy", "of_memcpy"}},
          {.count = by_memcpy + 1,
           .measure = [&](std::size_t way, std::size_t size) -> std::vector<double> {
             const plan loops = plan_of(wanted.what, size);
             if (way == by_memcpy && member.rank() != 0) return {};
             if (way == by_memcpy) return plain_copies(size, window, loops);
             const side me = side_at(places[way], member);
             return run(me.ctx, measure(me, kinds[way].from_shared, size, window, loops));
           },
           .line = [&](std::size_t way, std::size_t size,
                       const medians_of_rounds& all) { return line_of(wanted, way, size, all); }});
}

}  // namespace

void add(CLI::App& app) {
  const auto wanted = std::make_shared<ways_request>(
      ways_request{.chosen = {.progress = "polling"},
                   .what = {.bench = "kinds",
                            .sizes = {kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib,
                                      128 * kib, 256 * kib, mib, 4 * mib},
                            .window = 4}});
  add_ways_command(app,
                   "Kinds of transfers: ordinary and streaming stores, an engine, single copies",
                   wanted, act, {.transport = false})
      .add_option("--window", wanted->what.window, "Messages in flight before an answer")
      ->check(CLI::PositiveNumber);
}

}  // namespace weft::bench::kinds_command
