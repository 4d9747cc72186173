// SPDX-License-Identifier: Apache-2.0
// The memory of a handler's last arguments, for the next ones. Applications do not name it.
#pragma once

#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace weft::detail {

/// Of one handler. Any thread: its calls run on its executor. \tparam A a tuple of the arguments
template <class A>
class kept_arguments {
 public:
  explicit kept_arguments(bool keeps) noexcept
      : keeps_(keeps && std::is_nothrow_move_constructible_v<A> && std::is_nothrow_swappable_v<A>) {
  }

  /// Those of a call that has ended. Nothing: there are none, or another call has them.
  std::optional<A> take() noexcept {
    if (!keeps_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return std::exchange(spare_, std::nullopt);
  }

  /// Takes those of a call when it goes.
  class giver {
   public:
    giver(kept_arguments& to, A& from, bool gives) noexcept
        : to_(to), from_(from), gives_(gives && to.keeps_) {}
    giver(const giver&) = delete;
    giver& operator=(const giver&) = delete;
    ~giver() {
      if (gives_) to_.give_back(from_);
    }

   private:
    kept_arguments& to_;
    A& from_;
    const bool gives_;
  };

 private:
  void give_back(A& from) noexcept {
    std::optional<A> before(std::move(from));  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    before.swap(spare_);
  }

  const bool keeps_;
  std::mutex mutex_;
  std::optional<A> spare_;
};

}  // namespace weft::detail
