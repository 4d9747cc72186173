// SPDX-License-Identifier: Apache-2.0
// Messages: sent, received, probed and claimed.
#include "bindings/c/buffers.hpp"
#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;

namespace {

const_buffer bytes(const void* data, std::size_t size) noexcept {
  return {static_cast<const std::byte*>(data), size};
}

tag_mask matching(std::uint64_t tag, std::uint64_t ignore) noexcept { return {tag, ~ignore}; }

/// Whether it names a reserved tag.
bool asks_too_much(tag_mask t) noexcept { return t.value >= first_reserved_tag; }

mutable_buffer room(void* memory, std::size_t size) noexcept {
  return {static_cast<std::byte*>(memory), size};
}

claimed_message& message_in(weft_message* memory) noexcept {
  return *std::launder(reinterpret_cast<claimed_message*>(memory));
}

int send_list(weft_peer* to, const weft_buffer* list, std::size_t count, std::uint64_t tag,
              detail::send_mode mode, std::uint64_t immediate, weft_op* op, void* user) {
  if (!to || !op || !is_usable(list, count)) return WEFT_INVALID_ARGUMENT;
  send_request r = to->to.send(const_buffer{}, weft::tag{tag}, immediate);
  r.data = buffers<const_buffer>(list, count);
  r.mode = mode;
  return send_op::post(op, *to->owner, r, user);
}

}  // namespace

int weft_send(weft_peer* to, const void* data, size_t size, uint64_t tag, weft_op* op, void* user) {
  if (!to || !op || (!data && size != 0)) return WEFT_INVALID_ARGUMENT;
  return send_op::post(op, *to->owner, to->to.send(bytes(data, size), weft::tag{tag}), user);
}

int weft_send_synchronous(weft_peer* to, const void* data, size_t size, uint64_t tag, weft_op* op,
                          void* user) {
  if (!to || !op || (!data && size != 0)) return WEFT_INVALID_ARGUMENT;
  return send_op::post(op, *to->owner, to->to.send_synchronous(bytes(data, size), weft::tag{tag}),
                       user);
}

int weft_send_immediate(weft_peer* to, const void* data, size_t size, uint64_t tag,
                        uint64_t immediate, weft_op* op, void* user) {
  if (!to || !op || (!data && size != 0)) return WEFT_INVALID_ARGUMENT;
  return send_op::post(op, *to->owner, to->to.send(bytes(data, size), weft::tag{tag}, immediate),
                       user);
}

int weft_send_list(weft_peer* to, const weft_buffer* list, size_t count, uint64_t tag,
                   uint64_t immediate, weft_op* op, void* user) {
  return send_list(to, list, count, tag, detail::send_mode::standard, immediate, op, user);
}

int weft_send_list_synchronous(weft_peer* to, const weft_buffer* list, size_t count, uint64_t tag,
                               uint64_t immediate, weft_op* op, void* user) {
  return send_list(to, list, count, tag, detail::send_mode::synchronous, immediate, op, user);
}

int weft_recv(weft_context* ctx, weft_peer* from, void* into, size_t size, uint64_t tag,
              uint64_t ignore, weft_op* op, void* user) {
  if (!ctx || !op || (!into && size != 0)) return WEFT_INVALID_ARGUMENT;
  const tag_mask wanted = matching(tag, ignore);
  return recv_op::post(
      op, *ctx,
      from ? from->to.recv(room(into, size), wanted) : ctx->ctx.recv(room(into, size), wanted),
      user);
}

int weft_recv_list(weft_context* ctx, weft_peer* from, const weft_buffer* list, size_t count,
                   uint64_t tag, uint64_t ignore, weft_op* op, void* user) {
  if (!ctx || !op || !is_usable(list, count)) return WEFT_INVALID_ARGUMENT;
  const tag_mask wanted = matching(tag, ignore);
  recv_request r =
      from ? from->to.recv(mutable_buffer{}, wanted) : ctx->ctx.recv(mutable_buffer{}, wanted);
  r.into = buffers<mutable_buffer>(list, count);
  return recv_op::post(op, *ctx, r, user);
}

int weft_probe(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore, weft_op* op,
               void* user) {
  if (!ctx || !op) return WEFT_INVALID_ARGUMENT;
  const tag_mask wanted = matching(tag, ignore);
  return probe_op::post(op, *ctx, from ? from->to.probe(wanted) : ctx->ctx.probe(wanted), user);
}

int weft_try_probe(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                   weft_completion* about) {
  const tag_mask wanted = matching(tag, ignore);
  if (!ctx || asks_too_much(wanted)) return WEFT_INVALID_ARGUMENT;
  std::optional<received> found;
  {
    const external_loop::call here(ctx->external_loop);
    found = from ? from->to.try_probe(wanted) : ctx->ctx.try_probe(wanted);
  }
  if (!found) {
    ctx->external_loop.back_off();
    return WEFT_OK;
  }
  if (about) *about = {nullptr, nullptr, WEFT_OK, found->source, found->tag.value, found->size};
  return WEFT_DONE;
}

int weft_claim(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
               weft_message* message, weft_completion* about) {
  static_assert(sizeof(claimed_message) <= sizeof(weft_message) &&
                alignof(claimed_message) <= alignof(weft_message));
  const tag_mask wanted = matching(tag, ignore);
  if (!ctx || !message || asks_too_much(wanted)) return WEFT_INVALID_ARGUMENT;
  std::optional<claimed_message> found;
  {
    const external_loop::call here(ctx->external_loop);
    found = from ? from->to.try_claim(wanted) : ctx->ctx.try_claim(wanted);
  }
  if (!found) {
    ctx->external_loop.back_off();
    return WEFT_OK;
  }
  const received& got = found->about();
  if (about) *about = {nullptr, nullptr, WEFT_OK, got.source, got.tag.value, got.size};
  ::new (static_cast<void*>(message)) claimed_message(std::move(*found));
  return WEFT_DONE;
}

int weft_recv_claimed(weft_context* ctx, weft_message* message, void* into, size_t size,
                      weft_op* op, void* user) {
  if (!ctx || !message || !op || (!into && size != 0)) return WEFT_INVALID_ARGUMENT;
  return claimed_op::post(op, *ctx, message_in(message).recv(room(into, size)), user);
}

int weft_recv_claimed_list(weft_context* ctx, weft_message* message, const weft_buffer* list,
                           size_t count, weft_op* op, void* user) {
  if (!ctx || !message || !op || !is_usable(list, count)) return WEFT_INVALID_ARGUMENT;
  claimed_request r = message_in(message).recv(mutable_buffer{});
  r.into = buffers<mutable_buffer>(list, count);
  return claimed_op::post(op, *ctx, r, user);
}

uint64_t weft_message_immediate(const weft_message* message) {
  if (!message) return 0;
  return std::launder(reinterpret_cast<const claimed_message*>(message))->about().immediate;
}

void weft_discard(weft_context* ctx, weft_message* message) {
  if (!ctx || !message) return;
  const external_loop::call here(ctx->external_loop);
  message_in(message).discard();
}
