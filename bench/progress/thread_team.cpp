// SPDX-License-Identifier: Apache-2.0
#include "progress/thread_team.hpp"

#include <sys/resource.h>

#include <array>
#include <barrier>
#include <exception>
#include <mutex>
#include <thread>

#include "stage/loops.hpp"
#include "support/affinity.hpp"
#include "support/clock.hpp"
#include "support/pattern.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t round_trips_per_batch = 1000;
constexpr std::size_t windows_per_batch = 100;

/// Both sides: `count` messages there and back.
task<void> round_trips(team_thread one, std::size_t count, heap_buffers& buffers) {
  const std::span<std::byte> box = buffers[0];
  for (std::size_t n = 0; n != count; ++n) {
    if (one.leads) {
      stamp(box, n);
      co_await one.partner.send(box, one.out);
    }
    check_length(co_await one.partner.recv(box, one.in), box.size());
    check_stamp(box, n);
    if (!one.leads) co_await one.partner.send(box, one.out);
  }
}

/// The leading side sends windows, the other one acknowledges each.
task<void> windows(team_thread one, std::size_t count, std::size_t window, heap_buffers& buffers) {
  std::array<std::byte, 8> word{};
  scope fly;
  for (std::size_t n = 0; n != count; ++n) {
    for (std::size_t i = 0; i != window; ++i) {
      if (one.leads) {
        stamp(buffers[i], n + i);
        fly.start(one.partner.send(buffers[i], one.out));
      } else {
        fly.start(one.partner.recv(buffers[i], one.in));
      }
    }
    co_await fly.join();
    if (one.leads) {
      co_await one.partner.recv(word, one.in);
    } else {
      for (std::size_t i = 0; i != window; ++i) check_stamp(buffers[i], n + i);
      co_await one.partner.send(word, one.out);
    }
  }
}

double switches_so_far() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_nvcsw + used.ru_nivcsw);
}

/// The state that the threads of one run share.
class team {
 public:
  team(const team_plan& what, std::size_t threads, std::size_t pairs)
      : what_(what),
        pairs_(static_cast<double>(pairs)),
        together_(static_cast<std::ptrdiff_t>(threads)) {}

  void work(const team_thread& one, bool first) noexcept {
    try {
      if (one.core) pin_to(allowed_cores().at(*one.core));
      act(one, first);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    together_.arrive_and_drop();
  }

  team_samples take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(samples_);
  }

 private:
  /// Starts of all threads, to the end of the last one. \return microseconds, of the first thread
  template <class Loop>
  double timed(context& lane, Loop loop) {
    together_.arrive_and_wait();
    const auto start = now_ns();
    run(lane, loop());
    together_.arrive_and_wait();
    return us_between(start, now_ns());
  }

  void act(const team_thread& one, bool first) {
    heap_buffers buffers(what_.window, what_.size);
    const auto trips = [&] { return round_trips(one, round_trips_per_batch, buffers); };
    const auto rate = [&] { return windows(one, windows_per_batch, what_.window, buffers); };
    timed(*one.lane, trips);  // connects
    for (std::size_t batch = 0; batch != what_.batches; ++batch) {
      const double us = timed(*one.lane, trips);
      if (first) samples_.half_rtt_us.push_back(us / 2 / double(round_trips_per_batch));
    }
    timed(*one.lane, rate);
    const double messages = double(windows_per_batch * what_.window) * pairs_;
    const double before = switches_so_far();
    for (std::size_t batch = 0; batch != what_.batches; ++batch) {
      const double us = timed(*one.lane, rate);
      if (first) samples_.mmsg_s.push_back(messages / us);
    }
    if (first)
      samples_.switches_per_kmsg =
          1000 * (switches_so_far() - before) / (messages * double(what_.batches));
  }

  const team_plan what_;
  const double pairs_;
  std::barrier<> together_;
  team_samples samples_;  // the first thread's
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

team_samples run_team(const std::vector<team_thread>& threads, const team_plan& what,
                      std::size_t pairs) {
  team all(what, threads.size(), pairs);
  std::vector<std::thread> running;
  for (const team_thread& one : threads)
    running.emplace_back([&all, &one, first = running.empty()] { all.work(one, first); });
  for (std::thread& t : running) t.join();
  return all.take();
}

}  // namespace weft::bench
