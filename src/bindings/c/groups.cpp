// SPDX-License-Identifier: Apache-2.0
// Groups, and their collectives as operations.
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/group.hpp>

#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;

namespace {

std::span<std::byte> writable(void* memory, std::size_t size) noexcept {
  return {static_cast<std::byte*>(memory), size};
}
std::span<const std::byte> readable(const void* memory, std::size_t size) noexcept {
  return {static_cast<const std::byte*>(memory), size};
}

/// The parts of all members; none where they are not used.
std::size_t size_of_all(const weft_group& g, std::size_t part) noexcept {
  return part * g.members.size();
}
std::size_t size_at_root(const weft_group& g, std::uint32_t root, std::size_t part) noexcept {
  return g.members.rank() == root ? size_of_all(g, part) : 0;
}

weft_group* keep(weft_context& at, group made) {
  auto g = std::make_unique<weft_group>(weft_group{&at, std::move(made)});
  const std::lock_guard lock(at.mutex);
  weft_group* const handle = g.get();
  at.groups.emplace(handle, std::move(g));
  return handle;
}

task<void> keep_when_made(weft_context& at, task<group> making, weft_group** made) {
  group g = co_await std::move(making);
  *made = keep(at, std::move(g));
}

template <class Make>
int post(weft_group* g, weft_op* op, void* user, Make make) noexcept {
  return chain_op::post(op, *g->owner, user, [&](chain_result&) { return make(g->members); });
}

bool lacks(const void* memory, std::size_t size) noexcept { return !memory && size != 0; }

[[noreturn]] void no_reduction() {
  throw error(errc::invalid_argument,
              "there is no such weft_type or weft_reduction, or the reduction is of integers only");
}

/// Calls `f` with an operation that combines two elements.
template <class T, class F>
task<void> with_reduction(weft_reduction how, F f) {
  switch (how) {
    case WEFT_SUM:
      return f(T{}, std::plus<>{});
    case WEFT_PRODUCT:
      return f(T{}, std::multiplies<>{});
    case WEFT_MIN:
      return f(T{}, minimum{});
    case WEFT_MAX:
      return f(T{}, maximum{});
    case WEFT_AND:
    case WEFT_OR:
    case WEFT_XOR:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (how == WEFT_AND) return f(T{}, std::bit_and<>{});
    if (how == WEFT_OR) return f(T{}, std::bit_or<>{});
    if (how == WEFT_XOR) return f(T{}, std::bit_xor<>{});
  }
  no_reduction();
}

/// The same, with an element of the type before it.
template <class F>
task<void> with_reduction(weft_type type, weft_reduction how, F f) {
  switch (type) {
    case WEFT_INT8:
      return with_reduction<std::int8_t>(how, f);
    case WEFT_UINT8:
      return with_reduction<std::uint8_t>(how, f);
    case WEFT_INT16:
      return with_reduction<std::int16_t>(how, f);
    case WEFT_UINT16:
      return with_reduction<std::uint16_t>(how, f);
    case WEFT_INT32:
      return with_reduction<std::int32_t>(how, f);
    case WEFT_UINT32:
      return with_reduction<std::uint32_t>(how, f);
    case WEFT_INT64:
      return with_reduction<std::int64_t>(how, f);
    case WEFT_UINT64:
      return with_reduction<std::uint64_t>(how, f);
    case WEFT_FLOAT:
      return with_reduction<float>(how, f);
    case WEFT_DOUBLE:
      return with_reduction<double>(how, f);
  }
  no_reduction();
}

template <class T>
std::span<T> elements(void* memory, std::size_t count) noexcept {
  return {static_cast<T*>(memory), count};
}

}  // namespace

