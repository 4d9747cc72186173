// SPDX-License-Identifier: Apache-2.0
// The arena of a pool that was made with a number of threads.
#pragma once

#include <memory>

#include <weft/coro/pool.hpp>

namespace weft::detail {

/// oneTBB's (own_arena.cpp); in a build without oneTBB, threads of its own
/// (without_tbb/own_arena.cpp). Destroyed after its last worker has ended.
class own_arena {
 public:
  /// \throws weft::error (system) a thread could not be started
  explicit own_arena(int threads);
  ~own_arena();

  /// Calls `w` on a thread of the arena, which has at most as many workers at a time as threads.
  /// Any thread. \throws std::bad_alloc
  void enqueue(pool_worker w);

  /// The number of cores that this process may use.
  static int usual_threads() noexcept;

 private:
  class state;
  const std::unique_ptr<state> state_;
};

}  // namespace weft::detail
