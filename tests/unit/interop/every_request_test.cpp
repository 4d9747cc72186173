// SPDX-License-Identifier: Apache-2.0
// Every kind of request with completion tokens of Asio and as a sender. Only compiled: a handler's
// type depends on the token and on the value, the state's also on the request, so each request is
// compiled with a callback, and each token with a request of each kind of value.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#if __has_include(<asio/deferred.hpp>)
#include <asio/as_tuple.hpp>
#include <asio/deferred.hpp>
#else
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/deferred.hpp>
#endif
#include <cstddef>
#include <string>
#include <vector>

#include <weft/interop/asio.hpp>
#ifndef WEFT_WITHOUT_QDMA
#include <weft/qdma.hpp>
#endif
#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "unit/interop/sender_driver.hpp"

using namespace weft;

namespace {

#if __has_include(<asio/deferred.hpp>)
namespace every_token = asio;
#else
namespace every_token = asio::experimental;
#endif

template <class... R>
struct every_request_list {};

using every_request = every_request_list<
    send_request, recv_request, probe_request, claimed_request, send_many_request,
    recv_many_request, owned_send_request<std::string>, exact_recv_request, sized_recv_request,
    fixed_recv_request<int, false>, fixed_recv_request<int, true>,
    made_recv_request<std::string, false>, made_recv_request<std::vector<int>, true>,
    stream_read_request, stream_exact_request, detail::stream_fetch_request, stream_write_request,
    stream_closed_request, transfer_request, update_request, region_end_request, notified_request,
    typed_update_request<std::uint32_t>, value_put_request<int>, value_get_request<int>,
    raw_call_request, typed_call_request<void>, typed_call_request<int>,
    typed_call_request<std::vector<int>>, typed_post_request, reply_request, item_request,
    detail::next_item_request, file_request<std::size_t>, file_request<void>,
#ifndef WEFT_WITHOUT_QDMA
    qdma::trigger_request, qdma::receive_request,
#endif
    ready_request>;

template <class R>
void every_start(R with_callback, R as_a_sender) {
  async(std::move(with_callback), [](const auto&...) {});
  test::sender_end<typename R::value_type> end;
  auto state =
      as_sender(std::move(as_a_sender)).connect(test::sender_recorder<typename R::value_type>(end));
  state.start();
}

template <class R>
void every_use(R r, asio::io_context& io) {
  const auto callback = [](const auto&...) {};
  asio::cancellation_signal signal;
  async(r, asio::use_future);
  async(r, asio::detached);
  async(r, asio::bind_executor(io.get_executor(), callback));
  async(r, asio::bind_cancellation_slot(signal.slot(), callback));
  async(r, every_token::deferred)(callback);
  async(r, every_token::as_tuple(callback));
}

#ifdef ASIO_HAS_CO_AWAIT
template <class R>
asio::awaitable<void> every_await(R r) {
  co_await async(r, asio::use_awaitable);
  co_await async(r, every_token::as_tuple(asio::use_awaitable));
}
#else
template <class R>
void every_await(R) {}
#endif

template <class R>
task<void> every_task(R r) {
  co_await async(r, use_task);
  co_await async(r, use_task_tuple);
}

/// The compiler cannot know the answer: clang 14 fails at a coroutine whose address it has dropped.
template <class F>
bool is_compiled(F* function) {
  F* volatile kept = function;
  return kept != nullptr;
}

template <class R>
bool every_token_compiles() {
  return is_compiled(&every_use<R>) && is_compiled(&every_await<R>) && is_compiled(&every_task<R>);
}

template <class... R>
bool every_request_compiles(every_request_list<R...>) {
  return (... && is_compiled(&every_start<R>));
}

}  // namespace

TEST_CASE("every request: compiles with every completion token of Asio, and as a sender") {
  CHECK(every_request_compiles(every_request{}));
  CHECK(every_token_compiles<send_request>());
  CHECK(every_token_compiles<recv_request>());
  CHECK(every_token_compiles<typed_call_request<void>>());
  CHECK(every_token_compiles<typed_call_request<int>>());
  CHECK(every_token_compiles<typed_call_request<std::vector<int>>>());
}
