// SPDX-License-Identifier: Apache-2.0
// The coroutine at the bottom of a chain.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include <weft/detail/awaitable.hpp>

namespace weft::detail {

/// Who wants to know that a chain has ended.
class root_owner {
 public:
  /// Called once per root, by the thread on which it ended, after the frame and the chain are gone.
  /// May resume others. \param failure what the chain threw, if it did
  virtual void root_ended(std::exception_ptr failure) noexcept = 0;

 protected:
  ~root_owner() = default;
};

/// A coroutine that nobody holds: it runs at once inside the call that makes it, owns its chain,
/// frees itself at the end and tells its owner. Made by `launch`.
class root {
 public:
  class promise_type {
   public:
    template <class... Rest>
    promise_type(root_owner& owner, const chain& start, const Rest&...) noexcept
        : owner_(owner), chain_(start) {}

    root get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }

    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      /// The frame goes first: the owner may be what keeps alive what the frame refers to.
      void await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        root_owner& owner = self.promise().owner_;
        std::exception_ptr failure = std::move(self.promise().failure_);
        self.destroy();
        owner.root_ended(std::move(failure));
      }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }

    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }
    chain* current_chain() noexcept { return &chain_; }

   private:
    root_owner& owner_;
    chain chain_;
    std::exception_ptr failure_;
  };
};

/// Runs `x` as a chain of its own, at once, up to its first suspension.
/// \param owner told when it has ended; must live until then
/// \param start what the chain starts with
/// \param x     a task, a request or another awaitable
/// \param use   called with what `x` yields, on the chain
/// \throws std::bad_alloc, and then the owner is not told
template <class X, class Use>
root launch(root_owner& owner, chain start, X x, Use use) {
  static_cast<void>(owner);  // the promise has both
  static_cast<void>(start);
  if constexpr (std::is_void_v<awaited_t<X>>) {
    co_await std::move(x);
    use();
  } else {
    // A named value: GCC 12 mixes up temporaries when co_await is an argument of a call.
    awaited_t<X> value = co_await std::move(x);
    use(std::move(value));
  }
}

}  // namespace weft::detail