int weft_world(weft_context* ctx, weft_group** made) {
  if (!ctx || !made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return guarded(*ctx, [&] { *made = keep(*ctx, ctx->ctx.world()); });
}

void weft_group_free(weft_group* group) {
  if (!group) return;
  weft_context& at = *group->owner;
  guarded(at, [&] {
    std::unique_lock lock(at.mutex);
    const auto mine = at.groups.extract(group);
    lock.unlock();
  });
}

uint32_t weft_group_rank(const weft_group* group) {
  return group ? group->members.rank() : no_peer;
}
uint32_t weft_group_size(const weft_group* group) { return group ? group->members.size() : 0; }

int weft_split(weft_group* group, int colour, int key, weft_group** made, weft_op* op, void* user) {
  if (!group || !op || !made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return post(group, op, user, [&](const weft::group& g) {
    return keep_when_made(*group->owner, g.split(colour, key), made);
  });
}

int weft_shrink(weft_group* group, weft_group** made, weft_op* op, void* user) {
  if (!group || !op || !made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return post(group, op, user, [&](const weft::group& g) {
    return keep_when_made(*group->owner, g.shrink(), made);
  });
}

int weft_replace(weft_group* group, weft_group** made, weft_op* op, void* user) {
  if (!group || !op || !made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return post(group, op, user, [&](const weft::group& g) {
    return keep_when_made(*group->owner, g.replace(), made);
  });
}

int weft_grow(weft_group* group, weft_group** made, weft_op* op, void* user) {
  if (!group || !op || !made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return post(group, op, user,
              [&](const weft::group& g) { return keep_when_made(*group->owner, g.grow(), made); });
}

int weft_returned(weft_context* context) {
  return context && weft::membership(context->ctx).returned() ? 1 : 0;
}

int weft_group_barrier(weft_group* group, weft_op* op, void* user) {
  if (!group || !op) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [](const weft::group& g) { return g.barrier(); });
}

int weft_broadcast(weft_group* group, void* data, size_t size, uint32_t root, weft_op* op,
                   void* user) {
  if (!group || !op || lacks(data, size)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user,
              [&](const weft::group& g) { return g.broadcast(writable(data, size), root); });
}

int weft_reduce(weft_group* group, const void* mine, void* result, size_t count, weft_type type,
                weft_reduction how, uint32_t root, weft_op* op, void* user) {
  if (!group || !op || lacks(mine, count)) return WEFT_INVALID_ARGUMENT;
  const std::size_t here = group->members.rank() == root ? count : 0;
  if (lacks(result, here)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return with_reduction(type, how, [&]<class T>(T, auto combine) {
      return g.reduce(std::span<const T>(static_cast<const T*>(mine), count),
                      elements<T>(result, here), combine, root);
    });
  });
}

int weft_all_reduce(weft_group* group, void* data, size_t count, weft_type type, weft_reduction how,
                    weft_op* op, void* user) {
  if (!group || !op || lacks(data, count)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return with_reduction(type, how, [&]<class T>(T, auto combine) {
      return g.all_reduce(elements<T>(data, count), combine);
    });
  });
}

int weft_scan(weft_group* group, void* data, size_t count, weft_type type, weft_reduction how,
              weft_op* op, void* user) {
  if (!group || !op || lacks(data, count)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return with_reduction(type, how, [&]<class T>(T, auto combine) {
      return g.scan(elements<T>(data, count), combine);
    });
  });
}

int weft_gather(weft_group* group, const void* mine, void* all, size_t size, uint32_t root,
                weft_op* op, void* user) {
  if (!group || !op || lacks(mine, size)) return WEFT_INVALID_ARGUMENT;
  const std::size_t here = size_at_root(*group, root, size);
  if (lacks(all, here)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return g.gather(readable(mine, size), writable(all, here), root);
  });
}

int weft_scatter(weft_group* group, const void* all, void* mine, size_t size, uint32_t root,
                 weft_op* op, void* user) {
  if (!group || !op || lacks(mine, size)) return WEFT_INVALID_ARGUMENT;
  const std::size_t here = size_at_root(*group, root, size);
  if (lacks(all, here)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return g.scatter(readable(all, here), writable(mine, size), root);
  });
}

int weft_all_gather(weft_group* group, const void* mine, void* all, size_t size, weft_op* op,
                    void* user) {
  if (!group || !op || lacks(mine, size) || lacks(all, size)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return g.all_gather(readable(mine, size), writable(all, size_of_all(*group, size)));
  });
}

int weft_all_to_all(weft_group* group, const void* out, void* in, size_t size, weft_op* op,
                    void* user) {
  if (!group || !op || lacks(out, size) || lacks(in, size)) return WEFT_INVALID_ARGUMENT;
  return post(group, op, user, [&](const weft::group& g) {
    return g.all_to_all(readable(out, size_of_all(*group, size)),
                        writable(in, size_of_all(*group, size)));
  });
}
