// SPDX-License-Identifier: Apache-2.0
// pool: threads for computations.
#pragma once

#include <memory>

#include <weft/coro/resume_on.hpp>

namespace weft {

/// An executor with the threads of a oneTBB arena: `co_await resume_on(pool)` continues there, and
/// oneTBB's parallel algorithms use the pool's threads too. `co_await resume_home()` moves back. In
/// a build without oneTBB (WEFT_WITH_TBB=OFF) a pool starts threads of its own.
///
/// Any thread may post to it. Work starts in the order posted, on several threads at once; the
/// coroutines of one chain still run one after the other. The destructor waits for the posted work
/// and must not run on a thread of the pool. Do not call `exit` on such a thread: oneTBB crashes.
class pool final : public executor {
 public:
  /// \param threads the number of threads that may compute at once; 0: the number of the process's
  ///        cores
  /// \throws weft::error  invalid_argument: negative; system: without oneTBB, a thread could not be
  ///        started
  explicit pool(int threads = 0);
  ~pool() override;

  void post(operation& work) noexcept override;

  int threads() const noexcept;  ///< the number that may compute at once

 private:
  class arena;
  std::unique_ptr<arena> arena_;
};

}  // namespace weft
