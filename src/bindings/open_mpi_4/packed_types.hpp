// SPDX-License-Identifier: Apache-2.0
// Types whose data Open MPI 4 packs before it sends them.
#pragma once

#include <pthread.h>

#include "bindings/mpi/open_mpi.hpp"

namespace weft::open_mpi_4 {

using namespace open_mpi;

/// Open MPI 4 takes a type to have holes that is made of one item of a type whose data do not begin
/// at the buffer. For MPI both are the same, and what has holes is packed, and then sent rightly.
///
/// Each is kept as an attribute of the type that it is made of, because Open MPI never gives up the
/// type of a persistent request: a new one for each call would leak. All threads may call.
class packed_types {
 public:
  /// Makes `type` one that is packed, if its data do not begin at the buffer. What is no type is
  /// left to MPI, which says so.
  /// \returns an error of MPI, or `success`
  int take_place_of(handle& type) noexcept;

  /// The program gives up the type, which the packed one would keep.
  void forget(handle type) noexcept;

 private:
  static constexpr int none = -1;  // MPI_KEYVAL_INVALID

  bool look_up(handle type, handle& packed) noexcept;
  int make(handle type, handle& packed) noexcept;

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;  // std::mutex needs libstdc++
  int key_ = none;
};

}  // namespace weft::open_mpi_4
