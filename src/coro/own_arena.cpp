// SPDX-License-Identifier: Apache-2.0
#include "coro/own_arena.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace weft::detail {

class own_arena::state {
 public:
  explicit state(int threads)
      : enough_(tbb::global_control::max_allowed_parallelism, enough_for(threads)),
        arena_(threads, 0) {
    arena_.initialize();
  }

  void enqueue(pool_worker w) { arena_.enqueue(w); }

 private:
  /// One more: oneTBB counts the thread that calls it, which does not work here.
  static std::size_t enough_for(int threads) {
    const auto now =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return std::max(now, static_cast<std::size_t>(threads) + 1);
  }

  tbb::global_control enough_;
  tbb::task_arena arena_;
};

own_arena::own_arena(int threads) : state_(std::make_unique<state>(threads)) {}
own_arena::~own_arena() = default;

void own_arena::enqueue(pool_worker w) { state_->enqueue(w); }
int own_arena::usual_threads() noexcept { return tbb::info::default_concurrency(); }

}  // namespace weft::detail
