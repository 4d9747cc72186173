// SPDX-License-Identifier: Apache-2.0
// The benchmarks of weft-bench with an MPI. Built once with each MPI; launch.hpp starts it.
#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "output/json_lines.hpp"
#include "peers/kernels/run.hpp"
#include "peers/mpi_loops.hpp"
#include "peers/mpi_provider.hpp"
#include "peers/mpi_threads.hpp"
#include "support/affinity.hpp"
#include "support/collective_batches.hpp"
#include "support/hosts.hpp"
#include "support/job.hpp"

namespace {

using namespace weft::bench;

/// The rank, before MPI_Init knows it: pinning must come before the library starts threads and maps
/// memory.
int rank_from_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

/// Before MPI_Init opens sockets. The launcher stays on host 0.
void go_to_host(int rank) {
  if (!hosts::are_given())
    throw std::runtime_error("--hosts: weft-bench compare makes them; start it instead");
  hosts().enter(rank);
  hosts::show_in_sys();
}

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view all(text, static_cast<std::size_t>(length));
  std::string first(all.substr(0, all.find_first_of(",\n")));
  std::replace(first.begin(), first.end(), '\t', ' ');
  return first;
}

/// The number of ranks that have loaded weft's provider; all ranks call it.
int ranks_with_weft() {
  int count = mpi::weft_is_loaded() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return count;
}

void tell(json line, const job& what, int on_weft) {
  if (line.empty()) return;
  line["library"] = library();
  line["ranks"] = what.ranks;
  line[std::string(ranks_on_weft)] = on_weft;
  if (what.bench == "rate" || what.bench == "bandwidth") {
    line["window"] = what.window;
    line["buffers"] = what.buffers;
  }
  print_line(line);
}

void run_threads(const job& what, line_head head, int on_weft) {
  head.size = what.sizes.front();
  for (const int threads : what.threads)
    for (const bool apart : {true, false}) {
      const auto done = mpi::threads(static_cast<std::size_t>(threads), apart, what);
      if (done.mmsg_s.empty()) continue;
      auto line = make_line(head, mmsg_s, done.mmsg_s);
      line[std::string(half_rtt_us)] = median(done.half_rtt_us);
      line["threads"] = threads;
      line["way"] = apart ? "a communicator" : "the same communicator";
      tell(std::move(line), what, on_weft);
    }
}

void run_collective(const job& what, line_head head, int on_weft, bool crowded) {
  for (const auto& pattern : patterns_of(what))
    for (const auto size : sizes_of(what)) {
      head.size = size;
      tell(mpi::collective_pattern(pattern, size, what, head, crowded), what, on_weft);
    }
}

/// \return whether all solutions were right
bool run_kernels(const job& what, line_head head, int on_weft) {
  bool right = true;
  head.size = 0;
  for (const auto& name : what.kernels) {
    auto line = mpi::solve_kernel(name, what, head);
    right = line["verified"].get<bool>() && right;
    if (line.contains("wrong"))
      fmt::print(stderr, "weft-peer: {}\n", line["wrong"].get<std::string>());
    if (mpi::rank() == 0) tell(std::move(line), what, on_weft);
  }
  return right;
}

/// Before any thread is started. \throws std::runtime_error
void init(int& argc, char**& argv, bool by_threads) {
  const int wanted = by_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int got = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &got);
  if (got < wanted) throw std::runtime_error("this MPI does not offer MPI_THREAD_MULTIPLE");
}

