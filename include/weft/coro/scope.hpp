// SPDX-License-Identifier: Apache-2.0
// scope: runs requests and tasks concurrently and waits for all of them.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/detail/node_pool.hpp>
#include <weft/coro/detail/scheduled_continuation.hpp>

namespace weft {

class scope;

/// What `scope::join` returns; await it once.
class join_awaiter {
 public:
  explicit join_awaiter(scope& s) noexcept : scope_(&s) {}
  bool await_ready() const noexcept;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self);
  void await_resume() const;

 private:
  bool suspend(std::coroutine_handle<> self, task_environment* c) const;
  scope* scope_;
};

namespace detail {

template <request R, class Use>
class scope_node;

/// The `use` of `scope::start(x)`: drops the value.
struct drop_value {
  template <class... Value>
  void operator()(Value&&...) const noexcept {}
};

}  // namespace detail

/// Runs requests and tasks at the same time and waits for all of them.
///
/// Belongs to the coroutine that makes it: only that coroutine starts and joins. `request_stop` may
/// be called from any thread. Started requests live in memory that the scope recycles: a start
/// allocates nothing unless more requests are in flight than ever before in this scope.
///
/// A scope made inside `run()` belongs to that context's thread. Requests that start and end on
/// that thread need no lock; requests that start or end on another thread take a mutex.
///
/// The destructor of a scope that was not joined (an exception unwinds past it) asks all work to
/// stop and makes progress until all work has ended, because buffers and locals of the coroutine
/// may be in use until then. Failures are lost in that case. The destructor waits by the run loop
/// of the context: a scope made outside `run()` and never joined ends the program with a message if
/// it must wait.
class scope final : private detail::detached_task_owner {
 public:
  /// Tasks started in it resume on the thread inside `run()`.
  scope() noexcept : scope(nullptr) {}

  /// The same; `stop` ends all work started in the scope with errc::stopped.
  explicit scope(std::stop_token stop) : scope(nullptr) {
    forward_stop(from_token_, std::move(stop));
  }

  /// Tasks started in it resume on the executor of `here`, and stop with the stop token of `here`.
  /// \param here `co_await current_environment()`
  explicit scope(task_environment& here) : scope(&here) { forward_stop(from_token_, here.stop); }

  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  // Both are always inlined: a request that is passed through memory would be copied by loads that
  // are wider than the stores before them, and those wait until all earlier stores are done.

  /// Starts `x` inside the call, up to its first suspension; drops its value, and keeps its failure
  /// for `join`. In a scope that was asked to stop, `x` starts with the stop already requested.
  /// \param x a request, a task, or another awaitable; taken over
  /// \throws std::bad_alloc, and then `x` was not started
  template <class X>
  [[gnu::always_inline]] void start(X&& x) {
    start(std::forward<X>(x), detail::drop_value{});
  }

  /// The same, and passes the value to `use`.
  /// \param x   as above
  /// \param use called with the value (with nothing for void) when `x` has ended well: for a
  ///        request on the thread that ends it, possibly inside this call; for a task on the task's
  ///        thread. An exception of `use` counts as the failure of `x`. For failures, too, start
  ///        `as_result(x)`: then `use` is called with a result<T> in either case, and the other
  ///        work goes on
  template <class X, class Use>
  [[gnu::always_inline]] void start(X&& x, Use use) {
    using awaitable = std::remove_cvref_t<X>;
    if constexpr (!detail::request<awaitable>)
      start_task(awaitable(std::forward<X>(x)), std::move(use));
    else if constexpr (!detail::request_without_operation<awaitable>)
      start_operation(x, std::move(use));
    else if (!end_at_once(x, use))
      start_copy(awaitable(x), std::move(use));
  }

  /// `co_await fly.join()` waits until all work has ended, and throws the first failure, if any.
  /// The first failure asks the other work to stop; all work has ended before the throw. A stop of
  /// the joining coroutine (`within`, `stoppable`, its chain) reaches all work in the scope.
  /// Afterwards the scope may be used again, unless it was stopped: a stop is permanent.
  join_awaiter join() noexcept { return join_awaiter(*this); }

  /// Asks all work in the scope to stop. Work that then ends with errc::stopped is no failure. Any
  /// thread. Requests started on the thread inside `run()` are stopped by posted work on that
  /// thread.
  /// \return true if the scope was not asked before
  bool request_stop() noexcept { return ask(asked::by_owner); }

