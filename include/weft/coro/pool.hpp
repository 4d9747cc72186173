// SPDX-License-Identifier: Apache-2.0
// pool: threads to compute on.
#pragma once

#include <memory>

#include <weft/coro/resume_on.hpp>

namespace weft {

/// Threads to compute on, an arena of oneTBB: `co_await resume_on(pool)` continues there, where
/// parallel algorithms of oneTBB use the pool's threads too. `co_await resume_home()` leads back.
///
/// Any thread may post to it. Work runs in the order posted, on several threads at once; one
/// chain's coroutines still run one after the other. The destructor waits for what was posted and
/// must not run on a thread of the pool. Nor must `exit` be called there: oneTBB's own end crashes.
class pool final : public executor {
 public:
  /// \param threads how many threads may compute at once; 0: as many as the process has cores
  /// \throws weft::error (invalid_argument) if negative
  explicit pool(int threads = 0);
  ~pool() override;

  void post(operation& work) noexcept override;

  int threads() const noexcept;  ///< how many may compute at once

 private:
  class arena;
  std::unique_ptr<arena> arena_;
};

}  // namespace weft
