// SPDX-License-Identifier: Apache-2.0
// Another process's address space, by the kernel (CMA: process_vm_readv, process_vm_writev).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::runtime {

/// Tries whether this process may read another one's memory, by a word with a value that its owner
/// told: containers and hardened kernels refuse it, and in another namespace a process number names
/// another process.
/// \return empty: it works; else why not
std::string try_foreign_memory(pid_t pid, std::uint64_t address, std::uint64_t expected);

/// Copies `size` bytes between this process and `pid`, all before the call returns.
/// \return 0, or an errno; then any part of the bytes may have been copied
int read_foreign(pid_t pid, void* into, std::uint64_t from, std::size_t size) noexcept;
int write_foreign(pid_t pid, std::uint64_t into, const void* from, std::size_t size) noexcept;

}  // namespace weft::runtime
