// SPDX-License-Identifier: Apache-2.0
// A stop token that cancels an operation of Asio.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <weft/interop/detail/asio_library.hpp>

namespace weft::detail {

/// Emits a cancellation signal when a stop token asks for it, unless the operation has ended. The
/// stop may be requested by any thread, at any time; Asio wants the signal on the operation's
/// executor, after the initiating function. Shared by the awaiter, the handler and the posted
/// emission.
class asio_stop {
 public:
  asio_stop() = default;
  asio_stop(const asio_stop&) = delete;
  asio_stop& operator=(const asio_stop&) = delete;
  virtual ~asio_stop() = default;

  net::cancellation_slot slot() noexcept { return signal_.slot(); }

  /// Before the initiating function.
  void heed(const std::shared_ptr<asio_stop>& self, std::stop_token stop) {
    self_ = self;
    on_stop_.emplace(std::move(stop), requester{this});
  }
  /// After it.
  void initiated() noexcept {
    {
      const std::lock_guard lock(mutex_);
      initiated_ = true;
      if (!wanted_ || over_) return;
    }
    post_emission();
  }
  /// The handler was called.
  void over() noexcept {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  /// The awaiter no longer heeds the stop token; waits for a request that is under way.
  void ignore() noexcept { on_stop_.reset(); }

  /// On the operation's executor.
  void emit() {
    const std::lock_guard lock(mutex_);
    if (!over_) signal_.emit(net::cancellation_type::terminal);
  }

 protected:
  std::shared_ptr<asio_stop> self() const noexcept { return self_.lock(); }

 private:
  struct requester {
    asio_stop* who;
    void operator()() const noexcept { who->request(); }
  };

  void request() noexcept {
    // The awaiter, which waits for this call to end, may be gone as soon as the emission is posted.
    const std::shared_ptr<asio_stop> held = self();
    {
      const std::lock_guard lock(mutex_);
      wanted_ = true;
      if (!initiated_ || over_) return;
    }
    post_emission();
  }
  virtual void post_emission() noexcept = 0;

  std::weak_ptr<asio_stop> self_;
  net::cancellation_signal signal_;
  // Recursive: an operation may call its handler inside the emission.
  std::recursive_mutex mutex_;  // guards the flags, and the signal after the initiating function
  bool initiated_ = false;
  bool wanted_ = false;
  bool over_ = false;
  std::optional<std::stop_callback<requester>> on_stop_;  // the awaiter's
};

/// Emits on `Executor`.
template <class Executor>
class asio_stop_on final : public asio_stop {
 public:
  explicit asio_stop_on(Executor where) : where_(std::move(where)) {}

 private:
  void post_emission() noexcept override {
    const auto inside = net::make_work_guard(where_);  // as in dispatch_end
    net::post(where_, [self = this->self()] { self->emit(); });
  }
  Executor where_;
};

/// For an operation that does not tell its executor: emits on the thread that asks for the stop.
class asio_stop_here final : public asio_stop {
  void post_emission() noexcept override { emit(); }
};

template <class Initiation>
std::shared_ptr<asio_stop> make_asio_stop(Initiation& of) {
  if constexpr (requires { of.get_executor(); })
    return std::make_shared<asio_stop_on<std::decay_t<decltype(of.get_executor())>>>(
        of.get_executor());
  else
    return std::make_shared<asio_stop_here>();
}

}  // namespace weft::detail
