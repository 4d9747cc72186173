// SPDX-License-Identifier: Apache-2.0
// Peers by address: listeners, connection requests, and two equals that meet.
#include <chrono>

#include <weft/coro/detail/blocking_task.hpp>

#include "bindings/c/handles.hpp"

using namespace weft;
using namespace weft::c;
using connection_request = listener::connection_request;

namespace {

struct guest {
  endpoint peer;
  std::string private_data;
};

/// Waits for a task. \param timeout_ms negative: without limit
template <class T>
T wait_for(task<T> x, int timeout_ms) {
  using clock = std::chrono::steady_clock;
  return detail::blocking_task<T>().run(
      std::move(x), timeout_ms < 0 ? clock::time_point::max()
                                   : clock::now() + std::chrono::milliseconds(timeout_ms));
}

/// Requests of clients that leave before they are accepted do not count.
task<guest> next_guest(weft::listener& listening) {
  for (;;) {
    listener::connection_request v = co_await listening.next();
    std::string private_data = v.private_data();
    result<endpoint> in = co_await as_result(v.accept());
    if (in) co_return guest{std::move(in).value(), std::move(private_data)};
    if (in.code() != errc::peer_lost) throw in.failure();
  }
}

/// The caller has answered the request: its handle is invalid.
std::unique_ptr<weft_connection_request> take(weft_connection_request* request) {
  const std::lock_guard lock(request->owner->mutex);
  auto found = request->owner->requests.extract(request);
  std::unique_ptr<weft_connection_request> taken = std::move(found.mapped());
  return taken;
}

}  // namespace

int weft_listen(weft_context* ctx, const char* address, weft_listener** listening) {
  if (!ctx || !address || !listening) return WEFT_INVALID_ARGUMENT;
  *listening = nullptr;
  return guarded(*ctx, [&] {
    weft::listener open = wait_for(ctx->ctx.listen(address), -1);
    std::string where = open.address();
    auto made =
        std::unique_ptr<weft_listener>(new weft_listener{ctx, std::move(open), std::move(where)});
    const std::lock_guard lock(ctx->mutex);
    weft_listener* const handle = made.get();
    ctx->listeners.emplace(handle, std::move(made));
    *listening = handle;
  });
}

const char* weft_listener_address(const weft_listener* listening) {
  return listening ? listening->address.c_str() : "";
}

int weft_accept(weft_listener* listening, int timeout_ms, char* private_data,
                size_t private_data_size, weft_peer** peer) {
  if (!listening || !peer) return WEFT_INVALID_ARGUMENT;
  *peer = nullptr;
  return guarded(*listening->owner, [&] {
    guest in = wait_for(next_guest(listening->listening), timeout_ms);
    copy_text(in.private_data, private_data, private_data_size);
    *peer = listening->owner->handle_of(std::move(in.peer));
  });
}

int weft_listener_next(weft_listener* listening, int timeout_ms, char* private_data,
                       size_t private_data_size, weft_connection_request** request) {
  if (!listening || !request) return WEFT_INVALID_ARGUMENT;
  *request = nullptr;
  weft_context& ctx = *listening->owner;
  return guarded(ctx, [&] {
    auto came = std::make_unique<weft_connection_request>(
        weft_connection_request{&ctx, wait_for(listening->listening.next(), timeout_ms)});
    copy_text(came->asks.private_data(), private_data, private_data_size);
    const std::lock_guard lock(ctx.mutex);
    weft_connection_request* const handle = came.get();
    ctx.requests.emplace(handle, std::move(came));
    *request = handle;
  });
}

int weft_request_accept(weft_connection_request* request, weft_peer** peer) {
  if (!request || !peer) return WEFT_INVALID_ARGUMENT;
  *peer = nullptr;
  weft_context& ctx = *request->owner;
  return guarded(ctx, [&] {
    const auto mine = take(request);
    *peer = ctx.handle_of(wait_for(mine->asks.accept(), -1));
  });
}

int weft_request_reject(weft_connection_request* request, const char* why) {
  if (!request) return WEFT_INVALID_ARGUMENT;
  return guarded(*request->owner, [&] { take(request)->asks.reject(why ? why : ""); });
}

void weft_listener_close(weft_listener* listening) {
  if (!listening) return;
  weft_context& ctx = *listening->owner;
  guarded(ctx, [&] {
    std::unique_lock lock(ctx.mutex);
    const auto mine = ctx.listeners.extract(listening);
    lock.unlock();
  });
}

int weft_connect(weft_context* ctx, const char* address, const char* private_data, int timeout_ms,
                 weft_peer** peer) {
  if (!ctx || !address || !peer) return WEFT_INVALID_ARGUMENT;
  *peer = nullptr;
  return guarded(*ctx, [&] {
    *peer = ctx->handle_of(
        wait_for(ctx->ctx.connect(address, private_data ? private_data : ""), timeout_ms));
  });
}

int weft_meet(weft_context* ctx, const char* own, const char* other, const char* discriminator,
              int timeout_ms, weft_peer** peer) {
  if (!ctx || !own || !other || !discriminator || !peer) return WEFT_INVALID_ARGUMENT;
  *peer = nullptr;
  return guarded(*ctx, [&] {
    *peer = ctx->handle_of(wait_for(ctx->ctx.meet(own, other, discriminator), timeout_ms));
  });
}
