// SPDX-License-Identifier: Apache-2.0
// The limit on file size: the kernel raises SIGXFSZ, and weft reports an error.
#include "runtime/os/held_back_signal.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include <weft/error.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "runtime/trace/call_tree.hpp"
#include "runtime/trace/trace.hpp"
#include "support/catch.hpp"

namespace {

using namespace weft::runtime;

/// The exit status of `f` in a child that may write files of 4 KiB, or 1000 + the signal that
/// killed it.
template <class F>
int with_short_files(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit least{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &least);
    ::_exit(f());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// A file that its destructor removes.
struct short_file {
  std::string name = "weft-short-" + std::to_string(::getpid());
  ~short_file() { std::remove(name.c_str()); }
};

}  // namespace

TEST_CASE("beyond the limit on file size, shared memory is an error with its cure") {
  CHECK(with_short_files([] {
          try {
            make_memory_file("too large", 8192);
            return 1;
          } catch (const weft::error& e) {
            if (std::string(e.what()).find("ulimit -f") == std::string::npos) return 2;
          }
          sigset_t left;
          sigpending(&left);
          return sigismember(&left, SIGXFSZ) == 0 ? 0 : 3;
        }) == 0);
}

TEST_CASE("beyond the limit on file size, a trace and a call tree end, and the program goes on") {
  const short_file file;
  CHECK(with_short_files([&] {
          call_tree tree(file.name, 0, 1);
          for (int i = 0; i != 200; ++i) tree.note("a step", {});
          return 0;
        }) == 0);
  CHECK(with_short_files([&] {
          int reports = 0;
          {
            trace events;
            const weft::log_settings counted{
                .sink = [&](weft::log_level level, std::string_view line) {
                  if (level == weft::log_level::error && line.ends_with("large")) ++reports;
                }};
            events.open(file.name, 0, std::make_shared<const weft::runtime::log>(counted));
            for (int i = 0; i != 200; ++i) events.instant(trace::kind::sent, 1, 2);
          }
          return reports == 1 ? 0 : 1;
        }) == 0);
}

TEST_CASE("a signal that the application holds back itself is not dropped") {
  sigset_t own, before, now;
  sigemptyset(&own);
  sigaddset(&own, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &own, &before);
  {
    held_back_signal held(SIGXFSZ);
    ::pthread_kill(::pthread_self(), SIGXFSZ);
    held.drop();
  }
  sigpending(&now);
  CHECK(sigismember(&now, SIGXFSZ) == 1);
  constexpr timespec at_once{};
  ::sigtimedwait(&own, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