 private:
  friend class join_awaiter;
  template <detail::request R, class Use>
  friend class detail::scope_node;

  /// The reason of the stop: the first one counts.
  enum class asked : unsigned char {
    not_yet,
    by_owner,      ///< request_stop: work that ends with errc::stopped has not failed
    by_failure,    ///< work in the scope failed
    from_outside,  ///< a stop token: the scope as a whole ends with errc::stopped
  };

  struct stop_forwarder {
    scope* who;
    void operator()() const noexcept { who->ask(asked::from_outside); }
  };
  using outer_stop = std::optional<std::stop_callback<stop_forwarder>>;

  /// Work that the scope posts to the thread inside run(); each is one unit of open_.
  class posted_work final : public operation {
   public:
    posted_work(scope& s, complete_fn f) noexcept : operation(f), whose(s) {}
    scope& whose;
  };

  explicit scope(task_environment* parent) noexcept;
  void forward_stop(outer_stop& how, std::stop_token stop);

  bool at_home() const noexcept { return home_ && detail::run_loop::here() == home_; }
  /// Null: home. Requests end there, so that they do not wait for the thread inside run() when the
  /// owner does not.
  executor* executor_of_owner() const noexcept { return parent_ ? parent_->on : nullptr; }
  bool asked_to_stop() const noexcept {
    return asked_.load(std::memory_order_acquire) != asked::not_yet;
  }
  bool idle() const noexcept;

  bool ask(asked who) noexcept;
  void failed(errc status, std::string (*explain)(const operation&), const operation& op) noexcept;
  void failed(std::exception_ptr failure) noexcept;

  /// Ends a request without an operation.
  /// \return false: nothing has happened
  template <detail::request_without_operation R, class Use>
  [[gnu::always_inline]] bool end_at_once(const R& r, Use& use);
  template <detail::request R, class Use>
  [[gnu::always_inline]] void start_operation(const R& r, Use use) {
    if (at_home() && !executor_of_owner())
      start_local(r, std::move(use));
    else
      start_shared(R(r), std::move(use));
  }
  template <detail::request R, class Use>
  [[gnu::noinline]] void start_copy(R r, Use use) {
    start_operation(r, std::move(use));
  }
  template <detail::request R, class Use>
  [[gnu::always_inline]] void start_local(const R& r, Use use);
  template <detail::request R, class Use>
  [[gnu::noinline]] void start_shared(R r, Use use);
  template <class X, class Use>
  void start_task(X x, Use use);
  task_environment child_environment();

  void local_ended() noexcept {
    if (--local_in_flight_ == 0 && closing_) {
      closing_ = false;
      drop();
    }
  }
  void task_ended(std::exception_ptr failure) noexcept override;
  bool close() noexcept;
  void close_local() noexcept;
  void drop() noexcept;
  void joined();

  // Never changes.
  task_environment* const parent_;  ///< the environment that started tasks inherit; may be null
  detail::run_loop* const home_;    ///< its thread owns the local half; null: no local half

  // The local half: the thread inside run() only.
  alignas(16) std::byte first_chunk_[1024];
  detail::node_pool local_{first_chunk_, sizeof(first_chunk_)};
  std::size_t local_in_flight_ = 0;
  bool closing_ = false;  ///< the end of the last local request drops a unit of open_

  // The owning coroutine only, on any thread.
  bool used_local_ = false;        ///< since the last join
  detail::run_loop* last_resort_;  ///< runs during the destructor
  outer_stop from_token_;
  outer_stop from_joiner_;

  // Any thread.
  /// Units: the owner (until it joins), each task, each request started elsewhere, each posted
  /// work, and the local half while the owner waits for it. The thread that drops the last unit
  /// wakes the owner.
  std::atomic<std::ptrdiff_t> open_{1};
  std::atomic<asked> asked_{asked::not_yet};
  std::mutex mutex_;  ///< guards what follows
  detail::node_pool shared_;
  std::stop_source stop_{std::nostopstate};  ///< of started tasks; made for the first task
  std::exception_ptr failure_;               ///< the first

  // The wake-up of the owner: set before the owner drops its unit.
  detail::scheduled_continuation joiner_;
  std::atomic<bool>* done_ = nullptr;  ///< set in place of joiner_ when the destructor waits
  posted_work close_work_;
  posted_work stop_work_;
  posted_work done_work_;
};

