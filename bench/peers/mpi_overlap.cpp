// SPDX-License-Identifier: Apache-2.0
// Measures whether a message moves while the application computes: four patterns, each with the
// wait of one side. Both processes use one clock, so a wait counts from the moment when both sides
// had posted.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "output/overlap_line.hpp"
#include "peers/mpi_loops.hpp"
#include "support/clock.hpp"
#include "support/compute.hpp"
#include "support/pattern.hpp"

namespace weft::bench::mpi {
namespace {

constexpr int time_tag = 2;
constexpr int sample_tag = 3;

MPI_Request post_receive(std::span<std::byte> box, int from) {
  MPI_Request request;
  MPI_Irecv(box.data(), count_of(box), MPI_BYTE, from, data_tag, MPI_COMM_WORLD, &request);
  return request;
}

MPI_Request post_send(std::span<const std::byte> message, int to) {
  MPI_Request request;
  MPI_Isend(message.data(), count_of(message), MPI_BYTE, to, data_tag, MPI_COMM_WORLD, &request);
  return request;
}

void wait(MPI_Request& request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

/// A pattern with one side that computes and one that is blocked. `computing` posts and returns the
/// request to wait for after computing; `blocked` returns when the message has passed. Rank 0 gets
/// the samples on either side.
struct one_sided {
  int computing_rank;
  std::function<MPI_Request()> post;
  std::function<void()> block;
};

/// One repetition: the wait of the blocked side, counted from when both had begun; zero on the
/// computing side.
double wait_once(const one_sided& pattern, double compute_us) {
  const int me = rank();
  MPI_Barrier(MPI_COMM_WORLD);
  std::int64_t posted = 0;
  if (me == pattern.computing_rank) {
    posted = now_ns();
    MPI_Request request = pattern.post();
    compute_for_us(compute_us);
    wait(request);
    MPI_Send(&posted, 1, MPI_INT64_T, 1 - me, time_tag, MPI_COMM_WORLD);
    return 0;
  }
  const auto start = now_ns();
  pattern.block();
  const auto end = now_ns();
  MPI_Recv(&posted, 1, MPI_INT64_T, 1 - me, time_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return us_between(std::max(start, posted), end);
}

/// Sends the results of rank 1 to rank 0.
std::vector<double> on_rank_0(std::vector<double> samples, int measured_by) {
  if (measured_by == 0) return samples;
  const int count = static_cast<int>(samples.size());
  if (rank() == 1)
    MPI_Send(samples.data(), count, MPI_DOUBLE, 0, sample_tag, MPI_COMM_WORLD);
  else
    MPI_Recv(samples.data(), count, MPI_DOUBLE, 1, sample_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return samples;
}

std::vector<double> waits(const one_sided& pattern, double compute_us, std::size_t repetitions) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < overlap_warm_up; ++i) wait_once(pattern, 0);
  for (std::size_t i = 0; i < repetitions; ++i) samples.push_back(wait_once(pattern, compute_us));
  return on_rank_0(std::move(samples), 1 - pattern.computing_rank);
}

/// Both post a receive and a send, compute, and wait: microseconds from posting to the end, and
/// those in the wait.
struct exchange_times {
  double total_us;
  double wait_us;
};

exchange_times exchange(std::span<std::byte> box, std::span<const std::byte> message,
                        std::uint64_t units) {
  const int peer = 1 - rank();
  const auto start = now_ns();
  MPI_Request requests[2] = {post_receive(box, peer), post_send(message, peer)};
  compute_units(units);
  const auto computed = now_ns();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const auto end = now_ns();
  return {us_between(start, end), us_between(computed, end)};
}

std::uint64_t agreed_units(double us) {
  auto units = static_cast<std::uint64_t>(us * units_per_us());
  MPI_Bcast(&units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return units;
}

overlap_samples both_compute(std::span<std::byte> box, std::span<const std::byte> message,
                             const job& what) {
  const auto units = agreed_units(what.compute_us);
  overlap_samples result;
  for (const bool computing : {false, true}) {
    for (std::size_t i = 0; i < overlap_warm_up + overlap_repetitions(what.effort); ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto times = exchange(box, message, computing ? units : 0);
      if (i >= overlap_warm_up)
        (computing ? result.wait_us : result.transfer_us).push_back(times.wait_us);
    }
  }
  return result;
}

/// A step of the application, `slow_down_steps` times in a sample: post, compute a fifth of
/// compute_us, wait. It measures steps with messages, without messages, and with messages but
/// without computation separately.
slow_down_samples slow_down(std::span<std::byte> box, std::span<const std::byte> message,
                            const job& what) {
  const auto units = agreed_units(what.compute_us / slow_down_steps);
  slow_down_samples result;
  const auto sample = [](auto&& step) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = now_ns();
    for (int i = 0; i < slow_down_steps; ++i) step();
    return us_between(start, now_ns()) / slow_down_steps;
  };
  for (std::size_t i = 0; i < overlap_warm_up + overlap_repetitions(what.effort); ++i) {
    const double alone = sample([&] { compute_units(units); });
    const double with_messages = sample([&] { exchange(box, message, units); });
    const double only_messages = sample([&] { exchange(box, message, 0); });
    if (i < overlap_warm_up) continue;
    result.alone_us.push_back(alone);
    result.with_messages_us.push_back(with_messages);
    result.only_messages_us.push_back(only_messages);
  }
  return result;
}

}  // namespace

json overlap(const std::string& pattern, std::size_t size, const job& what, const line_head& head) {
  const int me = rank();
  heap_buffers out(1, size);
  heap_buffers in(1, size);
  const auto message = out[0];
  const auto box = in[0];
  fill(message, 1);
  stamp(message, 1);

  json line;
  bool received = true;  // does this rank receive anything in this pattern?
  if (pattern == "slow_down") {
    line = slow_down_line(head, slow_down(box, message, what));
  } else if (pattern == "both_compute") {
    line = overlap_line(head, pattern, what.compute_us, both_compute(box, message, what));
  } else {
    one_sided parts;
    if (pattern == "receiver_blocked") {
      parts = {.computing_rank = 0,
               .post = [&] { return post_send(message, 1); },
               .block =
                   [&] {
                     MPI_Recv(box.data(), count_of(box), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE);
                   }};
      received = me == 1;
    } else if (pattern == "sender_blocked") {
      parts = {.computing_rank = 1,
               .post = [&] { return post_receive(box, 0); },
               .block =
                   [&] {
                     const auto send = what.standard_send ? MPI_Send : MPI_Ssend;
                     send(message.data(), count_of(message), MPI_BYTE, 1, data_tag, MPI_COMM_WORLD);
                   }};
      received = me == 1;
    } else {
      throw std::invalid_argument(fmt::format("no overlap pattern is called {}", pattern));
    }
    const auto repetitions = overlap_repetitions(what.effort);
    overlap_samples samples;
    samples.transfer_us = waits(parts, 0, repetitions);
    samples.wait_us = waits(parts, what.compute_us, repetitions);
    line = overlap_line(head, pattern, what.compute_us, samples);
  }
  if (received) {
    check_stamp(box, 1);
    verify(box, 1);
  }
  return me == 0 ? line : json::object();
}

}  // namespace weft::bench::mpi
