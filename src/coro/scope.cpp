// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/scope.hpp>

#include <cstdio>
#include <cstdlib>

namespace weft {

namespace {

/// Half of a local half is none: a driver without an executor for its thread cannot be sent
/// errands.
detail::run_loop* with_executor(detail::run_loop* d) noexcept {
  return d && d->home() ? d : nullptr;
}

}  // namespace

scope::scope(task_environment* parent) noexcept
    : parent_(parent),
      home_(with_executor(parent && parent->home ? parent->home : detail::run_loop::here())),
      last_resort_(parent && parent->home ? parent->home : detail::run_loop::here()),
      close_work_(*this,
                  [](operation& op) noexcept {
                    static_cast<posted_work&>(op).whose.close_local();
                    static_cast<posted_work&>(op).whose.drop();
                  }),
      stop_work_(*this,
                 [](operation& op) noexcept {
                   static_cast<posted_work&>(op).whose.local_.cancel_all();
                   static_cast<posted_work&>(op).whose.drop();
                 }),
      done_work_(*this, [](operation& op) noexcept {
        static_cast<posted_work&>(op).whose.done_->store(true, std::memory_order_release);
      }) {}

scope::~scope() {
  from_joiner_.reset();
  from_token_.reset();
  if (idle()) return;
  if (!last_resort_) {
    std::fputs(
        "weft: a scope with operations in flight was destroyed outside of any run(), and nobody is "
        "there to end them. Join every scope, or make it inside run().\n",
        stderr);
    std::abort();
  }
  ask(asked::by_owner);
  std::atomic<bool> done{false};
  // cppcheck-suppress danglingLifetime ; the scope ends with this function
  done_ = &done;
  if (close()) last_resort_->run_until_done(done);
}

void scope::forward_stop(outer_stop& how, std::stop_token stop) {
  if (stop.stop_possible()) how.emplace(std::move(stop), stop_forwarder{this});
}

bool scope::idle() const noexcept {
  if (open_.load(std::memory_order_acquire) != 1) return false;
  return !used_local_ || (at_home() && local_in_flight_ == 0);
}

bool scope::ask(asked who) noexcept {
  auto unasked = asked::not_yet;
  if (!asked_.compare_exchange_strong(unasked, who, std::memory_order_acq_rel)) return false;

  std::stop_source tasks{std::nostopstate};
  {
    std::lock_guard lock(mutex_);
    shared_.cancel_all();
    tasks = stop_;
  }
  // Without the mutex: the callbacks may lead back here.
  tasks.request_stop();

  if (at_home()) {
    local_.cancel_all();
  } else if (home_) {
    // Once everything has ended (no unit left) there is nothing to cancel, and the scope may be
    // gone before an errand arrives.
    auto open = open_.load(std::memory_order_relaxed);
    while (open > 0) {
      if (open_.compare_exchange_weak(open, open + 1, std::memory_order_relaxed)) {
        home_->home()->post(stop_work_);
        break;
      }
    }
  }
  return true;
}

void scope::failed(errc status, std::string (*explain)(const operation&),
                   const operation& op) noexcept {
  if (status == errc::stopped && asked_.load(std::memory_order_acquire) == asked::by_owner) return;
  std::exception_ptr failure;
  try {
    failure = std::make_exception_ptr(error(status, explain(op)));
  } catch (...) {
    failure = std::current_exception();
  }
  failed(std::move(failure));
}

void scope::failed(std::exception_ptr failure) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  ask(asked::by_failure);
}

task_environment scope::child_environment() {
  task_environment child;
  if (parent_) {
    child.on = parent_->on;
    child.timers = parent_->timers;
    child.home = parent_->home;
  } else {
    child.home = last_resort_;
    child.timers = last_resort_ ? last_resort_->timers() : nullptr;
  }
  std::lock_guard lock(mutex_);
  if (!stop_.stop_possible()) stop_ = std::stop_source();
  if (asked_to_stop()) stop_.request_stop();  // no callback is registered yet: it calls nothing
  child.stop = stop_.get_token();
  return child;
}

void scope::task_ended(std::exception_ptr failure) noexcept {
  if (failure) {
    bool by_order = false;
    if (asked_.load(std::memory_order_acquire) == asked::by_owner) {
      try {
        std::rethrow_exception(failure);
      } catch (const error& e) {
        by_order = e.kind() == errc::stopped;
      } catch (...) {
        by_order = false;
      }
    }
    if (!by_order) failed(std::move(failure));
  }
  drop();
}

/// Drops the owner's unit. \return true if the owner must wait; then it must touch nothing any more
bool scope::close() noexcept {
  if (used_local_) {
    open_.fetch_add(1, std::memory_order_relaxed);  // for the local half, or the errand to it
    if (at_home()) {
      close_local();
      drop();
    } else {
      home_->home()->post(close_work_);
    }
  }
  return open_.fetch_sub(1, std::memory_order_acq_rel) != 1;
}

/// On the thread inside run(): the local half gets a unit until its last one has ended.
void scope::close_local() noexcept {
  if (local_in_flight_ == 0) return;
  open_.fetch_add(1, std::memory_order_relaxed);
  closing_ = true;
}

void scope::drop() noexcept {
  if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!done_) return joiner_.go();
  // The thread inside run() may be asleep: an errand wakes it, a flag would not.
  executor* home = last_resort_->home();
  if (home && detail::run_loop::here() != last_resort_)
    home->post(done_work_);
  else
    done_->store(true, std::memory_order_release);
}

void scope::joined() {
  from_joiner_.reset();
  used_local_ = false;
  open_.store(1, std::memory_order_release);
  std::exception_ptr failure;
  {
    std::lock_guard lock(mutex_);
    failure = std::exchange(failure_, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

bool join_awaiter::await_ready() const noexcept { return scope_->idle(); }

bool join_awaiter::suspend(std::coroutine_handle<> self, task_environment* c) const {
  scope_->joiner_.set(self, c);
  if (c) {
    if (c->home) scope_->last_resort_ = c->home;
    scope_->forward_stop(scope_->from_joiner_, c->stop);
  }
  return scope_->close();
}

void join_awaiter::await_resume() const { scope_->joined(); }

}  // namespace weft
