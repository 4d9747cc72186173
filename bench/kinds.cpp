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
#include <vector>

#include "commands.hpp"
#include "loops.hpp"
#include "report.hpp"
#include "support/clock.hpp"

namespace weft::bench::kinds_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.progress = "polling"};
  job what{.bench = "kinds",
           .sizes = {kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib, mib,
                     4 * mib},
           .window = 4};
  int rounds = 11;
};

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
  co_await windows(me, buffers, window, loops.warm_up, n);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch != loops.batches; ++batch) {
    const auto start = now_ns();
    co_await windows(me, buffers, window, loops.per_batch, n);
    samples.push_back(static_cast<double>(size * window * loops.per_batch) /
                      us_between(start, now_ns()));
  }
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

struct figures {
  std::string transport, name;
  std::vector<double> mb_s;  // one for each round
};

void tell(report& out, const request& wanted, std::size_t size, const std::vector<figures>& all) {
  for (const figures& one : all) {
    settings named = wanted.chosen;
    named.transport = one.transport;
    auto line = make_line(head_of("kinds", named, size), mb_s, one.mb_s);
    line["kind"] = one.name;
    line["window"] = wanted.what.window;
    line["to_ordinary"] = median(paired_ratios(one.mb_s, all.front().mb_s));
    line["of_memcpy"] = median(paired_ratios(one.mb_s, all.back().mb_s));
    out.add(line);
  }
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  for (const kind& k : kinds) places.emplace_back(with(wanted.chosen, k)).meet(member);
  report out({{"size", "size"},
              {"kind", "kind"},
              {"MB/s", "mb_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to ordinary", "to_ordinary"},
              {"of memcpy", "of_memcpy"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(
        fmt::format("one way, {} in flight; {} rounds in turns; ratios of bandwidth: medians "
                    "of the pairs; memcpy: on one core",
                    wanted.what.window, wanted.rounds));
  const std::size_t window = wanted.what.window;
  for (const std::size_t size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    const plan loops =
        plan{.warm_up = 2,
             .batches = 5,
             .per_batch = std::clamp<std::size_t>(2 * mib / (window * size + 1), 1, 40)}
            .scaled(wanted.what.effort);
    std::vector<figures> all;
    for (const kind& k : kinds) all.push_back({k.transport, k.name, {}});
    all.push_back({"none", "memcpy", {}});
    for (int round = 0; round < wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != all.size(); ++turn) {
        // The order changes, so that no kind always follows the same other one.
        const std::size_t which = (turn + static_cast<std::size_t>(round)) % all.size();
        member.barrier();
        if (which == places.size()) {
          if (tells) all[which].mb_s.push_back(median(plain_copies(size, window, loops)));
          continue;
        }
        place& at = places[which];
        all[which].mb_s.push_back(
            median(run(at.ctx, measure({at.ctx, at.peer, member.rank()}, kinds[which].from_shared,
                                       size, window, loops))));
      }
    if (tells) tell(out, wanted, size, all);
  }
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand(
      "kinds", "Kinds of transfers: ordinary and streaming stores, an engine, single copies");
  sub->add_option("--rounds", wanted->rounds, "Turns of all kinds")->check(CLI::PositiveNumber);
  sub->add_option("--window", wanted->what.window, "Messages in flight before an answer")
      ->check(CLI::PositiveNumber);
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen, {.transport = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("kinds", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::kinds_command
