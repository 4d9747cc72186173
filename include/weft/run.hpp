// SPDX-License-Identifier: Apache-2.0
// run, sync_wait, spawn: start coroutines from ordinary code.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <weft/context.hpp>
#include <weft/coro/detail/awaitable.hpp>
#include <weft/coro/detail/awaited_task.hpp>

namespace weft {

namespace detail {

home home_of(core& c) noexcept;

/// \throws weft::error (invalid_argument) in a child of the process that made the context
void refuse_child(const core& c);

}  // namespace detail

/// Runs a task, or another awaitable, to its end on this thread, together with all other coroutines
/// of the context that resume inside `run`. While it waits it polls, and sleeps after empty polls.
///
///     run(ctx, play(ctx));
///     run(ctx, when_all(a(), b()));
///
/// Several threads may be inside `run`: the leader runs all coroutines, the followers wait, so
/// coroutines of a context never run in parallel there. Not from within a coroutine.
/// \param ctx the context
/// \param x   a task, a request, `fly.join()` or another awaitable; taken over
/// \return what `x` yields
/// \throws what `x` throws
template <detail::awaitable X>
awaited_t<X> run(context& ctx, X x) {
  detail::refuse_child(detail::core_of(ctx));
  return detail::awaited_task<X>(detail::home_of(detail::core_of(ctx)), std::move(x)).wait();
}

/// The same, by the name that it has in std::execution.
template <detail::awaitable X>
awaited_t<X> sync_wait(context& ctx, X x) {
  return run(ctx, std::move(x));
}

/// Starts a task without waiting for its end; it runs while a thread is inside `run`. Any thread.
/// The destructor of the context ends the context's operations with errc::closed and then waits for
/// the task, also on a pool. A task that waits for something else delays the destructor.
/// \param ctx the context whose `run` runs it
/// \param x   the task; taken over
/// \param on_failure called with the task's exception, on the task's thread; empty: the exception
/// is
///        reported as an error (options::log), and the program ends (std::terminate)
void spawn(context& ctx, task<void> x, std::function<void(std::exception_ptr)> on_failure = {});

/// The executor of the thread inside `run`: `co_await resume_on(home(ctx))` moves a coroutine back
/// from a pool.
executor& home(context& ctx) noexcept;

/// The executor of coroutines that move in the background: `co_await resume_on(background(ctx))`
/// continues on whichever thread makes progress. That is the thread inside `run` while it waits,
/// and the context's progress thread while the application computes, or is outside of `run`; in the
/// modes without a progress thread it is the former alone. Collectives move there. What runs there
/// keeps the engine from its work: it should be short, and must not block.
executor& background(context& ctx) noexcept;

}  // namespace weft
