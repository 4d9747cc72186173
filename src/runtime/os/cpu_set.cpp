// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/cpu_set.hpp"

#include <fmt/format.h>

#include <charconv>

namespace weft::runtime {

namespace {

cpu_set from_kernel(const cpu_set_t& set) noexcept {
  cpu_set cpus;
  for (std::size_t i = 0; i != cpus.size(); ++i) cpus[i] = CPU_ISSET(i, &set) != 0;
  return cpus;
}

/// \return whether the text was a number of a core
bool parse_cpu(std::string_view text, std::size_t& cpu) noexcept {
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, cpu);
  return failure == std::errc{} && rest == end && cpu < cpu_set{}.size();
}

}  // namespace

std::optional<cpu_set> parse_cpus(std::string_view list) {
  cpu_set cpus;
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    const std::string_view range = list.substr(0, comma);
    const std::size_t dash = range.find('-');
    std::size_t first = 0, last = 0;
    if (!parse_cpu(range.substr(0, dash), first)) return std::nullopt;
    if (dash == range.npos)
      last = first;
    else if (!parse_cpu(range.substr(dash + 1), last) || last < first)
      return std::nullopt;
    for (; first <= last; ++first) cpus.set(first);
    more = comma != list.npos;
    if (more) list.remove_prefix(comma + 1);
  }
  return cpus;
}

std::string text_of(const cpu_set& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (!cpus[i]) continue;
    const std::size_t first = i;
    while (i + 1 < cpus.size() && cpus[i + 1]) ++i;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (i != first) text += fmt::format("-{}", i);
  }
  return text.empty() ? "none" : text;
}

cpu_set cpus_of(pid_t tid) noexcept {
  cpu_set_t set;
  return ::sched_getaffinity(tid, sizeof set, &set) == 0 ? from_kernel(set) : cpu_set{};
}

cpu_set cpus_of_thread(pthread_t thread) noexcept {
  cpu_set_t set;
  return ::pthread_getaffinity_np(thread, sizeof set, &set) == 0 ? from_kernel(set) : cpu_set{};
}

int bind_thread(pthread_t thread, const cpu_set& cpus) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t i = 0; i != cpus.size(); ++i)
    if (cpus[i]) CPU_SET(i, &set);
  return ::pthread_setaffinity_np(thread, sizeof set, &set);
}

}  // namespace weft::runtime
