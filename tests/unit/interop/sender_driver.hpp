// SPDX-License-Identifier: Apache-2.0
// The least that senders need: a receiver with an environment, a wait, and `then`.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/interop/execution.hpp>

namespace weft::test {

/// The end of a sender, recorded. Any thread.
template <class T>
class sender_end {
 public:
  enum class kind { none, value, error, stopped };

  void end(kind how, std::exception_ptr why = nullptr) {
    const std::lock_guard lock(mutex_);
    how_ = how;
    why_ = std::move(why);
    ++ends_;
    changed_.notify_all();
  }
  kind wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return how_ != kind::none; });
    return how_;
  }
  int ends() {
    const std::lock_guard lock(mutex_);
    return ends_;
  }
  std::exception_ptr why() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

  std::optional<std::conditional_t<std::is_void_v<T>, char, T>> value;
  std::stop_source stop;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  kind how_ = kind::none;
  int ends_ = 0;
  std::exception_ptr why_;
};

/// A receiver of the draft's shape.
template <class T>
class sender_recorder {
 public:
  struct env {
    std::stop_token stop;
    std::stop_token query(get_stop_token_t) const noexcept { return stop; }
  };

  explicit sender_recorder(sender_end<T>& into) noexcept : into_(&into) {}
  void set_value() noexcept
    requires std::is_void_v<T>
  {
    into_->end(sender_end<T>::kind::value);
  }
  template <class V>
  void set_value(V&& v) noexcept {
    into_->value.emplace(std::forward<V>(v));
    into_->end(sender_end<T>::kind::value);
  }
  void set_error(std::exception_ptr e) noexcept {
    into_->end(sender_end<T>::kind::error, std::move(e));
  }
  void set_stopped() noexcept { into_->end(sender_end<T>::kind::stopped); }
  env get_env() const noexcept { return {into_->stop.get_token()}; }

 private:
  sender_end<T>* into_;
};

/// `then(sender, f)`: one sender inside another, as an algorithm of a library composes them.
template <class Sender, class F, class T>
class then_sender {
 public:
  using completion_signatures =
      detail::exec::completion_signatures<detail::exec::set_value_t(T),
                                          detail::exec::set_error_t(std::exception_ptr),
                                          detail::exec::set_stopped_t()>;

  then_sender(Sender s, F f) : s_(std::move(s)), f_(std::move(f)) {}

  template <class Receiver>
  struct inner {
    Receiver out;
    F f;
    template <class... V>
    void set_value(V&&... v) noexcept {
      try {
        std::move(out).set_value(f(std::forward<V>(v)...));
      } catch (...) {
        std::move(out).set_error(std::current_exception());
      }
    }
    template <class E>
    void set_error(E&& e) noexcept {
      std::move(out).set_error(std::forward<E>(e));
    }
    void set_stopped() noexcept { std::move(out).set_stopped(); }
    auto get_env() const noexcept { return out.get_env(); }
  };
  template <class Receiver>
  auto connect(Receiver r) && {
    return std::move(s_).connect(inner<Receiver>{std::move(r), std::move(f_)});
  }

 private:
  Sender s_;
  F f_;
};
template <class T, class Sender, class F>
then_sender<Sender, F, T> then(Sender s, F f) {
  return {std::move(s), std::move(f)};
}

/// A sender that completes inside `start`, at once.
template <class Complete>
struct inline_sender {
  using completion_signatures =
      detail::exec::completion_signatures<detail::exec::set_value_t(int, char),
                                          detail::exec::set_error_t(int),
                                          detail::exec::set_stopped_t()>;
  Complete complete;

  template <class Receiver>
  struct state {
    Complete complete;
    Receiver out;
    state(Complete c, Receiver r) : complete(std::move(c)), out(std::move(r)) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    void start() & noexcept { complete(std::move(out)); }
  };
  template <class Receiver>
  state<Receiver> connect(Receiver r) const {
    return {complete, std::move(r)};
  }
};
template <class Complete>
inline_sender(Complete) -> inline_sender<Complete>;

/// A sender that waits until the stop token of its receiver asks it to stop.
struct never_sender {
  using completion_signatures = detail::exec::completion_signatures<detail::exec::set_value_t(),
                                                                    detail::exec::set_stopped_t()>;

  template <class Receiver>
  class state {
   public:
    explicit state(Receiver r) : out_(std::move(r)) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    void start() & noexcept {
      on_stop_.emplace(out_.get_env().query(get_stop_token), stopper{this});
    }

   private:
    struct stopper {
      state* of;
      void operator()() const noexcept { std::move(of->out_).set_stopped(); }
    };
    using token =
        std::remove_cvref_t<decltype(std::declval<Receiver&>().get_env().query(get_stop_token))>;
    Receiver out_;
    std::optional<detail::stop_callback_of_t<token, stopper>> on_stop_;
  };
  template <class Receiver>
  state<Receiver> connect(Receiver r) const {
    return state<Receiver>(std::move(r));
  }
};

}  // namespace weft::test
