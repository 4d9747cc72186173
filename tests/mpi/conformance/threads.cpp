// SPDX-License-Identifier: Apache-2.0
// Several threads of each rank call MPI at once. Needs MPI_THREAD_MULTIPLE.
#include <mutex>
#include <thread>

#include "check.hpp"

namespace conformance {
namespace {

constexpr int thread_count = 4;

/// check::fail for several threads.
class guarded {
 public:
  explicit guarded(check& c) : c_(c) {}
  template <class F>
  void operator()(F look) {
    const std::lock_guard hold(mutex_);
    look(c_);
  }

 private:
  std::mutex mutex_;
  check& c_;
};

template <class F>
void on_threads(F work) {
  std::vector<std::thread> all;
  for (int t = 0; t < thread_count; ++t) all.emplace_back(work, t);
  for (std::thread& one : all) one.join();
}

/// Each thread exchanges with the same thread of the other rank; tags distinguish them.
void by_tag(guarded& guard, int rank, int other, int rounds) {
  on_threads([&, rank, other, rounds](int t) {
    for (int i = 0; i < rounds; ++i) {
      constexpr std::size_t kinds[] = {0, 8, 3000, 70000, 200000};
      const std::size_t n = kinds[static_cast<std::size_t>(i + t) % std::size(kinds)];
      const bytes out = made_of(seed_of(rank, t, i), n);
      bytes in(n);
      MPI_Status s;
      MPI_Sendrecv(out.data(), as_int(n), MPI_BYTE, other, 10 + t, in.data(), as_int(n), MPI_BYTE,
                   other, 10 + t, MPI_COMM_WORLD, &s);
      guard([&](check& c) {
        c.status("Sendrecv of threads", s, other, 10 + t, n);
        c.bytes("Sendrecv of threads", seed_of(other, t, i), in);
      });
    }
  });
}

/// Synchronous sends of one integer, there and back: a thread waits for the other rank each time.
void synchronous(guarded& guard, int rank, int other, int rounds) {
  on_threads([&, rank, other, rounds](int t) {
    for (int i = 0; i < rounds; ++i) {
      int there = t * rounds + i, back = -1;
      const auto send = [&](int* what) {
        MPI_Ssend(what, 1, MPI_INT, other, 20 + t, MPI_COMM_WORLD);
      };
      const auto receive = [&](int* into) {
        MPI_Recv(into, 1, MPI_INT, other, 20 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      };
      if (rank < other) {
        send(&there);
        receive(&back);
      } else {
        receive(&back);
        send(&back);
      }
      guard([&](check& c) { c.equal("Ssend of threads", there, back); });
    }
  });
}

/// All threads take from one stream of messages by Mprobe: each message is taken once, whole.
void shared_stream(guarded& guard, int rank, int other, int each) {
  std::mutex counting;
  std::vector<int> taken(static_cast<std::size_t>(thread_count * each), 0);
  on_threads([&](int t) {
    for (int i = 0; i < each; ++i) {
      const int number = t * each + i;
      const std::size_t n = 1 + static_cast<std::size_t>(number) * 131 % 9000;
      const bytes out = made_of(seed_of(rank, number), n);
      MPI_Request r;
      MPI_Isend(out.data(), as_int(n), MPI_BYTE, other, 1000 + number, MPI_COMM_WORLD, &r);
      MPI_Message message;
      MPI_Status s;
      MPI_Mprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &s);
      const int got = s.MPI_TAG - 1000;
      const std::size_t length = 1 + static_cast<std::size_t>(got) * 131 % 9000;
      bytes in(length);
      MPI_Mrecv(in.data(), as_int(length), MPI_BYTE, &message, &s);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      guard([&](check& c) {
        c.status("Mprobe of threads", s, other, 1000 + got, length);
        c.bytes("Mprobe of threads", seed_of(other, got), in);
      });
      const std::lock_guard hold(counting);
      ++taken[static_cast<std::size_t>(got)];
    }
  });
  for (const int times : taken)
    guard([&](check& c) { c.equal("how often a message is taken", 1, times); });
}

/// Each thread has its own communicator for collective calls.
void own_communicators(guarded& guard, int size, int rounds) {
  MPI_Comm comm[thread_count];
  for (MPI_Comm& one : comm) MPI_Comm_dup(MPI_COMM_WORLD, &one);
  on_threads([&](int t) {
    int rank = 0;
    MPI_Comm_rank(comm[t], &rank);
    for (int i = 0; i < rounds; ++i) {
      const int mine = rank + t * 100 + i;
      int sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm[t]);
      guard([&](check& c) {
        c.equal("Allreduce of threads", size * (size - 1) / 2 + size * (t * 100 + i), sum);
      });
    }
  });
  for (MPI_Comm& one : comm) MPI_Comm_free(&one);
}

}  // namespace

void threads(check& c) {
  if (!c.threads) return;
  guarded guard(c);
  const int other = partner(c);
  if (other >= 0) {
    by_tag(guard, c.rank, other, c.thorough ? 100 : 20);
    synchronous(guard, c.rank, other, c.thorough ? 1024 : 100);
    shared_stream(guard, c.rank, other, c.thorough ? 100 : 20);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  own_communicators(guard, c.size, c.thorough ? 100 : 15);
}

}  // namespace conformance