void run(const job& what, line_head head, int on_weft, bool crowded) {
  if (what.bench == "threads") return run_threads(what, head, on_weft);
  if (what.bench == "collective") return run_collective(what, head, on_weft, crowded);
  for (const auto size : what.sizes) {
    head.size = size;
    const auto tell_samples = [&](std::string_view metric, const std::vector<double>& samples) {
      if (!samples.empty()) tell(make_line(head, metric, samples), what, on_weft);
    };
    if (what.bench == start_of_job) {
      // The count of ranks on weft was a call of all ranks: they are connected.
      if (mpi::rank() == 0)
        tell(json{{"bench", head.bench},
                  {"transport", head.transport},
                  {"progress", head.progress},
                  {"size", 0}},
             what, on_weft);
    } else if (what.bench == "latency") {
      tell_samples(half_rtt_us, mpi::latency(size, what));
    } else if (what.bench == "sendrecv") {
      tell_samples(us_per_call, mpi::sendrecv(size, what.effort));
    } else if (what.bench == "rate" || what.bench == "bandwidth") {
      const bool counts_bytes = what.bench == "bandwidth";
      auto samples = mpi::windows(size, what);
      if (samples.empty()) continue;
      if (counts_bytes)
        for (auto& sample : samples) sample *= static_cast<double>(size);
      auto line = make_line(head, counts_bytes ? mb_s : mmsg_s, samples);
      line["mean"] = harmonic_mean(samples);
      tell(std::move(line), what, on_weft);
    } else if (what.bench == "overlap") {
      for (const auto& pattern : overlap_patterns)
        if (what.pattern == "all" || what.pattern == pattern)
          tell(mpi::overlap(pattern, size, what, head), what, on_weft);
    } else if (what.bench != "alltoall") {
      tell_samples(us_per_call, mpi::collective(what.bench, size, what.effort, crowded));
    } else {
      const auto samples = mpi::alltoall(size, what.effort);
      if (samples.empty()) continue;
      auto line = make_line(head, "us_per_message", samples);
      line[std::string(mmsg_s)] = 1.0 / line["us_per_message"].get<double>();
      tell(std::move(line), what, on_weft);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  // If the launcher is killed, its ranks must not keep spinning.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);

  CLI::App app("The work of weft-bench, done by an MPI");
  app.require_subcommand(1);
  line_head head{.bench = {}, .transport = "shm", .progress = "polling"};
  std::vector<std::string> names{"latency",  "sendrecv", "rate",       "bandwidth",  "overlap",
                                 "alltoall", "threads",  "collective", start_of_job, kernel_bench};
  names.insert(names.end(), mpi_collectives.begin(), mpi_collectives.end());
  std::vector<job> jobs(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    jobs[i].bench = names[i];
    jobs[i].kernels = kernel_names;
    if (jobs[i].bench == "rate" || jobs[i].bench == "threads") jobs[i].window = 64;
    auto* sub = app.add_subcommand(names[i]);
    add_job_options(*sub, jobs[i]);
    if (names[i] == "latency" || names[i] == "rate" || names[i] == "bandwidth")
      add_duration_option(*sub, jobs[i]);
    if (jobs[i].bench == "overlap")
      sub->add_flag("--standard-send", jobs[i].standard_send,
                    "A blocked sender is in MPI_Send instead of MPI_Ssend");
    if (jobs[i].bench == "threads")
      sub->add_flag_callback(
          "--no-pin", [&pin = jobs[i].pin] { pin = false; }, "Let the scheduler choose the cores");
    sub->add_option("--transport", head.transport, "What to call the transport in the output");
    sub->add_option("--progress", head.progress, "What to call the mode of progress in the output");
    sub->add_flag("--json")->description("Accepted for symmetry: the output always is JSON lines");
  }
  CLI11_PARSE(app, argc, argv);
  auto what = jobs.begin();
  while (!app.got_subcommand(what->bench)) ++what;
  head.bench = what->bench;

  try {
    const auto cores = allowed_cores().size();
    // Threads place themselves: they would inherit the one core of their rank.
    if (what->bench != "threads") pin_rank(rank_from_launcher());
    if (what->hosts) go_to_host(rank_from_launcher());
    init(argc, argv, what->bench == "threads");
    MPI_Comm_size(MPI_COMM_WORLD, &what->ranks);
    const bool pairwise = !what->among_many();
    const bool kernels = what->bench == kernel_bench;
    if ((what->ranks < 2 && !kernels) || (pairwise && what->ranks != 2))
      throw std::runtime_error(fmt::format("{} needs {} processes and was started with {}",
                                           what->bench, pairwise ? "two" : "at least two",
                                           what->ranks));
    const int on_weft = ranks_with_weft();
    bool right = true;
    if (kernels)
      right = run_kernels(*what, head, on_weft);
    else
      run(*what, head, on_weft, static_cast<std::size_t>(what->ranks) > cores);
    MPI_Finalize();
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-peer: {}\n", error.what());
  }
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}
