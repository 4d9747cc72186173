// SPDX-License-Identifier: Apache-2.0
// Peers by their numbers, the job, and all of it at a barrier.
#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;

namespace {

constexpr peer_id first_non_rank = peer_id{1} << 31;

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
  return guarded(*ctx, [ctx] {
    weft_op memory;
    const auto barrier = [ctx](chain_result&) { return ctx->ctx.world().barrier(); };
    if (chain_op::post(&memory, *ctx, nullptr, barrier, true) == WEFT_OK)
      weft_wait(&memory, -1, nullptr);
    const auto& ended = static_cast<const chain_op&>(head_of(&memory));
    if (ended.status != errc::ok) throw error(ended.status, ended.explain());
  });
}
