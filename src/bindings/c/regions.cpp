// SPDX-License-Identifier: Apache-2.0
// Memory that peers may reach, and access to memory of peers.
#include <chrono>
#include <optional>

#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;

namespace {

remote_region place(weft_remote where) noexcept { return {where.key, where.offset, where.size}; }

/// The end of a region. Under external_loop::progress_guard.
class last_copy final : public region_end_operation {
 public:
  explicit last_copy(const region_end_request& r) noexcept
      : region_end_operation(
            r, [](operation& op) noexcept { static_cast<last_copy&>(op).over = true; }) {}
  bool over = false;
};

/// \param name none, or the owner's name for the region
template <class... Name>
int open_region(weft_context* ctx, void* memory, size_t size, int rights, weft_region** made,
                Name... name) {
  if (!made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  if (!ctx || (!memory && size != 0) || (rights & ~(WEFT_READ | WEFT_WRITE)) != 0)
    return WEFT_INVALID_ARGUMENT;
  return guarded(*ctx, [&] {
    const external_loop::call here(ctx->external_loop);
    const std::lock_guard lock(ctx->mutex);
    auto r = std::make_unique<weft_region>(
        weft_region{ctx, region(ctx->ctx, {static_cast<std::byte*>(memory), size},
                                static_cast<weft::rights>(rights), name...)});
    weft_region* const handle = r.get();
    ctx->regions.emplace(handle, std::move(r));
    *made = handle;
  });
}

}  // namespace

int weft_region_open(weft_context* ctx, void* memory, size_t size, int rights, weft_region** made) {
  return open_region(ctx, memory, size, rights, made);
}

int weft_region_open_as(weft_context* ctx, void* memory, size_t size, int rights, uint64_t key,
                        uint64_t first, weft_region** made) {
  return open_region(ctx, memory, size, rights, made, region_name{key, first});
}

void weft_region_close(weft_region* region) {
  if (!region) return;
  weft_context& ctx = *region->owner;
  last_copy last(region->memory.end());
  if (!ctx.external_loop.start(last))
    ctx.external_loop.wait(
        std::chrono::steady_clock::time_point::max(),
        [](void* op) { return static_cast<last_copy*>(op)->over; }, &last);
  const std::lock_guard lock(ctx.mutex);
  ctx.regions.erase(region);
}

weft_remote weft_region_remote(const weft_region* region) {
  const remote_region r = region ? region->memory.remote() : remote_region{};
  return {r.key, r.offset, r.size};
}

int weft_region_notified(weft_region* region, weft_op* op, void* user) {
  if (!region || !op) return WEFT_INVALID_ARGUMENT;
  return notified_op::post(op, *region->owner, region->memory.notified(), user);
}

int weft_put(weft_peer* to, const void* data, size_t size, weft_remote where, const uint64_t* word,
             weft_op* op, void* user) {
  if (!to || !op || (!data && size != 0)) return WEFT_INVALID_ARGUMENT;
  std::optional<notify> then;
  if (word) then = notify{*word};
  return transfer_op::post(
      op, *to->owner, to->to.put({static_cast<const std::byte*>(data), size}, place(where), then),
      user);
}

int weft_get(weft_peer* from, void* into, size_t size, weft_remote where, weft_op* op, void* user) {
  if (!from || !op || (!into && size != 0)) return WEFT_INVALID_ARGUMENT;
  return transfer_op::post(op, *from->owner,
                           from->to.get({static_cast<std::byte*>(into), size}, place(where)), user);
}

int weft_fetch_add(weft_peer* at, weft_remote word, uint64_t addend, weft_op* op, void* user) {
  if (!at || !op) return WEFT_INVALID_ARGUMENT;
  return update_op::post(op, *at->owner, at->to.fetch_add(place(word), addend), user);
}

int weft_compare_swap(weft_peer* at, weft_remote word, uint64_t expected, uint64_t desired,
                      weft_op* op, void* user) {
  if (!at || !op) return WEFT_INVALID_ARGUMENT;
  return update_op::post(op, *at->owner, at->to.compare_swap(place(word), expected, desired), user);
}
