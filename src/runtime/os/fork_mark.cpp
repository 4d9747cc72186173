// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/fork_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace weft::runtime {

namespace {
std::size_t page() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
}  // namespace

fork_mark::fork_mark() {
  void* const at =
      ::mmap(nullptr, page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  word_ = static_cast<volatile std::uint32_t*>(at);
  *word_ = 1;
  ::madvise(at, page(), MADV_WIPEONFORK);  // since Linux 4.14
}

fork_mark::~fork_mark() { ::munmap(const_cast<std::uint32_t*>(word_), page()); }

}  // namespace weft::runtime
