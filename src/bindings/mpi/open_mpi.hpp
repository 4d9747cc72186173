// SPDX-License-Identifier: Apache-2.0
// MPI as libmpi.so.40 offers it to programs, because weft builds without an MPI: what mpi.h of Open
// MPI makes of MPI's names.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace weft::open_mpi {

using handle = void*;  // of a datatype, communicator, window or request

constexpr int success = 0;

/// MPI_IN_PLACE.
inline bool is_in_place(const void* buffer) noexcept {
  return buffer == reinterpret_cast<void*>(1);
}

/// Something of MPI by its name.
class named {
 public:
  /// Whose: a function of a later library than this one, which may be a tool's, or MPI's; an object
  /// of the first that has it, since a program may have MPI's objects in itself.
  enum class what : bool { function, object };

  constexpr named(const char* name, what kind) noexcept : name_(name), kind_(kind) {}

  /// \returns nothing if there is none
  void* address() noexcept {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) found_.store(found = find(), std::memory_order_relaxed);
    return found;
  }
  const char* name() const noexcept { return name_; }

 private:
  void* find() const noexcept {
    void* const from = kind_ == what::function ? RTLD_NEXT : RTLD_DEFAULT;
    if (void* const found = ::dlsym(from, name_)) return found;
    // A language that loads Open MPI for itself (Python) keeps its names from others.
    void* const mpi = ::dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    return mpi == nullptr ? nullptr : ::dlsym(mpi, name_);
  }

  const char* name_;
  const what kind_;
  std::atomic<void*> found_ = nullptr;
};

class call : named {
 public:
  constexpr explicit call(const char* name) noexcept : named(name, what::function) {}

  template <class... Arguments>
  int operator()(Arguments... arguments) noexcept {
    void* const function = address();
    if (function == nullptr) {
      std::fprintf(stderr, "weft: the MPI of this program has no %s\n", name());
      std::abort();
    }
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  }
};

}  // namespace weft::open_mpi
