// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/own_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include <weft/error.hpp>

namespace weft::runtime {

std::thread start_own_thread(const char* name, const char* what, std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  try {
    started = std::thread([name, body = std::move(body)] {
      prctl(PR_SET_NAME, name);
      body();
    });
  } catch (const std::system_error& e) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw error(errc::system,
                std::string("cannot start the ") + what + ": " + e.what() +
                    ". Raise the limit on processes (ulimit -u) or address space (ulimit -v), or "
                    "use WEFT_PROGRESS=polling.");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace weft::runtime
