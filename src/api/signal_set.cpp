// SPDX-License-Identifier: Apache-2.0
#include <weft/io/signal_set.hpp>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <weft/io/ready.hpp>

#include "runtime/errno_hint.hpp"

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

}  // namespace

signal_set::signal_set(context& ctx, std::initializer_list<int> signals) : ctx_(&ctx) {
  const sigset_t wanted = set_of(signals);
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
