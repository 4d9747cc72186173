// SPDX-License-Identifier: Apache-2.0
// async: operations and tasks of weft with a completion token of Asio.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <weft/interop/detail/asio_request.hpp>
#include <weft/interop/detail/asio_task.hpp>

namespace weft {

/// The signature of `async(x, token)` for a value of T: as that of asio::co_spawn. The exception is
/// a weft::error, whose text tells cause and cure; an error_code would lose that. A value comes
/// with a null exception_ptr; with an exception comes a T{}.
template <class T>
using async_signature = typename detail::async_signature_of<T>::type;

/// Starts a request, and passes its end to a completion token of Asio:
///
///     weft::received got = co_await weft::async(peer.recv(buffer, tag{1}), asio::use_awaitable);
///     std::future<void> sent = weft::async(peer.send(data, tag{1}), asio::use_future);
///
/// Asio's rules hold: the handler is called by its associated executor, never inside this call; the
/// operation is in memory of its associated allocator; its associated executor has work until then.
/// A handler without an executor is called by the thread that ends weft's operations. If the
/// associated cancellation slot is connected, each type of cancellation asks the operation to end
/// with errc::stopped; a receive that a message has matched may lose that message.
///
/// Any thread. The context may run by an asio_loop, or by `run` on another thread.
/// \param what a request; taken over. Its buffers are the caller's again when the handler is called
/// \param token for async_signature<value of the request>; the value must be default-constructible
/// \return what the token's async_result returns
template <detail::request R, class Token>
auto async(R what, Token&& token) {
  return detail::net::async_initiate<Token, async_signature<typename R::value_type>>(
      detail::initiate_request{}, token, std::move(what));
}

/// Starts a task as `spawn` does, and passes its end to a completion token, like asio::co_spawn for
/// weft's tasks. Cancellation asks the task to stop (its chain's stop token). Otherwise as for a
/// request. The end of the context waits for the task and its handler, if that needs no executor.
/// \param home the context whose thread inside `run`, or whose loop, runs the task
/// \param what the task; taken over
/// \param token as for a request
template <class T, class Token>
auto async(context& home, task<T> what, Token&& token) {
  return detail::net::async_initiate<Token, async_signature<T>>(detail::initiate_task(home), token,
                                                                std::move(what));
}

}  // namespace weft
