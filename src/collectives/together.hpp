// SPDX-License-Identifier: Apache-2.0
// together: awaits a few requests at once, without an allocation.
#pragma once

#include <atomic>
#include <coroutine>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>

#include <weft/coro/detail/request.hpp>
#include <weft/operations/messages.hpp>

#include "collectives/collective.hpp"

namespace weft::collectives {

/// \throws weft::error: the message is shorter than the buffer, so that members do not agree on the
///         size
inline void check_size(communicator& group, const recv_operation& op) {
  if (op.got.size != op.into.size()) [[unlikely]]
    group.disagree(op.got.source, op.tag.value, op.got.size, op.into.size());
}
inline void check_size(communicator&, const send_operation&) noexcept {}

/// `co_await together(c, c.recv(...), c.send(...))` starts the requests in that order and ends when
/// all have ended. The first failure asks the others to stop, and is thrown at the end; so does a
/// revocation of the group that came before the receives were posted, and could not end them. Lives
/// in the awaiting coroutine's frame, like its operations. `when_all` does the same for any
/// awaitable, by a task and a scope.
template <detail::request... R>
class together {
 public:
  explicit together(const collective& c, const R&... requests)
      : group_(c.of()), parts_(description<R>{requests, *this}...) {}
  together(const together&) = delete;
  together& operator=(const together&) = delete;

  bool await_ready() const noexcept { return false; }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    self_ = self;
    const task_environment* const c = detail::task_environment_of(self.promise());
    if (c && c->stop.stop_possible()) on_stop_.emplace(c->stop, canceller{this});
    unsigned over = 1;  // this call
    std::apply([&](auto&... p) { ((over += begin(p, c) ? 1 : 0), ...); }, parts_);
    if (left_.load(std::memory_order_relaxed) != over) group_.waits();
    if (group_.has_failed()) [[unlikely]]
      cancel_all();
    return !drop(over);
  }

  void await_resume() {
    on_stop_.reset();
    std::apply([this](auto&... p) { (this->throw_if_first(p), ...); }, parts_);
    std::apply([this](auto&... p) { (check_size(group_, p), ...); }, parts_);
  }

 private:
  template <class Request>
  struct description {
    const Request& request;
    together& whole;
  };
  template <class Request>
  struct part final : Request::operation_type {
    using request_type = Request;
    part(description<Request> d)  // NOLINT: so that a tuple makes it in its place
        : Request::operation_type(d.request,
                                  [](operation& op) noexcept {
                                    auto& self = static_cast<part&>(op);
                                    together& of = self.whole;
                                    of.note(self);
                                    if (of.drop(1)) of.self_.resume();
                                  }),
          whole(d.whole) {}
    together& whole;
  };
  struct canceller {
    together* whole;
    void operator()() const noexcept { whole->cancel_all(); }
  };

  /// \return whether it has ended already
  template <class Part>
  bool begin(Part& p, const task_environment* c) noexcept {
    if constexpr (detail::request_without_operation<typename Part::request_type>)
      if (!(c && c->stop.stop_requested()) && p.request.try_now()) return true;
    if (c) p.on = c->on;
    if (!p.start()) return false;
    note(p);
    return true;
  }

  template <class Part>
  void note(Part& p) noexcept {
    if (p.status == errc::ok) [[likely]]
      return;
    operation* none = nullptr;
    if (first_.compare_exchange_strong(none, &p, std::memory_order_acq_rel)) cancel_all();
  }
  void cancel_all() noexcept {
    std::apply([](auto&... p) { (p.cancel(), ...); }, parts_);
  }
  /// \return whether all have ended. No locked instruction where nothing else is left, as then no
  /// other thread changes the number.
  bool drop(unsigned over) noexcept {
    return left_.load(std::memory_order_acquire) == over ||
           left_.fetch_sub(over, std::memory_order_acq_rel) == over;
  }

  template <class Part>
  void throw_if_first(Part& p) {
    if (first_.load(std::memory_order_relaxed) != &p) return;
    if (p.status == errc::truncated) check_size(group_, p);
    throw error(p.status, p.explain());
  }

  communicator& group_;
  std::tuple<part<R>...> parts_;
  std::atomic<unsigned> left_{sizeof...(R) + 1};  // operations that have not ended, and the start
  std::atomic<operation*> first_{nullptr};
  std::coroutine_handle<> self_;
  std::optional<std::stop_callback<canceller>> on_stop_;
};

}  // namespace weft::collectives
