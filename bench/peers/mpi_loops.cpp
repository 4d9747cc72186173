// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi_loops.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "support/clock.hpp"
#include "support/crowd_batches.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"
#include "support/timed_batches.hpp"

namespace weft::bench::mpi {
namespace {

constexpr int ack_tag = 2;
constexpr int sync_tag = 3;

void send(std::span<const std::byte> message, int to, int tag) {
  MPI_Send(message.data(), count_of(message), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

/// MPI's own errors abort the job; MPI may not report a message of another length.
void check_length(const MPI_Status& status, std::size_t size) {
  int got = 0;
  MPI_Get_count(&status, MPI_BYTE, &got);
  if (static_cast<std::size_t>(got) != size)
    throw std::runtime_error(fmt::format("a message of {} bytes came with {}", size, got));
}

void receive(std::span<std::byte> box, int from, int tag) {
  MPI_Status status;
  MPI_Recv(box.data(), count_of(box), MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
  check_length(status, box.size());
}

void fill_all(heap_buffers& buffers) {
  for (std::size_t i = 0; i < buffers.count(); ++i) fill(buffers[i], i + 1);
}

void verify_all(heap_buffers& buffers, std::size_t used) {
  for (std::size_t i = 0; i < std::min(used, buffers.count()); ++i) verify(buffers[i], i + 1);
}

/// As timed() of weft-bench itself (bench/stage/loops.hpp): microseconds of a repetition.
template <class Step>
std::vector<double> timed(const plan& loops, const Step& step) {
  const int me = rank();
  std::vector<double> us;
  if (loops.for_ms <= 0) {
    step(loops.warm_up);
    for (std::size_t batch = 0; batch < loops.batches; ++batch) {
      const auto start = now_ns();
      step(loops.per_batch);
      us.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
    }
  } else {
    timed_batches batches(loops);
    for (;;) {
      std::uint64_t count = batches.next();
      const auto word = std::as_writable_bytes(std::span(&count, 1));
      if (me == 0)
        send(word, 1, sync_tag);
      else
        receive(word, 0, sync_tag);
      if (count == 0) break;
      const auto start = now_ns();
      step(count);
      if (me == 0) batches.add(us_between(start, now_ns()));
    }
    us = batches.take();
  }
  return me == 0 ? us : std::vector<double>{};
}

}  // namespace

int rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}

int count_of(std::span<const std::byte> buffer) {
  if (buffer.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::length_error("MPI counts bytes in an int: no message beyond 2 GiB");
  return static_cast<int>(buffer.size());
}

std::vector<double> latency(std::size_t size, const job& what) {
  const plan loops = latency_plan(size, what.effort).lasting(what.for_ms);
  const int me = rank();
  heap_buffers out(1, size);
  heap_buffers in(1, size);
  fill_all(out);
  MPI_Barrier(MPI_COMM_WORLD);

  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      const auto message = out.next();
      const auto box = in.next();
      if (me == 0) {
        stamp(message, n);
        send(message, 1, data_tag);
      }
      receive(box, 1 - me, data_tag);
      check_stamp(box, n);
      if (me == 1) {
        stamp(message, n);
        send(message, 0, data_tag);
      }
    }
  };
  std::vector<double> samples = timed(loops, round_trips);
  for (double& us : samples) us /= 2;
  verify_all(in, n);
  return samples;
}

std::vector<double> sendrecv(std::size_t size, double effort) {
  const plan loops = latency_plan(size, effort);
  const int other = 1 - rank();
  heap_buffers out(1, size);
  heap_buffers in(1, size);
  fill_all(out);
  MPI_Barrier(MPI_COMM_WORLD);

  std::uint64_t n = 0;
  const auto some = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      MPI_Status status;
      stamp(out[0], n);
      MPI_Sendrecv(out[0].data(), count_of(out[0]), MPI_BYTE, other, data_tag, in[0].data(),
                   count_of(in[0]), MPI_BYTE, other, data_tag, MPI_COMM_WORLD, &status);
      check_length(status, size);
      check_stamp(in[0], n);
    }
  };
  std::vector<double> samples = timed(loops, some);
  verify_all(in, n);
  return samples;
}

