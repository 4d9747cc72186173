// SPDX-License-Identifier: Apache-2.0
// Awaiting something that another thread reports by a callback.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <weft/coro/detail/request.hpp>

namespace weft::detail {

/// The meeting point of a callback and an operation; the later of the two ends the operation.
/// Shared by both. For the control plane, where a lock and an allocation do not matter.
template <class T>
class oneshot {
 public:
  /// The callback's side, any thread, at most once (later ones are dropped).
  void deliver(T value) { static_cast<void>(offer(value)); }
  void fail(errc status, std::string_view why) noexcept {
    std::string text;
    try {
      text = why;
    } catch (const std::bad_alloc&) {
      // The code tells most of it.
    }
    std::optional<T> none;
    put(status, none, std::move(text));
  }
  /// As deliver. \return false: the operation has ended, and `value` is unchanged
  bool offer(T& value) {
    std::optional<T> some(std::move(value));
    const bool taken = put(errc::ok, some, {});
    if (!taken) value = std::move(*some);
    return taken;
  }
  /// Whether a value or failure was delivered, or the operation has ended.
  bool over() {
    const std::lock_guard lock(mutex_);
    return full_;
  }

  /// The operation's side. \return true if the value is there already
  bool wait(operation& op) noexcept {
    const std::lock_guard lock(mutex_);
    if (full_) {
      op.status = status_;
      return true;
    }
    waiting_ = &op;
    return false;
  }
  T take() { return std::move(*value_); }
  const std::string& why() const noexcept { return why_; }
  void set_home(executor& home) noexcept { home_ = &home; }

 private:
  bool put(errc status, std::optional<T>& value, std::string why) noexcept {
    operation* op = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (full_) return false;
      full_ = true;
      status_ = status;
      value_ = std::move(value);
      why_ = std::move(why);
      op = std::exchange(waiting_, nullptr);
      if (op) op->status = status;
    }
    if (op) (op->on ? *op->on : *home_).post(*op);
    return true;
  }

  std::mutex mutex_;
  bool full_ = false;
  errc status_ = errc::ok;
  std::optional<T> value_;
  std::string why_;
  operation* waiting_ = nullptr;
  executor* home_ = nullptr;
};

template <class T>
class callback_operation;

/// `begin` is called when the request is awaited, and delivers a value or a failure later, once. If
/// it drops all copies of its pointer instead, as the control plane does with requests at the end
/// of a context, or without memory, the wait ends with errc::closed. `give_up` (may be empty) is
/// called when the wait is stopped, on any thread.
template <class T>
struct callback_request {
  using value_type = T;
  using operation_type = callback_operation<T>;
  executor* home;
  std::function<void(std::shared_ptr<oneshot<T>>)> begin;
  std::function<void()> give_up = {};
};

template <class T>
class callback_operation : public operation {
 public:
  callback_operation(const callback_request<T>& r, complete_fn f)
      : operation(f),
        request_(r),
        box_(std::make_shared<oneshot<T>>()),
        held_(box_.get(), [box = box_](oneshot<T>* b) {
          b->fail(errc::closed, "the context has ended, or had no memory for it");
        }) {
    box_->set_home(*r.home);
  }

  bool start() noexcept {
    const std::shared_ptr<oneshot<T>> held = std::move(held_);
    try {
      request_.begin(held);
    } catch (const error& e) {
      box_->fail(e.kind(), e.what());
    } catch (const std::bad_alloc&) {
      box_->fail(errc::out_of_memory, "no memory for it");
    } catch (const std::exception& e) {
      box_->fail(errc::system, e.what());
    }
    return box_->wait(*this);
  }
  void cancel() noexcept {
    if (request_.give_up) request_.give_up();
    box_->fail(errc::stopped, "stopped on request");
  }
  T take() { return box_->take(); }
  std::string explain() const { return box_->why(); }

 private:
  callback_request<T> request_;
  const std::shared_ptr<oneshot<T>> box_;
  std::shared_ptr<oneshot<T>> held_;  // the same, for begin: while copies live, an answer may come
};

}  // namespace weft::detail
