// SPDX-License-Identifier: Apache-2.0
// Peers: by rank, by address, and all of them at a barrier.
#include <chrono>

#include <weft/coro/detail/blocking_task.hpp>

#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;

namespace {

constexpr peer_id first_non_rank = peer_id{1} << 31;

struct guest {
  endpoint peer;
  std::string private_data;
};

/// \param timeout_ms negative: without limit
std::chrono::steady_clock::time_point deadline_of(int timeout_ms) noexcept {
  if (timeout_ms < 0) return std::chrono::steady_clock::time_point::max();
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
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

/// Posts the operation, and waits for its end. \throws weft::error
template <class Op, class Request>
auto await(weft_context& ctx, const Request& r) {
  weft_op memory;
  if (Op::post(&memory, ctx, r, nullptr, true) == WEFT_OK) weft_wait(&memory, -1, nullptr);
  const Op& ended = Op::in(head_of(&memory));
  if (ended.status != errc::ok) throw error(ended.status, ended.explain());
  return ended.take();
}

/// As group::barrier.
void cross(weft_context& ctx) {
  const group world = ctx.ctx.world();
  unsigned k = 0;
  std::optional<error> failure;
  try {
    for (; const auto step = world.step_of_barrier(k); ++k) {
      await<send_op>(ctx, step->tell);
      group::check_heard(await<recv_op>(ctx, step->hear));
    }
    return;
  } catch (const error& e) {
    failure = e;
  }
  while (const auto step = world.step_of_barrier(++k, failure->kind())) try {
      await<send_op>(ctx, step->tell);
    } catch (const error&) {
      // That peer has gone, too.
    }
  throw *failure;
}

}  // namespace

weft_peer* weft_context::handle_of(endpoint e) {
  const std::lock_guard lock(mutex);
  const peer_id id = e.id();
  if (const auto known = peers.find(id); known != peers.end()) return known->second.get();
  std::unique_ptr<weft_peer> made(new weft_peer{this, std::move(e)});
  return peers.emplace(id, std::move(made)).first->second.get();
}

int weft_peer_of(weft_context* ctx, uint32_t number, weft_peer** peer) {
  if (!ctx || !peer) return WEFT_INVALID_ARGUMENT;
  *peer = nullptr;
  return guarded(*ctx, [&] {
    if (number >= first_non_rank) {
      const std::lock_guard lock(ctx->mutex);
      const auto known = ctx->peers.find(number);
      if (known == ctx->peers.end())
        throw error(errc::invalid_argument, "there is no peer with the number " +
                                                std::to_string(number) +
                                                "; those come from weft_accept and weft_connect");
      *peer = known->second.get();
      return;
    }
    *peer = ctx->handle_of(ctx->ctx.peer(number));
  });
}

uint32_t weft_peer_number(const weft_peer* peer) { return peer ? peer->to.id() : no_peer; }

void weft_peer_close(weft_peer* peer) {
  if (!peer) return;
  const external_loop::call here(peer->owner->external_loop);
  peer->to.close();
}

void weft_peer_free(weft_peer* peer) {
  if (!peer) return;
  weft_context& ctx = *peer->owner;
  guarded(ctx, [&] {
    std::unique_lock lock(ctx.mutex);
    const auto mine = ctx.peers.extract(peer->to.id());
    lock.unlock();
  });
}

int weft_listen(weft_context* ctx, const char* address, weft_listener** listening) {
  if (!ctx || !address || !listening) return WEFT_INVALID_ARGUMENT;
  *listening = nullptr;
  return guarded(*ctx, [&] {
    weft::listener open =
        detail::blocking_task<weft::listener>().run(ctx->ctx.listen(address), deadline_of(-1));
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
    guest in = detail::blocking_task<guest>().run(next_guest(listening->listening),
                                                  deadline_of(timeout_ms));
    copy_text(in.private_data, private_data, private_data_size);
    *peer = listening->owner->handle_of(std::move(in.peer));
  });
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
    *peer = ctx->handle_of(detail::blocking_task<endpoint>().run(
        ctx->ctx.connect(address, private_data ? private_data : ""), deadline_of(timeout_ms)));
  });
}

int weft_open_job(weft_context* ctx, const char* address, char* bound, size_t bound_size) {
  if (!ctx || !address || !bound) return WEFT_INVALID_ARGUMENT;
  return guarded(*ctx, [&] {
    if (copy_text(membership(ctx->ctx).open(address), bound, bound_size) >= bound_size)
      throw error(errc::invalid_argument,
                  "weft_open_job: the address does not fit into `bound`; 256 bytes are enough");
  });
}

int weft_barrier(weft_context* ctx) {
  if (!ctx) return WEFT_INVALID_ARGUMENT;
  return guarded(*ctx, [ctx] { cross(*ctx); });
}
