// SPDX-License-Identifier: Apache-2.0
// A rank that waits until its progress thread may run on the cores of its argument, for at most 30
// seconds, then for the other ranks, and says where the thread is.
#include <dirent.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// Where the thread weft-progress of this process may run, as the kernel writes it.
std::string progress_cores() {
  std::string cores;
  DIR* const all = ::opendir("/proc/self/task");
  for (const dirent* one = nullptr; all && (one = ::readdir(all)) != nullptr;) {
    std::ifstream status(std::string("/proc/self/task/") + one->d_name + "/status");
    bool is_progress = false;
    for (std::string line; std::getline(status, line);) {
      if (line == "Name:\tweft-progress") is_progress = true;
      constexpr std::string_view list = "Cpus_allowed_list:\t";
      if (is_progress && line.starts_with(list)) cores = line.substr(list.size());
    }
  }
  if (all) ::closedir(all);
  return cores;
}

task<void> meet(context& ctx) { co_await ctx.world().barrier(); }

}  // namespace

int main(int argc, char** argv) try {
  const std::string wanted = argc > 1 ? argv[1] : "";
  context ctx;
  run(ctx, within(60s, meet(ctx)));
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (!wanted.empty() && progress_cores() != wanted && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(5ms);
  run(ctx, within(60s, meet(ctx)));
  const std::string text = ctx.describe();
  const std::size_t at = text.find("progress thread: ");
  std::puts((progress_cores() + ": " + text.substr(at, text.find('\n', at) - at)).c_str());
  run(ctx, within(60s, meet(ctx)));
} catch (const std::exception& e) {
  std::fprintf(stderr, "progress_cores: %s\n", e.what());
  return 1;
}