template <detail::request R, class Use>
class detail::scope_node final : public R::operation_type {
 public:
  scope_node(const R& r, scope& owner, node_slot& place, bool local, Use use)
      : R::operation_type(r, &ended),
        owner_(owner),
        place_(place),
        use_(std::move(use)),
        local_(local) {}

  static void cancel_in(node_slot& s) noexcept { static_cast<scope_node*>(s.memory())->cancel(); }

  void settle() noexcept {
    if (this->status != errc::ok) [[unlikely]] {
      owner_.failed(this->status, &explain_it, *this);
    } else if constexpr (!std::is_same_v<Use, drop_value>) {
      try {
        if constexpr (std::is_void_v<typename R::value_type>) {
          this->take();
          use_();
        } else {
          use_(this->take());
        }
      } catch (...) {
        owner_.failed(std::current_exception());
      }
    }
  }

  /// After the end of a node that was started on another thread than the scope's own. Destroys the
  /// node.
  void end_shared() noexcept {
    settle();
    scope& owner = owner_;
    {
      std::lock_guard lock(owner.mutex_);
      node_slot& place = place_;
      this->~scope_node();
      owner.shared_.give(place);
    }
    owner.drop();
  }

 private:
  static std::string explain_it(const operation& op) {
    return const_cast<scope_node&>(static_cast<const scope_node&>(op)).explain();
  }

  static void ended(operation& op) noexcept {
    auto& self = static_cast<scope_node&>(op);
    scope& owner = self.owner_;
    node_slot& place = self.place_;
    if (self.local_) {
      // An operation of another context ends on that context's thread, which must not touch the
      // local half.
      if (!owner.at_home()) [[unlikely]]
        return owner.home_->home()->post(self);
      place.cancel = nullptr;  // settle may ask the scope to stop
      self.settle();
      self.~scope_node();
      owner.local_.give(place);
      owner.local_ended();
    } else {
      self.end_shared();
    }
  }

  scope& owner_;
  node_slot& place_;
  [[no_unique_address]] Use use_;
  const bool local_;
};

template <detail::request_without_operation R, class Use>
inline bool scope::end_at_once(const R& r, Use& use) {
  if (!at_home() || asked_to_stop() || !r.try_now()) return false;
  try {
    use();
  } catch (...) {
    failed(std::current_exception());
  }
  return true;
}

/// On the thread inside run(): requests that start and end there are counted and recycled without a
/// lock.
template <detail::request R, class Use>
inline void scope::start_local(const R& r, Use use) {
  using node = detail::scope_node<R, Use>;
  detail::node_slot& place = local_.take(detail::units_of<node>());
  node& n = *new (place.memory()) node(r, *this, place, true, std::move(use));
  if (asked_to_stop()) [[unlikely]]
    n.cancel();
  if (n.start()) {
    n.settle();
    n.~node();
    local_.give(place);
  } else {
    place.cancel = &node::cancel_in;
    ++local_in_flight_;
    used_local_ = true;
  }
}

/// On other threads. The node may end on another thread before start() has returned: so it is
/// counted and can be cancelled before start(), and is not touched after start() returned false.
template <detail::request R, class Use>
void scope::start_shared(R r, Use use) {
  using node = detail::scope_node<R, Use>;
  node* n;
  bool stop;
  {
    std::lock_guard lock(mutex_);
    detail::node_slot& place = shared_.take(detail::units_of<node>());
    n = new (place.memory()) node(r, *this, place, false, std::move(use));
    n->on = executor_of_owner();
    place.cancel = &node::cancel_in;
    open_.fetch_add(1, std::memory_order_relaxed);
    stop = asked_to_stop();
  }
  if (stop) n->cancel();
  if (n->start()) n->end_shared();
}

template <class X, class Use>
void scope::start_task(X x, Use use) {
  open_.fetch_add(1, std::memory_order_relaxed);
  try {
    detail::start_detached(*this, child_environment(), std::move(x), std::move(use));
  } catch (...) {  // no memory, or moving x or use: it did not start
    open_.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}

template <class Promise>
bool join_awaiter::await_suspend(std::coroutine_handle<Promise> self) {
  return suspend(self, task_environment_of(self.promise()));
}

}  // namespace weft
