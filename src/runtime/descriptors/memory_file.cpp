// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"
#include "runtime/os/held_back_signal.hpp"

namespace weft::runtime {

namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

[[noreturn]] void fail(const char* call, const char* cure = nullptr) {
  const int code = errno;
  throw error(errc::system,
              fmt::format("{}: {}; {}", call, std::strerror(code), cure ? cure : errno_hint(code)));
}

mapping map(const unique_fd& file, std::size_t size, int protection) {
  void* at = ::mmap(nullptr, size, protection, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) fail("mmap of shared memory");
  return {at, size, file.ends_in()};
}

/// Never blocks, for any kind of file.
bool is_sealed(const unique_fd& file, int wanted = size_seals) noexcept {
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  return seals >= 0 && (seals & wanted) == wanted;
}

}  // namespace

mapping::~mapping() {
  if (!at_) return;
  if (disposal_)
    disposal_->unmap(at_, size_);
  else
    ::munmap(at_, size_);
}

unique_fd make_memory_file(const char* name, std::size_t size) {
  unique_fd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail("memfd_create");
  held_back_signal too_large(SIGXFSZ);
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
    too_large.drop();
    fail("ftruncate of a memfd", "raise the limit on file size (ulimit -f) or memory");
  }
  if (::fcntl(file.get(), F_ADD_SEALS, size_seals) != 0)
    fail("sealing a memfd", "the kernel must support file seals (any since 3.17)");
  return file;
}

mapping map_private(std::size_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) fail("mmap of memory");
  return {at, size};
}

mapping map_own(const unique_fd& file, std::size_t size) {
  return map(file, size, PROT_READ | PROT_WRITE);
}

void seal_for_readers(const unique_fd& file) {
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0)
    fail("F_SEAL_FUTURE_WRITE on a memfd", "the kernel must be 5.1 or later");
}

bool is_sealed_for_readers(const unique_fd& file) noexcept {
  return is_sealed(file, F_SEAL_FUTURE_WRITE);
}

std::size_t size_of(const unique_fd& file) noexcept {
  struct stat info {};
  return is_sealed(file) && ::fstat(file.get(), &info) == 0 && info.st_size > 0
             ? static_cast<std::size_t>(info.st_size)
             : 0;
}

mapping map_from_peer(const unique_fd& file, std::size_t size, bool writable) {
  if (!is_sealed(file))
    throw error(errc::protocol_error, "the peer sent shared memory that it could shrink");
  struct statfs kind {};
  if (::fstatfs(file.get(), &kind) != 0 || kind.f_type != TMPFS_MAGIC)
    throw error(errc::protocol_error, "the peer sent shared memory of huge pages");
  if (size == 0 || size_of(file) != size)
    throw error(
        errc::protocol_error,
        fmt::format("the peer sent {} bytes of shared memory instead of {}", size_of(file), size));
  return map(file, size, writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

}  // namespace weft::runtime
