// SPDX-License-Identifier: Apache-2.0
// Calls: made, posted and served.
#include "bindings/c/calls.hpp"

#include <chrono>
#include <utility>

#include <weft/coro/as_result.hpp>
#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/time.hpp>

#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;

namespace {

task<void> make_call(endpoint to, am number, const_buffer args, mutable_buffer reply,
                     int timeout_ms, chain_result& result) {
  if (timeout_ms < 0)
    result.size = co_await to.call(number, args, reply);
  else
    result.size =
        co_await within(std::chrono::milliseconds(timeout_ms), to.call(number, args, reply));
}

/// One call of a handler in C. The function may answer at once, or later, on any thread.
task<void> serve(weft_context& at, weft_handler_fn f, void* user, call c) {
  if (at.closing) throw error(errc::closed, "the context ends");
  weft_served_call open(at, c);
  {
    const std::lock_guard lock(at.mutex);
    at.calls.insert(&open);
  }
  f(&open, user);
  co_await open.answered;
  if (open.refused) throw error(errc::refused, open.refusal);
  const result<void> sent = co_await as_result(c.reply(open.reply));
  if (!sent) open.then->failure = sent.failure();
  open.then->came.open();
}

/// Takes the call from the application. \return false: it has its answer
bool take(weft_served_call& c) {
  const std::lock_guard lock(c.owner->mutex);
  return c.owner->calls.erase(&c) != 0;
}

/// Resumes the handler's coroutine, in a later call.
void answer(weft_served_call& c) {
  const external_loop::call here(c.owner->external_loop);
  c.answered.open();
}

}  // namespace

void weft::c::refuse_calls(weft_context& of) noexcept {
  while (!of.handlers.empty()) weft_handler_close(of.handlers.begin()->first);
  for (;;) {
    weft_served_call* open = nullptr;
    {
      const std::lock_guard lock(of.mutex);
      if (of.calls.empty()) return;
      open = *of.calls.begin();
      of.calls.erase(of.calls.begin());
    }
    open->refused = true;
    open->refusal = "the context ends";  // fits into the string itself
    answer(*open);
  }
}

int weft_call(weft_peer* to, uint32_t number, const void* args, size_t size, void* reply,
              size_t reply_size, int timeout_ms, weft_op* op, void* user) {
  if (!to || !op || (!args && size != 0) || (!reply && reply_size != 0))
    return WEFT_INVALID_ARGUMENT;
  const const_buffer out(static_cast<const std::byte*>(args), size);
  const mutable_buffer in(static_cast<std::byte*>(reply), reply_size);
  return chain_op::post(op, *to->owner, user, [&](chain_result& r) {
    return make_call(to->to, am{number}, out, in, timeout_ms, r);
  });
}

int weft_post(weft_peer* to, uint32_t number, const void* args, size_t size, weft_op* op,
              void* user) {
  if (!to || !op || (!args && size != 0)) return WEFT_INVALID_ARGUMENT;
  return send_op::post(op, *to->owner,
                       to->to.post_bytes(am{number}, {static_cast<const std::byte*>(args), size}),
                       user);
}

int weft_handler_open(weft_context* ctx, uint32_t number, weft_handler_fn f, void* user,
                      weft_handler** made) {
  if (!ctx || !f || !made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return guarded(*ctx, [&] {
    auto h = std::make_unique<weft_handler>();
    h->owner = ctx;
    h->registered =
        ctx->ctx.on(am{number}, [ctx, f, user](call c) { return serve(*ctx, f, user, c); },
                    {.where = &home(ctx->ctx)});
    const std::lock_guard lock(ctx->mutex);
    weft_handler* const handle = h.get();
    ctx->handlers.emplace(handle, std::move(h));
    *made = handle;
  });
}

namespace {

/// Ends a handler when its last call has its answer. Frees itself.
class handler_end final : detail::detached_task_owner {
 public:
  explicit handler_end(handler h) noexcept : ending_(std::move(h)) {}
  void begin(context& of) {
    detail::start_detached(*this, task_environment{&home(of)}, ending_.end(), [] {});
  }

 private:
  void task_ended(std::exception_ptr) noexcept override { delete this; }
  handler ending_;
};

}  // namespace

void weft_handler_close(weft_handler* handler) {
  if (!handler) return;
  weft_context& ctx = *handler->owner;
  guarded(ctx, [&] {
    std::unique_lock lock(ctx.mutex);
    const auto mine = ctx.handlers.extract(handler);
    lock.unlock();
    if (mine.empty()) return;
    auto end = std::make_unique<handler_end>(std::move(mine.mapped()->registered));
    const external_loop::call here(ctx.external_loop);
    end.release()->begin(ctx.ctx);
  });
}

uint32_t weft_served_number(const weft_served_call* c) { return c ? c->what.number().number : 0; }

weft_peer* weft_served_from(const weft_served_call* c) {
  weft_peer* from = nullptr;
  if (c) guarded(*c->owner, [&] { from = c->owner->handle_of(c->what.from()); });
  return from;
}

size_t weft_served_size(const weft_served_call* c) { return c ? c->what.size() : 0; }
const void* weft_served_data(const weft_served_call* c) {
  return c && !c->what.data().empty() ? c->what.data().data() : nullptr;
}
int weft_served_stopped(const weft_served_call* c) { return c && c->what.stop_requested(); }

int weft_served_recv(weft_served_call* c, void* into, size_t size, weft_op* op, void* user) {
  if (!c || !op || (!into && size != 0)) return WEFT_INVALID_ARGUMENT;
  return claimed_op::post(op, *c->owner,
                          c->what.recv(mutable_buffer(static_cast<std::byte*>(into), size)), user);
}

namespace {
task<void> send_reply(weft_served_call& c, const_buffer data) {
  reply_end end;
  c.reply = data;
  c.then = &end;
  answer(c);
  co_await end.came;
  if (end.failure) throw error(*end.failure);
}
}  // namespace

int weft_reply(weft_served_call* c, const void* data, size_t size, weft_op* op, void* user) {
  if (!c || !op || (!data && size != 0)) return WEFT_INVALID_ARGUMENT;
  if (!take(*c)) return WEFT_INVALID_ARGUMENT;
  const const_buffer out(static_cast<const std::byte*>(data), size);
  return chain_op::post(op, *c->owner, user, [&](chain_result&) { return send_reply(*c, out); });
}

int weft_refuse(weft_served_call* c, const char* why) {
  if (!c || !take(*c)) return WEFT_INVALID_ARGUMENT;
  weft_context& ctx = *c->owner;
  return guarded(ctx, [&] {
    c->refused = true;
    c->refusal = why ? why : "";
    answer(*c);
  });
}
