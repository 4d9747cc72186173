// SPDX-License-Identifier: Apache-2.0
// Sets of cores, as the kernel numbers them.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::runtime {

/// Cores (hardware threads) by the kernel's numbers; those from 1024 on are not known to weft.
using cpu_set = std::bitset<CPU_SETSIZE>;

/// A list as the kernel writes it, such as "8-15,20". \return nothing: it is no such list, or empty
std::optional<cpu_set> parse_cpus(std::string_view list);
/// The same, back; "none" for the empty set.
std::string text_of(const cpu_set& cpus);

/// Where a thread of this host may run. \param tid 0: the calling thread
/// \return empty: not to be read; errno tells why
cpu_set cpus_of(pid_t tid) noexcept;
/// Where a thread of this process may run; empty: not to be read.
cpu_set cpus_of_thread(pthread_t thread) noexcept;
/// Lets a thread of this process run there. \return 0, or the reason as errno has it
int bind_thread(pthread_t thread, const cpu_set& cpus) noexcept;

}  // namespace weft::runtime
