// SPDX-License-Identifier: Apache-2.0
#include "stage/ranks.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stage/launcher.hpp"
#include "stage/own_arguments.hpp"
#include "support/affinity.hpp"

namespace weft::bench {
namespace {

/// Replaces this process with weft-run, which starts the same command line with that many ranks.
[[noreturn]] void become_ranks(int count) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> words{(self.parent_path() / "weft-run").string(),
                                 "--no-label",
                                 "--kill-on-failure",
                                 "-n",
                                 fmt::format("{}", count),
                                 "--",
                                 self.string()};
  for (std::string& word : own_arguments()) words.push_back(std::move(word));
  std::vector<char*> argv;
  for (auto& one : words) argv.push_back(one.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  throw std::runtime_error(fmt::format("cannot start {}: {}; it must lie beside weft-bench",
                                       words[0], std::strerror(errno)));
}

/// The same in a child process, to its end.
void start_ranks(int count) {
  const pid_t job = ::fork();
  if (job < 0) throw std::runtime_error(fmt::format("fork failed: {}", std::strerror(errno)));
  if (job == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    become_ranks(count);
  }
  int status = 0;
  while (::waitpid(job, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("the job of {} processes failed", count));
}

void be_a_rank(const launcher& by, const settings& chosen, peer_id least,
               const std::function<task<void>(context&)>& act) {
  if (chosen.pin) pin_rank(by.place);
  context ctx(options_of(chosen));
  if (ctx.world().size() < least)
    throw std::runtime_error(
        fmt::format("there is nothing to measure with fewer than {} processes: {}", least,
                    by.start_together(least)));
  run(ctx, act(ctx));
}

}  // namespace

void on_ranks(const settings& chosen, const ranks_wanted& ranks,
              const std::function<task<void>(context&)>& act) {
  if (const auto by = launched_by()) return be_a_rank(*by, chosen, ranks.least, act);
  for (std::size_t i = 0; i + 1 < ranks.counts.size(); ++i) start_ranks(ranks.counts[i]);
  become_ranks(ranks.counts.back());
}

bool has_ranks(const CLI::App& app) { return app.get_option_no_throw("--ranks") != nullptr; }

}  // namespace weft::bench
