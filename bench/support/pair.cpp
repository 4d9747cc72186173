// SPDX-License-Identifier: Apache-2.0
#include "support/pair.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/affinity.hpp"
#include "support/hosts.hpp"
#include "support/spin.hpp"

namespace weft::bench {

/// Head of the shared block; the two sample arrays and then the area follow it.
struct forked_member::control {
  spin_barrier barrier;
  std::size_t exchanged[2] = {};  // bytes of each side's `exchange`
  std::byte boxes[2][longest_exchange] = {};
  std::size_t max_samples = 0;
  double* samples[2] = {};
  alignas(64) std::atomic<std::size_t> count[2] = {};
  char error[2][512] = {};
};

void spin_barrier::arrive_and_wait(std::uint32_t& sense) noexcept {
  sense ^= 1;
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == 1) {
    arrived_.store(0, std::memory_order_relaxed);
    sense_.store(sense, std::memory_order_release);
  } else {
    spin_until([&] { return sense_.load(std::memory_order_acquire) == sense; });
  }
}

void forked_member::barrier() noexcept { control_.barrier.arrive_and_wait(sense_); }

std::vector<std::byte> forked_member::exchange(std::span<const std::byte> mine) {
  if (mine.size() > longest_exchange)
    throw std::length_error(fmt::format("{} bytes are too many for an exchange", mine.size()));
  const auto own = static_cast<std::size_t>(rank()), other = 1 - own;
  control_.exchanged[own] = mine.size();
  std::copy(mine.begin(), mine.end(), control_.boxes[own]);
  barrier();
  const std::byte* const box = control_.boxes[other];
  std::vector<std::byte> theirs(box, box + control_.exchanged[other]);
  barrier();  // the boxes are free again
  return theirs;
}

void forked_member::report(double sample) {
  const auto at = control_.count[rank()].load(std::memory_order_relaxed);
  if (at == control_.max_samples)
    throw std::length_error(fmt::format("more than {} samples; raise max_samples", at));
  control_.samples[rank()][at] = sample;
  control_.count[rank()].store(at + 1, std::memory_order_release);
}

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

struct unmapper {
  std::size_t bytes;
  void operator()(std::byte* memory) const noexcept { ::munmap(memory, bytes); }
};
using mapping = std::unique_ptr<std::byte, unmapper>;

mapping map_shared(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::system_category(),
                            fmt::format("cannot map {} bytes of shared memory", bytes));
  return mapping(static_cast<std::byte*>(memory), unmapper{bytes});
}

/// A forked child; killed and reaped when it goes out of scope unfinished.
class child {
 public:
  child() = default;
  explicit child(pid_t pid) : pid_(pid) {
    pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (pidfd_ >= 0) return;
    const int error = errno;
    end();
    throw std::system_error(error, std::system_category(), "pidfd_open");
  }
  child(child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), pidfd_(std::exchange(other.pidfd_, -1)) {}
  child& operator=(child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(pidfd_, other.pidfd_);
    return *this;
  }
  ~child() { end(); }

  bool running() const noexcept { return pid_ > 0; }
  int pidfd() const noexcept { return running() ? pidfd_ : -1; }  // poll skips -1

  /// Its wait status. Blocks until it has ended.
  int reap() noexcept {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  void end() noexcept {
    if (running()) {
      ::kill(pid_, SIGKILL);
      reap();
    }
    if (pidfd_ >= 0) ::close(std::exchange(pidfd_, -1));
  }

  pid_t pid_ = -1;
  int pidfd_ = -1;
};

void keep_error(char (&text)[512], const char* message) noexcept {
  std::strncpy(text, message, sizeof text - 1);
}

/// In the child: never returns, so no destructor of the parent runs twice.
[[noreturn]] void run_child(forked_member::control& shared, std::span<std::byte> area, int rank,
                            int core, const pair_options& options,
                            const std::function<void(forked_member&)>& body) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    if (options.pin) pin_to(core);
    if (options.apart) options.apart->enter(rank);
    forked_member self(shared, area, rank);
    self.barrier();
    body(self);
    code = 0;
  } catch (const std::exception& error) {
    keep_error(shared.error[rank], error.what());
  } catch (...) {
    keep_error(shared.error[rank], "an exception of unknown type");
  }
  ::_exit(code);
}

std::string describe_end(int status, const char* message) {
  if (WIFSIGNALED(status))
    return fmt::format("died by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  if (*message != '\0') return fmt::format("failed: {}", message);
  return fmt::format("left with exit code {} before its work was done", WEXITSTATUS(status));
}

}  // namespace

pair_samples run_pair(const pair_options& options,
                      const std::function<void(forked_member&)>& body) {
  const auto cores = pair_cores();
  const std::size_t head = whole_pages(sizeof(forked_member::control));
  const std::size_t log = whole_pages(options.max_samples * sizeof(double));
  const std::size_t total = head + 2 * log + whole_pages(options.shared_bytes);
  const mapping memory = map_shared(total);
  auto& shared = *new (memory.get()) forked_member::control;
  shared.max_samples = options.max_samples;
  for (std::size_t rank = 0; rank < 2; ++rank)
    shared.samples[rank] = reinterpret_cast<double*>(memory.get() + head + rank * log);
  const std::span area(memory.get() + head + 2 * log, options.shared_bytes);

  std::array<child, 2> children;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const pid_t pid = ::fork();
    if (pid < 0) throw std::system_error(errno, std::system_category(), "fork");
    if (pid == 0) run_child(shared, area, static_cast<int>(rank), cores[rank], options, body);
    children[rank] = child(pid);
  }

  const auto end = std::chrono::steady_clock::now() + options.time_limit;
  while (children[0].running() || children[1].running()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ended[2] = {{children[0].pidfd(), POLLIN, 0}, {children[1].pidfd(), POLLIN, 0}};
    const int ready = ::poll(ended, 2, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::system_category(), "poll");
    if (ready == 0)
      throw std::runtime_error(
          fmt::format("{}: not finished after {} s; is another program using the cores {} and {}?",
                      options.name, options.time_limit.count(), cores[0], cores[1]));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      if (ready < 0 || ended[rank].revents == 0) continue;
      if (const int status = children[rank].reap(); status != 0)
        throw std::runtime_error(fmt::format("{}: process {} of the pair {}", options.name, rank,
                                             describe_end(status, shared.error[rank])));
    }
  }

  pair_samples samples;
  for (std::size_t rank = 0; rank < 2; ++rank)
    samples[rank].assign(shared.samples[rank], shared.samples[rank] + shared.count[rank].load());
  return samples;
}

}  // namespace weft::bench
