// SPDX-License-Identifier: Apache-2.0
// MPI as libmpi.so.40 offers it to programs, because weft builds without an MPI: what mpi.h of Open
// MPI makes of MPI's names.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace weft::open_mpi_4 {

using handle = void*;  // of a datatype, communicator, window or request

constexpr int success = 0;

/// Something of MPI by its name: a later library's than this one, which may be a tool's, or MPI's.
class named {
 public:
  constexpr explicit named(const char* name) noexcept : name_(name) {}

  /// \returns nothing if there is none
  void* address() noexcept {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) found_.store(found = find(), std::memory_order_relaxed);
    return found;
  }
  const char* name() const noexcept { return name_; }

 private:
  void* find() const noexcept {
    if (void* const found = ::dlsym(RTLD_NEXT, name_)) return found;
    // A language that loads Open MPI for itself (Python) keeps its names from others.
    void* const mpi = ::dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    return mpi == nullptr ? nullptr : ::dlsym(mpi, name_);
  }

  const char* name_;
  std::atomic<void*> found_ = nullptr;
};

class call : named {
 public:
  using named::named;

  template <class... Arguments>
  int operator()(Arguments... arguments) noexcept {
    void* const function = address();
    if (function == nullptr) {
      std::fprintf(stderr, "libweft-open-mpi-4.so: the MPI of this program has no %s\n", name());
      std::abort();
    }
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  }
};

}  // namespace weft::open_mpi_4
