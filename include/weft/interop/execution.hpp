// SPDX-License-Identifier: Apache-2.0
// weft in the vocabulary of std::execution (P2300): senders, schedulers, and senders awaited in
// tasks. Headers only, link weft::execution.
//
//   as_sender(peer.recv(buffer, tag{1}))    a request as a sender
//   as_sender(ctx, task)                    a task as a sender
//   scheduler_of(ctx), scheduler_of(pool)   where weft runs coroutines, as a scheduler
//   co_await as_awaitable(sender)           any sender in a task of weft
//
// Without a library the receivers and senders are those of the C++26 draft, with member functions.
// Define WEFT_USE_STDEXEC (stdexec of 2026) or WEFT_USE_UNIFEX (libunifex) before the first include
// to use them with that library. One choice for a whole program.
#pragma once

#include <utility>

#include <weft/interop/detail/request_sender.hpp>
#include <weft/interop/detail/schedule_sender.hpp>
#include <weft/interop/detail/sender_awaitable.hpp>
#include <weft/interop/detail/task_sender.hpp>

namespace weft {

/// What `as_sender` makes of a request. \tparam R as in weft/operations
template <detail::request R>
using request_sender = detail::request_sender<R>;

/// What `as_sender` makes of a task.
template <class T>
using task_sender = detail::task_sender<T>;

/// What `scheduler_of` returns.
using detail::executor_scheduler;

/// What `as_awaitable` returns; await it once.
template <class Sender>
using sender_awaitable = detail::sender_awaitable<std::remove_cvref_t<Sender>>;

/// A request as a sender. It completes with
///   set_value(value), or set_value() for void
///   set_stopped()                          after errc::stopped
///   set_error(std::exception_ptr)          a weft::error
/// on the thread inside `run` of its context (or its loop); or inside `start`, if it ends there.
/// The receiver's stop token asks it to stop. `start` may be called by any thread; no memory is
/// allocated. The sender may be connected more than once.
/// \param what a request; its buffers belong to weft from `start` until the completion
template <detail::request R>
request_sender<R> as_sender(R what) {
  return request_sender<R>(std::move(what));
}

/// A task as a sender: `start` spawns it in the context, and the receiver's stop token is that of
/// its chain. Completes like a request, on the thread where the task ends; an exception of the task
/// is passed to set_error, but a weft::error of kind errc::stopped becomes set_stopped.
/// \param home outlives the operation
/// \param what the task; taken over
template <class T>
task_sender<T> as_sender(context& home, task<T> what) {
  return task_sender<T>(home, std::move(what));
}

/// The scheduler of the thread inside `run` of a context, or of its loop. Equal for equal contexts.
/// Its senders complete with set_value() there, or with set_stopped() if the receiver's stop token
/// asked for it before.
/// \param home outlives the operations
inline executor_scheduler scheduler_of(context& home) noexcept {
  return executor_scheduler(weft::home(home));
}
/// The same for a pool, or another executor of weft.
inline executor_scheduler scheduler_of(executor& where) noexcept {
  return executor_scheduler(where);
}

/// `co_await as_awaitable(sender)` in a task: connects and starts the sender, and resumes the task
/// on its chain's executor. The chain's stop token is that of the receiver's environment. Not
/// implicit: weft's promises have no await_transform, so that nothing stands between other awaits
/// and their awaiters.
/// \param what a sender with one set_value signature
/// \return nothing, its value, or a tuple of several
/// \throws what set_error carries: an exception_ptr is rethrown, an std::error_code becomes
///         std::system_error, another type is thrown as it is; weft::error (stopped) for
///         set_stopped
template <class Sender>
sender_awaitable<Sender> as_awaitable(Sender&& what) {
  return sender_awaitable<Sender>(std::forward<Sender>(what));
}

}  // namespace weft
