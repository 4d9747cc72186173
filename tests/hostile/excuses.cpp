// SPDX-License-Identifier: Apache-2.0
#include "excuses.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace hostile {

namespace {

constexpr unsigned looks_between_rolls = 64;

std::string read_now(int fd) {
  std::array<char, 256> text;
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  return {text.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
}

weft::unique_fd open_for_reading(const std::string& path) {
  return weft::unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

/// The second number of schedstat: nanoseconds for which the thread was ready and did not run. -1:
/// it has ended.
std::int64_t run_delay(const std::string& schedstat) {
  long long ran = 0, delay = 0;
  return std::sscanf(schedstat.c_str(), "%lld %lld", &ran, &delay) == 2 ? delay : -1;
}

/// The time that the host of a virtual machine took from all processors together.
std::int64_t stolen(const std::string& stat) {
  long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  if (std::sscanf(stat.c_str(), "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user, &nice,
                  &system, &idle, &wait, &irq, &soft, &steal) != 8)
    return 0;
  return steal * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
}

}  // namespace

bool excuses::known() {
  return run_delay(read_now(open_for_reading("/proc/self/schedstat").get())) >= 0;
}

void excuses::look_for_threads() {
  if (!machine_) machine_ = open_for_reading("/proc/stat");
  for (const pid_t pid : of_) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    std::error_code gone;
    for (std::filesystem::directory_iterator at(folder, gone), end; !gone && at != end;
         at.increment(gone)) {
      const pid_t thread = std::atoi(at->path().filename().c_str());
      if (!threads_.contains(thread))
        threads_.emplace(thread, open_for_reading(at->path() / "schedstat"));
    }
  }
}

std::int64_t excuses::so_far() {
  if (looks_++ % looks_between_rolls == 0) look_for_threads();
  std::int64_t all = board_.machine_stood.load() + stolen(read_now(machine_.get()));
  for (auto it = threads_.begin(); it != threads_.end();) {
    const std::int64_t delay = it->second ? run_delay(read_now(it->second.get())) : -1;
    if (delay < 0) {
      gone_ += last_[it->first];
      last_.erase(it->first);
      it = threads_.erase(it);
      continue;
    }
    all += last_[it->first] = delay;
    ++it;
  }
  return all + gone_;
}

}  // namespace hostile
