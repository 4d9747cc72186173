// SPDX-License-Identifier: Apache-2.0
// The cost of asynchronous progress: half round trips without a thread (polling), with sleep in
// every wait (interrupt), and with threads that make progress. The paper on Open MPI over Elan4
// (Yu, Woodall, Graham, Panda: "Design and Implementation of Open MPI over Quadrics/Elan4") has the
// same in its table 1. Where the transport reads memory, the settings are the paper's: 4 KiB are
// read by the receiver, and over qdma the end of the read is reported by the queue that the way
// blocks on. Both processes have a context for each way, and all ways take turns, so that drift of
// the machine affects all of them.
#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"

namespace weft::bench::progress_command {
namespace {

// Of the design, for a thread that the application does not wait for.
constexpr double bound = 1.05;
constexpr std::array<std::size_t, 2> sizes{4, 4096};
constexpr std::size_t paper_eager_limit = 1984;

struct request {
  settings chosen;
  int rounds = 15;
  double effort = 1;
};

/// The thread that ends the application thread's wait.
enum class waiting : std::uint8_t {
  in_weft,      ///< the application thread itself: it takes the progress lock
  on_condition  ///< another thread, which makes all progress: the paper's way
};

struct way {
  const char* name;
  const char* progress;  ///< settings::progress
  copy_completion ends;  ///< over qdma
  waiting waits = waiting::in_weft;
  std::array<double, sizes.size()> paper_us;  ///< the paper's table 1, for 4 B and 4 KiB
};
constexpr std::array<double, sizes.size()> paper_one_thread{22.76, 32.80};
constexpr std::array<double, sizes.size()> paper_two_threads{27.50, 47.72};
constexpr std::array<way, 6> ways{{
    {"basic", "polling", copy_completion::direct, waiting::in_weft, {3.87, 15.25}},
    {"interrupt", "interrupt", copy_completion::direct, waiting::in_weft, {14.70, 27.16}},
    {"one thread", "dedicated", copy_completion::one_queue, waiting::in_weft, paper_one_thread},
    {"one thread", "dedicated", copy_completion::one_queue, waiting::on_condition,
     paper_one_thread},
    {"two threads", "two_threads", copy_completion::two_queues, waiting::in_weft,
     paper_two_threads},
    {"two threads", "two_threads", copy_completion::two_queues, waiting::on_condition,
     paper_two_threads},
}};

const char* name_of(copy_completion ends) {
  if (ends == copy_completion::direct) return "direct";
  return ends == copy_completion::one_queue ? "one queue" : "two queues";
}

/// Whether one side can move a message between the memories of both.
bool has_rdma(const std::string& transport) { return transport == "qdma" || transport == "verbs"; }

/// The paper's: a message that does not fit into its first packet is read by the receiver, all of
/// it, and the frame that tells the sender is chained to the read.
void read_by_rdma(options& o) {
  o.eager_limit = paper_eager_limit;
  o.experimental.rendezvous = rendezvous_scheme::get;
  o.experimental.eager_data = rendezvous_eager_data::no;
  o.experimental.chained = chained_fin::yes;
}

options options_for(const request& wanted, const way& how) {
  settings chosen = wanted.chosen;
  chosen.progress = how.progress;
  options result = options_of(chosen);
  if (has_rdma(wanted.chosen.transport)) read_by_rdma(result);
  result.experimental.qdma_copy_completion = how.ends;
  // Only a sleeping thread waits for messages.
  if (how.waits == waiting::on_condition) result.spin = std::chrono::microseconds{0};
  return result;
}

/// The application thread of the paper: asleep on a condition variable until another thread signals
/// the end of an operation. Posted work runs on the thread inside work().
class sleeper final : public executor {
 public:
  void post(operation& ended) noexcept override {
    const std::lock_guard lock(mutex_);
    ended_.push(ended);
    changed_.notify_one();  // with the lock: after the last work this object may be destroyed
  }

  void close() noexcept {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

  /// Returns after close().
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || !ended_.empty(); });
      operation* const next = ended_.pop();
      if (!next) return;
      lock.unlock();
      next->complete();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  operation_list ended_;
  bool closed_ = false;
};

/// The same coroutine as everywhere, on the thread inside here.work().
task<std::vector<double>> half_round_trips_on(sleeper& here, const side& me, std::size_t size,
                                              plan loops) {
  struct closing {
    sleeper& which;
    ~closing() { which.close(); }
  } const at_the_end{here};
  co_await resume_on(here);
  co_return co_await half_round_trips(me, size, loops);
}

std::vector<double> measure(const way& how, const side& me, std::size_t size, plan loops) {
  if (how.waits == waiting::in_weft) return run(me.ctx, half_round_trips(me, size, loops));
  // A thread that sleeps inside run() until a message comes, makes progress, and signals this
  // thread; in mode two_threads the completion thread signals the end of a read, or, over another
  // transport than qdma, every end.
  sleeper here;
  auto samples = std::async(
      std::launch::async, [&] { return run(me.ctx, half_round_trips_on(here, me, size, loops)); });
  here.work();
  return samples.get();
}

using figures = std::array<std::array<std::vector<double>, ways.size()>, sizes.size()>;

void tell(report& out, const request& wanted, const figures& of) {
  for (std::size_t s = 0; s < sizes.size(); ++s)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const way& how = ways[w];
      settings named = wanted.chosen;
      named.progress = how.progress;
      auto line = make_line(head_of("progress", named, sizes[s]), half_rtt_us, of[s][w]);
      const double to_basic = median_ratio(of[s][w], of[s][0]);
      line["way"] = how.name;
      line["waits"] = how.waits == waiting::in_weft ? "in weft" : "condition variable";
      line["by"] =
          has_rdma(wanted.chosen.transport) && sizes[s] > paper_eager_limit ? "read" : "frames";
      if (wanted.chosen.transport == "qdma") line["ends"] = name_of(how.ends);
      line["to_basic"] = to_basic;
      line["paper_us"] = how.paper_us[s];
      line["paper_to_basic"] = how.paper_us[s] / ways[0].paper_us[s];
      if (how.waits == waiting::in_weft && how.progress == std::string_view("dedicated"))
        line["target"] = fmt::format("≤ {}: {}", bound, to_basic <= bound ? "met" : "falls short");
      out.add(line);
    }
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  for (const way& how : ways) places.emplace_back(options_for(wanted, how)).meet(member);
  report out({{"way", "way"},
              {"waits", "waits"},
              {"ends", "ends"},
              {"size", "size"},
              {"by", "by"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to basic", "to_basic"},
              {"paper µs", "paper_us"},
              {"paper to basic", "paper_to_basic"},
              {"target", "target"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(fmt::format("{}; {} rounds in turns; ratios: medians of the paired ones",
                          wanted.chosen.transport, wanted.rounds));
  const plan loops = plan{.warm_up = 100, .batches = 5, .per_batch = 200}.scaled(wanted.effort);
  figures of;
  for (std::size_t s = 0; s < sizes.size(); ++s)
    in_turns(wanted.rounds, ways.size(), [&](std::size_t w) {
      if (tells) out.measuring(fmt::format("{}, {}", size_text(sizes[s]), ways[w].name));
      of[s][w].push_back(median(measure(ways[w], side_at(places[w], member), sizes[s], loops)));
      member.barrier();
    });
  if (tells) {
    tell(out, wanted, of);
    out.finish();
  }
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand(
      "progress", "What asynchronous progress costs: with and without threads that make it");
  sub->add_option("--rounds", wanted->rounds, "Turns of each way")->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen, {.progress = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("progress", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::progress_command
