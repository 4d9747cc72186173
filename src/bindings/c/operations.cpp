// SPDX-License-Identifier: Apache-2.0
// Ends of operations, and progress.
#include <algorithm>
#include <chrono>
#include <limits>

#include "bindings/c/operation.hpp"

using namespace weft;
using namespace weft::c;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

void tell(const op_head& op, weft_completion& c) noexcept {
  c.op = reinterpret_cast<weft_op*>(const_cast<op_head*>(&op));
  c.user = op.user;
  const auto of_message = [&c](const received& got) {
    c.source = got.source;
    c.tag = got.tag.value;
    c.size = got.size;
  };
  c.status = visit(op, [](const auto& o) { return code_of(o.status); });
  if (op.what == op_head::kind::send) {
    const send_request& sent = send_op::in(op).request;
    return of_message({no_peer, sent.tag, sent.data.size()});
  }
  visit(op, [&](const auto& o) {
    if constexpr (requires { o.got.size; }) of_message(o.got);
    if constexpr (requires { o.got.value; }) of_message({o.got.source, {o.got.value}, 0});
    if constexpr (requires { o.found; }) of_message({no_peer, {o.found}, 0});
    if constexpr (requires { o.runs; }) of_message({no_peer, {}, o.size});
  });
}

/// Returns the operation's memory to the caller.
void tell_end(weft_context& at, op_head& op, weft_completion* result) noexcept {
  if (op.listed) at.ended.remove(op);
  op.now = op_head::stage::told;
  if (result) tell(op, *result);
}

steady_clock::time_point moment(int timeout_ms) noexcept {
  return timeout_ms < 0 ? steady_clock::time_point::max()
                        : steady_clock::now() + milliseconds{timeout_ms};
}

/// Rounded up, or a thread would wake before the moment and sleep once more.
int milliseconds_until(steady_clock::time_point when) noexcept {
  if (when == steady_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(when - steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(+left)>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

void weft_cancel(weft_op* op) {
  if (unused(op)) return;
  visit(head_of(op), [](auto& o) {
    if constexpr (std::is_same_v<decltype(o), chain_op&>)
      o.cancel();
    else
      o.owner.external_loop.cancel(o);
  });
}

void weft_result(const weft_op* op, weft_completion* result) {
  if (!unused(op) && result) tell(head_of(op), *result);
}

uint64_t weft_immediate(const weft_op* op) {
  if (unused(op)) return 0;
  return visit(head_of(op), [](const auto& o) -> uint64_t {
    if constexpr (requires { o.got.immediate; })
      return o.got.immediate;
    else
      return 0;
  });
}

size_t weft_explain(const weft_op* op, char* text, size_t size) {
  std::size_t length = 0;
  if (unused(op)) return copy_text({}, text, size);
  const op_head& head = head_of(op);
  guarded(
      [&] {
        length = visit(head, [&](const auto& o) {
          return copy_text(o.status == errc::ok ? std::string() : o.explain(), text, size);
        });
      },
      [&](errc, const char* why) {
        length = copy_text(why, text, size);
        return WEFT_OK;
      });
  return length;
}

int weft_poll(weft_context* ctx, weft_completion* done, int n) {
  if (!ctx || (!done && n > 0)) return WEFT_INVALID_ARGUMENT;
  int told = 0;
  {
    external_loop::progress_guard hold(ctx->external_loop);
    hold.poll();  // also if ended operations wait: this thread may be armed
    for (; told < n; ++told) {
      op_head* const op = ctx->ended.pop();
      if (!op) break;
      tell_end(*ctx, *op, &done[told]);
    }
  }
  if (told == 0) ctx->external_loop.back_off();
  return told;
}

int weft_progress(weft_context* ctx) {
  if (!ctx) return WEFT_INVALID_ARGUMENT;
  int waiting = 0;
  {
    external_loop::progress_guard hold(ctx->external_loop);
    hold.poll();
    waiting = ctx->ended.size();
  }
  if (waiting == 0) ctx->external_loop.back_off();
  return waiting;
}

int weft_test(weft_op* op, weft_completion* result) {
  if (unused(op)) return WEFT_INVALID_ARGUMENT;
  op_head& head = head_of(op);
  weft_context& at = owner_of(head);
  {
    external_loop::progress_guard hold(at.external_loop);
    if (head.now == op_head::stage::told) return WEFT_INVALID_ARGUMENT;
    if (head.now == op_head::stage::in_flight) hold.poll();
    if (head.now == op_head::stage::ended) {
      tell_end(at, head, result);
      return WEFT_DONE;
    }
  }
  at.external_loop.back_off();
  return WEFT_OK;
}

int weft_wait(weft_op* op, int timeout_ms, weft_completion* result) {
  if (unused(op)) return WEFT_INVALID_ARGUMENT;
  op_head& head = head_of(op);
  weft_context& at = owner_of(head);
  const auto over = [](void* o) {
    op_head& it = *static_cast<op_head*>(o);
    it.waited = true;
    return it.now != op_head::stage::in_flight;
  };
  const auto until = moment(timeout_ms);
  at.external_loop.wait(until, over, &head);
  const external_loop::progress_guard hold(at.external_loop);
  head.waited = false;
  if (head.now == op_head::stage::in_flight) return WEFT_TIMED_OUT;
  if (head.now == op_head::stage::told) return WEFT_INVALID_ARGUMENT;
  tell_end(at, head, result);
  return WEFT_DONE;
}

int weft_wait_fd(const weft_context* ctx) {
  return ctx ? ctx->external_loop.descriptor() : WEFT_INVALID_ARGUMENT;
}

int weft_arm(weft_context* ctx, int* timeout_ms) {
  if (!ctx) return WEFT_INVALID_ARGUMENT;
  const auto to_tell = [ctx] {
    const external_loop::progress_guard hold(ctx->external_loop);
    return !ctx->ended.empty();
  };
  if (to_tell()) return WEFT_DONE;
  const auto until = ctx->external_loop.arm();
  // A thread that ends an operation after `arm` rings; before it, another thread may have ended
  // one.
  // What the first look has let run may have ended one, too.
  if (!until || to_tell() || to_tell()) return WEFT_DONE;
  if (timeout_ms) *timeout_ms = milliseconds_until(*until);
  return WEFT_OK;
}
