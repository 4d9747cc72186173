// SPDX-License-Identifier: Apache-2.0
// From ordinary code into coroutines and back.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <weft/context.hpp>
#include <weft/coro/detail/awaited_task.hpp>

namespace weft {

namespace detail {

home home_of(core& c) noexcept;

/// \throws weft::error (invalid_argument) in a child of the process that made the context
void refuse_child(const core& c);

[[noreturn]] void spawned_task_failed(const std::exception_ptr& failure) noexcept;

}  // namespace detail

/// Runs a task to its end on this thread, and with it everything else of the context whose home is
/// this thread. While it waits it polls, and sleeps when polling brings nothing.
///
/// Several threads may be inside: one of them runs all coroutines, the others wait for their end,
/// so that coroutines of a context never run in parallel. Not from within a coroutine.
/// \return what the task returns \throws what the task throws
template <class T>
T run(context& ctx, task<T> main) {
  detail::refuse_child(ctx.core());
  return detail::awaited_task<task<T>>(detail::home_of(ctx.core()), std::move(main)).wait();
}

/// The same for any one thing that can be awaited: `sync_wait(ctx, peer.send(data, tag{1}))`.
template <class X>
awaited_t<X> sync_wait(context& ctx, X x) {
  return detail::awaited_task<X>(detail::home_of(ctx.core()), std::move(x)).wait();
}

/// Starts a task that is not waited for; it runs when a thread is inside `run`. Any thread. The
/// context's end makes whatever of the context it waits for end with errc::closed, and then waits
/// for the task itself, also on a pool: one that waits for something else holds it up.
/// \param on_failure called with what it throws, on its thread; by default that ends the program
void spawn(context& ctx, task<void> x,
           std::function<void(std::exception_ptr)> on_failure = detail::spawned_task_failed);

/// The executor that stands for the thread inside `run`: `co_await resume_on(home(ctx))` brings a
/// coroutine back from a pool.
executor& home(context& ctx) noexcept;

}  // namespace weft
