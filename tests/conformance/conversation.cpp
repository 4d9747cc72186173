// SPDX-License-Identifier: Apache-2.0
#include "conversation.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string_view>
#include <thread>

#include "datagram.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"
#include "support/parts.hpp"
#include "transports/fake/factory.hpp"

namespace conformance {

using weft::context;
using weft::endpoint;
using weft::task;

namespace {

namespace fake = weft::transports::fake;

fake::settings slow_and_narrow() {
  fake::settings s;
  s.real_time = true;
  s.room = 8;
  s.memory = fake::memory::readable;
  s.later = true;
  s.failing = 10;
  return s;
}

/// Joins the contexts of this process to one world.
weft::transports::factory fake_transport() {
  static fake::world everywhere(slow_and_narrow());
  static std::atomic<fake::node> next{0};
  return {"fake", [](weft::transports::services& s, const weft::options&, std::string&) {
            return fake::make(everywhere, next.fetch_add(1),
                              static_cast<weft::runtime::engine&>(s));
          }};
}

}  // namespace

context setting::make_context() const {
  weft::options o;
  o.progress = progress;
  o.wait_set = wait_set;
  o.experimental.shm_copy = large;
  o.transports = {"self", transport};
  o.shm_limit = shm_limit;
  o.loan_budget = loan_budget;
  o.tcp_links = tcp_links;
  o.tcp_tls = encryption;
  o.experimental.reading = reading;
  o.experimental.rendezvous = rendezvous;
  o.experimental.qdma_copy_completion = qdma_copy_completion;
  o.experimental.chained = chained;
  o.experimental.verbs_eager = verbs_eager;
  o.transport_factories = {fake_transport(), datagram::kind()};
  return context(std::move(o));
}

std::ostream& operator<<(std::ostream& out, const setting& s) { return out << s.name; }

namespace {

setting encrypted(setting s) {
  s.encryption = weft::tcp_encryption::yes;
  return s;
}

const std::vector<setting>& settings() {
  using enum place;
  using enum weft::progress_mode;
  using enum weft::ring_read_policy;
  using enum weft::rendezvous_scheme;
  using enum weft::copy_completion;
  static const std::vector<setting> all{
      {"self", same_context},
      {"self, polling", same_context, polling},
      {"self, interrupt", same_context, interrupt},
      {"shm, one process", same_process},
      {"shm, one process, polling", same_process, polling},
      {"shm, one process, interrupt, epoll", same_process, interrupt, "epoll"},
      {"shm, one process, epoll", same_process, dedicated, "epoll"},
      {"shm, two processes", two_processes},
      {"shm, two processes, polling", two_processes, polling},
      {"shm, two processes, interrupt", two_processes, interrupt},
      {"shm, two processes, epoll, pipeline", two_processes, dedicated, "epoll", "pipeline"},
      {"shm, two processes, cma", two_processes, dedicated, "auto", "cma"},
      {"shm, two processes, direct", two_processes, dedicated, "auto", "direct"},
      {"shm, one process, cma, interrupt", same_process, interrupt, "auto", "cma"},
      {"tcp, one process", same_process, dedicated, "auto", "auto", "tcp"},
      {"tcp, one process, polling", same_process, polling, "auto", "auto", "tcp"},
      {"tcp, one process, interrupt, epoll", same_process, interrupt, "epoll", "auto", "tcp"},
      {"tcp, two processes", two_processes, dedicated, "auto", "auto", "tcp"},
      {"tcp, two processes, polling", two_processes, polling, "auto", "auto", "tcp"},
      {"tcp, two processes, interrupt", two_processes, interrupt, "auto", "auto", "tcp"},
      {"datagram, one process", same_process, dedicated, "auto", "auto", "datagram"},
      {"datagram, two processes", two_processes, dedicated, "auto", "auto", "datagram"},
      {"datagram, two processes, polling", two_processes, polling, "auto", "auto", "datagram"},
      {"datagram, two processes, interrupt", two_processes, interrupt, "auto", "auto", "datagram"},
      {"fake, one process", same_process, dedicated, "auto", "auto", "fake"},
      {"fake, one process, polling", same_process, polling, "auto", "auto", "fake"},
      {"fake, one process, interrupt", same_process, interrupt, "auto", "auto", "fake"},
      {"fake, one process, epoll", same_process, dedicated, "epoll", "auto", "fake"},
      {"tcp, two processes, epoll", two_processes, dedicated, "epoll", "auto", "tcp"},
      {"tcp, two links, one process", same_process, dedicated, "auto", "auto", "tcp", 2},
      {"tcp, three links, two processes", two_processes, dedicated, "auto", "auto", "tcp", 3},
      {"tcp, two links, two processes, polling", two_processes, polling, "auto", "auto", "tcp", 2},
      encrypted({"tcp, encrypted, two processes", two_processes, dedicated, "auto", "auto", "tcp"}),
      encrypted({"tcp, encrypted, one process, interrupt, epoll", same_process, interrupt, "epoll",
                 "auto", "tcp"}),
      encrypted({"tcp, encrypted, two links, two processes, polling", two_processes, polling,
                 "auto", "auto", "tcp", 2}),
      {"self, two threads", same_context, two_threads},
      {"shm, one process, two threads, epoll", same_process, two_threads, "epoll"},
      {"shm, two processes, two threads", two_processes, two_threads},
      {"tcp, two processes, two threads", two_processes, two_threads, "auto", "auto", "tcp"},
      {"fake, one process, two threads", same_process, two_threads, "auto", "auto", "fake"},
      {"shm, single reading", two_processes, dedicated, "auto", "auto", "shm", 1, single},
      {"shm, contiguous reading", two_processes, dedicated, "auto", "auto", "shm", 1, contiguous},
      {"shm, post reading", two_processes, dedicated, "auto", "pipeline", "shm", 1, post},
      {"fake, written", same_process, dedicated, "auto", "auto", "fake", 1, burst, put},
      {"fake, in frames", same_process, dedicated, "auto", "auto", "fake", 1, burst, frames},
      {"shm, one process, read", same_process, dedicated, "auto", "auto", "shm", 1, burst, get},
      {"shm, immediate reading", two_processes, polling, "auto", "auto", "shm", 1, immediate},
      {"qdma, one process", same_process, dedicated, "auto", "auto", "qdma"},
      {"qdma, one process, polling", same_process, polling, "auto", "auto", "qdma"},
      {"qdma, one process, interrupt, epoll", same_process, interrupt, "epoll", "auto", "qdma"},
      {"qdma, two processes", two_processes, dedicated, "auto", "auto", "qdma"},
      {"qdma, two processes, polling", two_processes, polling, "auto", "auto", "qdma"},
      {"qdma, two processes, interrupt", two_processes, interrupt, "auto", "auto", "qdma"},
      {"qdma, one process, two threads, two queues, read", same_process, two_threads, "auto",
       "auto", "qdma", 1, burst, get, two_queues},
      {"qdma, two processes, read", two_processes, dedicated, "auto", "auto", "qdma", 1, burst,
       get},
      {"qdma, one process, read", same_process, dedicated, "auto", "auto", "qdma", 1, burst, get},
      {"qdma, one process, written", same_process, dedicated, "auto", "auto", "qdma", 1, burst,
       put},
      {"qdma, written", two_processes, dedicated, "auto", "auto", "qdma", 1, burst, put},
      {"qdma, written, polling", two_processes, polling, "auto", "auto", "qdma", 1, burst, put},
      {"qdma, get, one queue, chained", two_processes, dedicated, "auto", "auto", "qdma", 1, burst,
       get, one_queue, weft::chained_fin::yes},
      {"qdma, written, two queues, chained", two_processes, dedicated, "auto", "auto", "qdma", 1,
       burst, put, two_queues, weft::chained_fin::yes},
      {"shm and tcp, two processes", two_processes, dedicated, "auto", "auto", "shm+tcp"},
      {"tcp and shm, one process, interrupt, epoll", same_process, interrupt, "epoll", "auto",
       "tcp+shm"},
      {"qdma, shm and tcp, two processes, polling", two_processes, polling, "auto", "auto",
       "qdma+shm+tcp"},
      {"verbs, two processes, written", two_processes, dedicated, "auto", "auto", "verbs", 1, burst,
       put},
      {"verbs, one process, interrupt, epoll, read, written frames", same_process, interrupt,
       "epoll", "auto", "verbs", 1, burst, get, direct, weft::chained_fin::automatic,
       weft::eager_operation::write},
      {"verbs and tcp, two processes", two_processes, dedicated, "auto", "auto", "verbs+tcp"},
      {"verbs and tcp, one process", same_process, dedicated, "auto", "auto", "verbs+tcp"},
  };
  return all;
}

/// Whether another setting differs only in the thread that polls or sleeps, or in its wait set:
/// then the same code touches the same memory.
bool has_a_twin(const setting& s) {
  const std::string_view transport(s.transport);
  if (transport == "shm" && s.where == place::same_process) return false;
  return (s.progress != weft::progress_mode::dedicated || std::string_view(s.wait_set) != "auto") &&
         std::string_view(s.large) == "auto" && s.reading == weft::ring_read_policy::burst &&
         s.qdma_copy_completion == weft::copy_completion::direct &&
         transport.find('+') == std::string_view::npos;
}

/// The settings of the transport that WEFT_TEST_TRANSPORT names; else all that need no RDMA device,
/// which is usually in the guest (tests/rdma_guest).
bool is_tried(const setting& s) {
  const std::string_view transport(s.transport);
  const char* const only = std::getenv("WEFT_TEST_TRANSPORT");
  if (only ? transport != only : transport.starts_with("verbs")) return false;
  if (!weft::tests::has_part("qdma") && transport.starts_with("qdma")) return false;
  if (s.encryption == weft::tcp_encryption::yes && !weft::tests::has_part("tls")) return false;
  if (WEFT_TEST_FEW_SETTINGS && has_a_twin(s)) return false;
  // Races between threads of one process are found where there are two.
  return !WEFT_TEST_RACES ||
         (s.where != place::two_processes && s.progress != weft::progress_mode::polling);
}

}  // namespace

setting every_setting() { return GENERATE(filter(is_tried, from_range(settings()))); }

namespace {

task<void> both(context& ctx, part left, part right) {
  const endpoint self = ctx.world()[0];
  weft::scope parts;
  parts.start(left(ctx, self));
  parts.start(right(ctx, self));
  co_await parts.join();
}

task<void> one(context& ctx, std::string own, std::string other, part p) {
  co_await p(ctx, co_await ctx.meet(own, other, "conformance"));
}

struct meeting {
  std::string left, right;
};

/// A name that no other test uses, nor a test run at the same time.
meeting fresh_meeting() {
  static int count = 0;
  const std::string base =
      "unix://weft-conformance-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  return {base + "-left", base + "-right"};
}

/// The whole life of one end.
void live(const setting& how, const std::string& own, const std::string& other, part p) {
  context ctx = how.make_context();
  weft::run(ctx, one(ctx, own, other, p));
}

/// Either failure may be what came of the other.
void tell(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    std::cerr << "the second end: " << e.what() << std::endl;
  }
}

void in_one_process(const setting& how, part left, part right) {
  const meeting at = fresh_meeting();
  std::exception_ptr failure;
  std::thread second([&] {
    try {
      live(how, at.right, at.left, right);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  try {
    live(how, at.left, at.right, left);
  } catch (...) {
    second.join();
    if (failure) tell(failure);
    throw;
  }
  second.join();
  if (failure) std::rethrow_exception(failure);
}

std::ptrdiff_t own_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

const std::ptrdiff_t threads_at_start = own_threads();  // an emulator has more than one

/// A thread of an earlier context that releases what a peer has sent may end a moment after that
/// context. If it were inside malloc at a fork, the child would find malloc locked for ever, as
/// AddressSanitizer's is not freed for the child.
void await_end_of_threads() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (own_threads() > threads_at_start && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void in_two_processes(const setting& how, part left, part right) {
  const meeting at = fresh_meeting();
  std::cout.flush();
  await_end_of_threads();
  const pid_t child = ::fork();  // no object of weft exists here
  if (child == 0) {
    int code = 0;
    try {
      live(how, at.right, at.left, right);
    } catch (const std::exception& e) {
      std::cerr << "the second process: " << e.what() << std::endl;
      code = 1;
    }
    ::_exit(code);
  }
  if (child < 0) throw std::runtime_error("fork failed");
  std::exception_ptr failure;
  try {
    live(how, at.left, at.right, left);
  } catch (...) {
    failure = std::current_exception();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (failure) std::rethrow_exception(failure);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the second process ends well");
}

}  // namespace

void converse(const setting& how, part left, part right) {
  switch (how.where) {
    case place::same_context: {
      context ctx = how.make_context();
      return weft::run(ctx, both(ctx, left, right));
    }
    case place::same_process:
      return in_one_process(how, left, right);
    case place::two_processes:
      return in_two_processes(how, left, right);
  }
}

}  // namespace conformance
