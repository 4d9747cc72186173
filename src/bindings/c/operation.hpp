// SPDX-License-Identifier: Apache-2.0
// The contents of a weft_op.
#pragma once

#include <new>
#include <type_traits>

#include "bindings/c/buffers.hpp"
#include "bindings/c/chain.hpp"
#include "bindings/c/handles.hpp"

namespace weft::c {

/// One of weft's operations, in memory of the caller.
template <class Operation, op_head::kind What>
class op final : public op_head, public Operation {
 public:
  template <class Request>
  op(weft_context& of, const Request& r, void* u) noexcept : Operation(r, &has_ended), owner(of) {
    user = u;
    what = What;
  }

  weft_context& owner;

  /// Makes the operation in the caller's memory, and starts it. \return as weft_send
  /// \param ours weft_wait follows, and weft_poll of another thread must not report the operation
  ///   before
  template <class Request>
  static int post(weft_op* memory, weft_context& of, const Request& r, void* u,
                  bool ours = false) noexcept {
    static_assert(sizeof(op) <= sizeof(weft_op) && alignof(op) <= alignof(weft_op));
    static_assert(std::is_trivially_destructible_v<op>);
    op& made = *::new (static_cast<void*>(memory)) op(of, r, u);
    made.waited = ours;
    if (!of.external_loop.start(made)) return WEFT_OK;
    made.let_go();
    made.now = stage::told;
    return made.status == errc::ok ? WEFT_DONE : code_of(made.status);
  }

  static op& in(op_head& head) noexcept { return static_cast<op&>(head); }
  static const op& in(const op_head& head) noexcept { return static_cast<const op&>(head); }

 private:
  /// Under external_loop::progress_guard.
  static void has_ended(operation& o) noexcept {
    op& self = static_cast<op&>(o);
    self.let_go();
    self.now = stage::ended;
    if (!self.waited) self.owner.ended.push(self);
  }

  /// Of a list of buffers, which may not live when this operation is asked for its size.
  void let_go() noexcept {
    if constexpr (requires { this->into.single(); }) forget_list(this->into);
    if constexpr (requires { this->request.data.single(); }) forget_list(this->request.data);
  }
};

using send_op = op<send_operation, op_head::kind::send>;
using recv_op = op<recv_operation, op_head::kind::recv>;
using claimed_op = op<claimed_operation, op_head::kind::claimed>;
using probe_op = op<probe_operation, op_head::kind::probe>;
using transfer_op = op<transfer_operation, op_head::kind::transfer>;
using update_op = op<update_operation, op_head::kind::update>;
using notified_op = op<notified_operation, op_head::kind::notified>;

inline op_head& head_of(weft_op* memory) noexcept {
  // op_head is an op's first base, so it lies at its beginning.
  return *std::launder(reinterpret_cast<op_head*>(memory));
}
inline const op_head& head_of(const weft_op* memory) noexcept {
  return *std::launder(reinterpret_cast<const op_head*>(memory));
}

/// No memory, or zeros: no operation was ever posted there.
inline bool unused(const weft_op* memory) noexcept {
  return !memory || head_of(memory).what == op_head::kind::none;
}

inline chain_op& chain_in(op_head& head) noexcept { return static_cast<chain_op&>(head); }
inline const chain_op& chain_in(const op_head& head) noexcept {
  return static_cast<const chain_op&>(head);
}

/// Calls `f` with the operation in its own type.
template <class Head, class F>
decltype(auto) visit(Head& head, F f) {
  switch (head.what) {
    case op_head::kind::send:
      return f(send_op::in(head));
    case op_head::kind::recv:
      return f(recv_op::in(head));
    case op_head::kind::claimed:
      return f(claimed_op::in(head));
    case op_head::kind::transfer:
      return f(transfer_op::in(head));
    case op_head::kind::update:
      return f(update_op::in(head));
    case op_head::kind::notified:
      return f(notified_op::in(head));
    case op_head::kind::chain:
      return f(chain_in(head));
    case op_head::kind::probe:
    case op_head::kind::none:
      break;
  }
  return f(probe_op::in(head));
}

inline weft_context& owner_of(const op_head& head) noexcept {
  return visit(head, [](const auto& op) -> weft_context& { return op.owner; });
}

}  // namespace weft::c
