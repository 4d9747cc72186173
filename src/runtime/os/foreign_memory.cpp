// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/foreign_memory.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace weft::runtime {

namespace {

using call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

int copy(call how, pid_t pid, void* here, std::uint64_t there, std::size_t size) noexcept {
  const iovec local{here, size};
  const iovec remote{reinterpret_cast<void*>(there), size};
  const ssize_t n = how(pid, &local, 1, &remote, 1, 0);
  if (n == static_cast<ssize_t>(size)) return 0;
  return n < 0 ? errno : EFAULT;  // it ended at an unmapped page
}

}  // namespace

int read_foreign(pid_t pid, void* into, std::uint64_t from, std::size_t size) noexcept {
  return copy(&::process_vm_readv, pid, into, from, size);
}

int write_foreign(pid_t pid, std::uint64_t into, const void* from, std::size_t size) noexcept {
  return copy(&::process_vm_writev, pid, const_cast<void*>(from), into, size);  // NOLINT: only read
}

std::string try_foreign_memory(pid_t pid, std::uint64_t address, std::uint64_t expected) {
  std::uint64_t seen = 0;
  if (const int code = read_foreign(pid, &seen, address, sizeof seen); code != 0)
    return fmt::format("process_vm_readv: {}", std::strerror(code));
  if (seen != expected)
    return "process_vm_readv reached another process (another namespace of process numbers)";
  return {};
}

}  // namespace weft::runtime
