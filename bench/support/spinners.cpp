// SPDX-License-Identifier: Apache-2.0
#include "support/spinners.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace weft::bench {
namespace {

[[noreturn]] void spin_until_killed(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it ended before the line above
  for (;;) asm volatile("");
}

}  // namespace

spinners::spinners(int count) {
  const pid_t parent = ::getpid();
  for (int i = 0; i != count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) spin_until_killed(parent);
    if (child < 0) {
      const int why = errno;
      end();
      throw std::system_error(why, std::system_category(), "fork");
    }
    all_.push_back(child);
  }
}

spinners::~spinners() { end(); }

void spinners::end() noexcept {
  for (const pid_t one : all_) ::kill(one, SIGKILL);
  for (const pid_t one : all_)
    while (::waitpid(one, nullptr, 0) < 0 && errno == EINTR) {
    }
  all_.clear();
}

}  // namespace weft::bench
