// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi_threads.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "peers/mpi_loops.hpp"
#include "support/affinity.hpp"
#include "support/clock.hpp"
#include "support/pattern.hpp"

namespace weft::bench::mpi {
namespace {

// As in bench/progress/thread_team.cpp.
constexpr std::size_t round_trips_per_batch = 1000;
constexpr std::size_t windows_per_batch = 100;
constexpr std::size_t batches = 15;

/// One thread's view.
struct line {
  MPI_Comm comm;
  int out, in;  // tags
  bool leads;
  int other;

  void send(std::span<const std::byte> m) const {
    MPI_Send(m.data(), count_of(m), MPI_BYTE, other, out, comm);
  }
  void receive(std::span<std::byte> m) const {
    MPI_Recv(m.data(), count_of(m), MPI_BYTE, other, in, comm, MPI_STATUS_IGNORE);
  }
};

void round_trips(const line& l, heap_buffers& buffers) {
  const auto box = buffers[0];
  for (std::size_t n = 0; n != round_trips_per_batch; ++n) {
    if (l.leads) {
      stamp(box, n);
      l.send(box);
    }
    l.receive(box);
    check_stamp(box, n);
    if (!l.leads) l.send(box);
  }
}

void windows(const line& l, std::size_t window, heap_buffers& buffers) {
  std::vector<MPI_Request> all(window);
  std::array<std::byte, 8> word{};
  for (std::size_t n = 0; n != windows_per_batch; ++n) {
    for (std::size_t i = 0; i != window; ++i) {
      const auto box = buffers[i];
      if (l.leads) stamp(box, n + i);
      if (l.leads)
        MPI_Isend(box.data(), count_of(box), MPI_BYTE, l.other, l.out, l.comm, &all[i]);
      else
        MPI_Irecv(box.data(), count_of(box), MPI_BYTE, l.other, l.in, l.comm, &all[i]);
    }
    MPI_Waitall(static_cast<int>(window), all.data(), MPI_STATUSES_IGNORE);
    if (l.leads) {
      l.receive(word);
    } else {
      for (std::size_t i = 0; i != window; ++i) check_stamp(buffers[i], n + i);
      l.send(word);
    }
  }
}

/// The state that the threads share.
class team {
 public:
  team(std::size_t threads, const job& what)
      : what_(what),
        threads_(static_cast<double>(threads)),
        together_(static_cast<std::ptrdiff_t>(threads)) {}

  void work(const line& l, std::size_t number) noexcept {
    try {
      const auto cores = allowed_cores();
      if (what_.pin) pin_to(cores[(2 * number + (l.leads ? 0 : 1)) % cores.size()]);
      act(l, number == 0 && l.leads);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    together_.arrive_and_drop();
  }

  thread_samples take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(samples_);
  }

 private:
  template <class Loop>
  double timed(Loop loop) {
    together_.arrive_and_wait();
    const auto start = now_ns();
    loop();
    together_.arrive_and_wait();
    return us_between(start, now_ns());
  }

  void act(const line& l, bool tells) {
    heap_buffers buffers(what_.window, what_.sizes.front());
    const auto trips = [&] { round_trips(l, buffers); };
    const auto rate = [&] { windows(l, what_.window, buffers); };
    const auto count = std::max<std::size_t>(5, std::size_t(double(batches) * what_.effort));
    timed(trips);
    for (std::size_t b = 0; b != count; ++b) {
      const double us = timed(trips);
      if (tells) samples_.half_rtt_us.push_back(us / 2 / double(round_trips_per_batch));
    }
    timed(rate);
    for (std::size_t b = 0; b != count; ++b) {
      const double us = timed(rate);
      const double messages = double(windows_per_batch * what_.window) * threads_;
      if (tells) samples_.mmsg_s.push_back(messages / us);
    }
  }

  const job what_;
  const double threads_;
  std::barrier<> together_;
  thread_samples samples_;  // the first thread's
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

thread_samples threads(std::size_t count, bool own_communicators, const job& what) {
  const int me = rank();
  std::vector<line> lines;
  for (std::size_t k = 0; k != count; ++k) {
    line l{MPI_COMM_WORLD, 0, 0, me == 0, 1 - me};
    if (own_communicators) MPI_Comm_dup(MPI_COMM_WORLD, &l.comm);
    const int first = 2 * static_cast<int>(k) + 1;
    l.out = first + (l.leads ? 0 : 1);
    l.in = first + (l.leads ? 1 : 0);
    lines.push_back(l);
  }
  team all(count, what);
  std::vector<std::thread> running;
  for (std::size_t k = 0; k != count; ++k)
    running.emplace_back([&all, &lines, k] { all.work(lines[k], k); });
  for (std::thread& t : running) t.join();
  MPI_Barrier(MPI_COMM_WORLD);
  if (own_communicators)
    for (line& l : lines) MPI_Comm_free(&l.comm);
  return all.take();
}

}  // namespace weft::bench::mpi