std::vector<double> windows(std::size_t size, const job& what) {
  const plan loops = window_plan(size, what.window, what.effort).lasting(what.for_ms);
  const int me = rank();
  heap_buffers buffers(what.buffer_count(), size);
  if (me == 0) fill_all(buffers);
  std::vector<MPI_Request> requests(what.window);
  std::vector<MPI_Status> statuses(what.window);
  std::vector<std::span<std::byte>> boxes(what.window);
  const int in_flight = static_cast<int>(what.window);
  std::array<std::byte, 8> ack{};
  MPI_Barrier(MPI_COMM_WORLD);

  std::uint64_t n = 0;
  const auto run_windows = [&](std::size_t count) {
    for (std::size_t w = 0; w < count; ++w) {
      for (std::size_t i = 0; i < what.window; ++i) {
        if (me == 0) {
          const auto buffer = buffers.next();
          stamp(buffer, n + i);
          MPI_Isend(buffer.data(), count_of(buffer), MPI_BYTE, 1, data_tag, MPI_COMM_WORLD,
                    &requests[i]);
        } else {
          boxes[i] = buffers.next();
          MPI_Irecv(boxes[i].data(), count_of(boxes[i]), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD,
                    &requests[i]);
        }
      }
      MPI_Waitall(in_flight, requests.data(), statuses.data());
      if (me == 0) {
        receive(ack, 1, ack_tag);
      } else {
        for (std::size_t i = 0; i < what.window; ++i) check_stamp(boxes[i], n + i);
        send(ack, 0, ack_tag);
      }
      n += what.window;
    }
  };
  std::vector<double> samples = timed(loops, run_windows);
  for (double& sample : samples) sample = static_cast<double>(what.window) / sample;
  if (me == 1) {
    for (const auto& status : statuses) check_length(status, size);
    verify_all(buffers, n);
  }
  return samples;
}

std::vector<double> alltoall(std::size_t size, double effort) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int me = rank();
  const auto others = static_cast<std::size_t>(ranks - 1);
  heap_buffers out(others, size);
  heap_buffers in(others, size);
  std::vector<MPI_Request> requests(2 * others);
  for (std::size_t i = 0; i < others; ++i) fill(out[i], static_cast<std::uint64_t>(me) + 1);
  MPI_Barrier(MPI_COMM_WORLD);

  std::uint64_t n = 0;
  const auto peer_of = [&](std::size_t i) { return (me + 1 + static_cast<int>(i)) % ranks; };
  const auto rounds = [&](std::size_t count) {
    for (std::size_t r = 0; r < count; ++r, ++n) {
      for (std::size_t i = 0; i < others; ++i)
        MPI_Irecv(in[i].data(), count_of(in[i]), MPI_BYTE, peer_of(i), data_tag, MPI_COMM_WORLD,
                  &requests[i]);
      for (std::size_t i = 0; i < others; ++i) {
        stamp(out[i], n);
        MPI_Isend(out[i].data(), count_of(out[i]), MPI_BYTE, peer_of(i), data_tag, MPI_COMM_WORLD,
                  &requests[others + i]);
      }
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (std::size_t i = 0; i < others; ++i) check_stamp(in[i], n);
    }
  };
  crowd_batches batches(effort);
  const auto messages =
      static_cast<double>(crowd_batches::per_batch * others) * static_cast<double>(ranks);
  for (int more = 1; more != 0;) {
    const auto start = now_ns();
    rounds(crowd_batches::per_batch);
    more = batches.add(start, now_ns(), messages) ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0's clock decides for all
  }
  for (std::size_t i = 0; i < others; ++i)
    verify(in[i], static_cast<std::uint64_t>(peer_of(i)) + 1);
  return me == 0 ? batches.take() : std::vector<double>{};
}

}  // namespace weft::bench::mpi
