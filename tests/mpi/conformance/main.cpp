// SPDX-License-Identifier: Apache-2.0
// mpi-conformance [--threads] [--thorough] [SUBJECT...]: checks an MPI library against the
// standard. Run it under any launcher, on any number of ranks. Status 1: a check failed.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "check.hpp"

namespace conformance {
namespace {

struct subject {
  const char* name;
  void (*play)(check&);
};

constexpr subject subjects[] = {
    {"modes", modes},
    {"persistent", persistent},
    {"persistent_buffered", persistent_buffered},
    {"probes", probes},
    {"cancel", cancel},
    {"order", order},
    {"truncation", truncation},
    {"truncation_large", truncation_large},
    {"requests", requests},
    {"self", self},
    {"datatypes", datatypes},
    {"displaced", displaced},
    {"displaced_to_each", displaced_to_each},
    {"displaced_to_all", displaced_to_all},
    {"displaced_windows", displaced_windows},
    {"rooted", rooted},
    {"to_all", to_all},
    {"often_made", often_made},
    {"nonblocking", nonblocking},
    {"communicators", communicators},
    {"intercommunicators", intercommunicators},
    {"windows", windows},
    {"locks", locks},
    {"threads", threads},
    {"flood", flood},
    {"overlap", overlap},
};

constexpr unsigned too_long_s = 90;  // and more when thorough, within the time of the whole test
char stuck_text[128];                // prepared: a signal handler may only write it

void stuck(int) {
  const auto written = ::write(STDERR_FILENO, stuck_text, std::strlen(stuck_text));
  std::_Exit(written > 0 ? 1 : 2);
}

int play(const subject& s, bool thorough, bool with_threads) {
  check c(s.name, thorough, with_threads);
  std::snprintf(stuck_text, sizeof stuck_text, "FAILED rank %d of %d, %s: does not end\n", c.rank,
                c.size, s.name);
  ::alarm(thorough ? 250 : too_long_s);
  const double begin = MPI_Wtime();
  s.play(c);
  MPI_Barrier(MPI_COMM_WORLD);
  ::alarm(0);
  const int mine = c.failures();
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (c.rank == 0) {
    std::printf("%-20s %s  (%.2f s)\n", s.name, all == 0 ? "ok" : "FAILED", MPI_Wtime() - begin);
    std::fflush(stdout);
  }
  return mine + all;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  bool thorough = false;
  bool with_threads = false;
  std::vector<std::string> named;
  std::vector<std::string> left_out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--thorough")
      thorough = true;
    else if (word == "--threads")
      with_threads = true;
    else if (word.starts_with('-'))
      left_out.push_back(word.substr(1));
    else
      named.push_back(word);
  }
  const auto is_in = [](const std::vector<std::string>& list, const char* name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::size_t known = 0;
  for (const subject& s : subjects) known += is_in(named, s.name) + is_in(left_out, s.name);
  if (known != named.size() + left_out.size()) {
    std::fprintf(stderr, "FAILED: there is no subject of one of these names\n");
    return 2;
  }
  std::signal(SIGALRM, stuck);
  int granted = 0;
  MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &granted);
  if (with_threads && granted < MPI_THREAD_MULTIPLE) {
    std::fprintf(stderr, "FAILED: MPI_THREAD_MULTIPLE was asked for, %d granted\n", granted);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int failures = 0;
  for (const subject& s : subjects)
    if ((named.empty() || is_in(named, s.name)) && !is_in(left_out, s.name))
      failures += play(s, thorough, with_threads);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
