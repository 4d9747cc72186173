// SPDX-License-Identifier: Apache-2.0
// How much memory is filled for what has only been announced. Applications do not name it.
#pragma once

#include <atomic>
#include <cstddef>

namespace weft::detail {

/// Of one handler. A vector and a string write to their memory before their bytes come, and what a
/// peer announces costs it nothing: so its callers together cause no more than this. Any thread.
class announced_memory {
 public:
  static constexpr std::size_t most = std::size_t{64} << 20;

  /// A part, from the announcement until the bytes are there.
  class share {
   public:
    share(announced_memory& of, std::size_t bytes) noexcept : of_(of), bytes_(bytes) {
      if (bytes > most || of_.used_.fetch_add(bytes, std::memory_order_relaxed) > most - bytes) {
        if (bytes <= most) of_.used_.fetch_sub(bytes, std::memory_order_relaxed);
        bytes_ = 0;
      }
    }
    share(const share&) = delete;
    share& operator=(const share&) = delete;
    ~share() { of_.used_.fetch_sub(bytes_, std::memory_order_relaxed); }

    std::size_t bytes() const noexcept { return bytes_; }  ///< 0: there was too little left

   private:
    announced_memory& of_;
    std::size_t bytes_;
  };

 private:
  std::atomic<std::size_t> used_{0};
};

}  // namespace weft::detail
