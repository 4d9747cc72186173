// SPDX-License-Identifier: Apache-2.0
#include <weft/io/signal_set.hpp>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include <weft/io/ready.hpp>

#include "runtime/os/errno_hint.hpp"

namespace weft {

namespace {

/// \throws weft::error (invalid_argument)
sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t all;
  sigemptyset(&all);
  for (const int number : signals)
    if (number == SIGKILL || number == SIGSTOP || sigaddset(&all, number) != 0)
      throw error(errc::invalid_argument,
                  fmt::format("signal {} cannot be taken; name others", number));
  if (signals.size() == 0)
    throw error(errc::invalid_argument, "a set of no signals; name one, such as SIGTERM");
  return all;
}

/// Another thread of this process that does not block a signal: the signal would go to that thread.
/// Threads that end meanwhile, and hosts without /proc, are passed over.
struct open_thread {
  std::string name;
  int signal;
};
std::optional<open_thread> find_open_thread(std::initializer_list<int> signals) {
  const std::string self = std::to_string(::gettid());
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none)) {
    if (entry.path().filename() == self) continue;
    std::ifstream status(entry.path() / "status");
    std::string name, word;
    while (status >> word) {
      if (word == "Name:") status >> name;
      if (word != "SigBlk:") continue;
      std::uint64_t blocked = ~std::uint64_t{0};
      status >> std::hex >> blocked;
      for (const int number : signals)
        if ((blocked >> (number - 1) & 1) == 0) return open_thread{name, number};
      break;
    }
  }
  return {};
}

}  // namespace

signal_set::signal_set(context& ctx, std::initializer_list<int> signals) : ctx_(&ctx) {
  const sigset_t wanted = set_of(signals);
  if (const std::optional<open_thread> other = find_open_thread(signals))
    throw error(errc::invalid_argument,
                fmt::format("a thread that is there already, \"{}\", does not block signal {}, and "
                            "would get it in place of this set: make the signal_set before other "
                            "threads start",
                            other->name, other->signal));
  fd_ = ::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0)
    throw error(errc::system, "signalfd: " + std::string(std::strerror(errno)) + "; " +
                                  runtime::errno_hint(errno));
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &wanted, &before);
  blocked_ = wanted;
  for (const int number : signals)
    if (sigismember(&before, number) == 1) sigdelset(&blocked_, number);
}

signal_set::~signal_set() {
  if (std::this_thread::get_id() == thread_) pthread_sigmask(SIG_UNBLOCK, &blocked_, nullptr);
  ::close(fd_);
}

task<int> signal_set::next() {
  for (;;) {
    signalfd_siginfo one{};
    if (::read(fd_, &one, sizeof one) == sizeof one) co_return static_cast<int>(one.ssi_signo);
    if (errno != EAGAIN && errno != EINTR)
      throw error(errc::system, "reading a signalfd: " + std::string(std::strerror(errno)));
    co_await readable(*ctx_, fd_);
  }
}

}  // namespace weft
