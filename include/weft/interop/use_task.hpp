// SPDX-License-Identifier: Apache-2.0
// use_task: Asio's operations awaited in tasks of weft.
#pragma once

#include <tuple>
#include <utility>

#include <weft/interop/detail/asio_awaitable.hpp>

namespace weft {

/// A completion token: the operation of Asio becomes an awaitable of weft, which starts when it is
/// awaited.
///
///     std::size_t n = co_await socket.async_read_some(asio::buffer(data), weft::use_task);
///     co_await within(1s, timer.async_wait(weft::use_task));
///
/// The result of co_await is what the handler would get: nothing, a value, or a tuple of several.
/// An error_code as the first argument becomes an exception (asio::system_error), an exception_ptr
/// is rethrown. The coroutine resumes on its chain's executor. A stop of the chain emits a terminal
/// cancellation, on the executor of the I/O object; most operations then end with
/// asio::error::operation_aborted. As for every use of an I/O object, that executor must be a
/// strand if several threads run it. When the io_context ends first, so does the operation, with
/// operation_aborted, or errc::closed if it has no error_code.
struct use_task_t {
  constexpr use_task_t() noexcept = default;

  /// An executor whose I/O objects have this token as their default:
  /// `use_task_t::as_default_on_t<asio::ip::tcp::socket>`; then `co_await
  /// socket.async_read_some(b)`.
  template <class Executor>
  struct executor_with_default : Executor {
    using default_completion_token_type = use_task_t;
    executor_with_default(const Executor& e) noexcept : Executor(e) {}  // NOLINT: Asio converts
    template <class Other>
      requires(!std::is_same_v<Other, executor_with_default> &&
               std::is_convertible_v<Other, Executor>)
    executor_with_default(const Other& e) noexcept : Executor(e) {}  // NOLINT: Asio converts
  };
  template <class Object>
  using as_default_on_t = typename Object::template rebind_executor<
      executor_with_default<typename Object::executor_type>>::other;
};
inline constexpr use_task_t use_task{};

/// As use_task, but errors are values: the result is a tuple of all arguments of the handler, the
/// error_code included.
///
///     auto [failed, n] = co_await socket.async_read_some(buffer, weft::use_task_tuple);
struct use_task_tuple_t {
  constexpr use_task_tuple_t() noexcept = default;
};
inline constexpr use_task_tuple_t use_task_tuple{};

namespace detail {

template <bool AsTuple, class... Args>
struct use_task_result {
  template <class Initiation, class Token, class... InitArgs>
  static auto initiate(Initiation&& i, Token&&, InitArgs&&... args) {
    return asio_awaitable<AsTuple, std::tuple<std::decay_t<Args>...>, std::decay_t<Initiation>,
                          std::decay_t<InitArgs>...>(std::forward<Initiation>(i),
                                                     std::forward<InitArgs>(args)...);
  }
};

}  // namespace detail
}  // namespace weft

/// \cond Asio's customisation point
template <class R, class... Args>
class weft::detail::net::async_result<weft::use_task_t, R(Args...)>
    : public weft::detail::use_task_result<false, Args...> {};

template <class R, class... Args>
class weft::detail::net::async_result<weft::use_task_tuple_t, R(Args...)>
    : public weft::detail::use_task_result<true, Args...> {};
/// \endcond
