// SPDX-License-Identifier: Apache-2.0
// What calls return (endpoint::call and post; call::reply and reply_next), and the operations that
// are made of it, with the functions that weft/operations/messages.hpp tells of.
//
//     raw_call_operation op(peer.call(am{7}, question, room), &has_ended);
//     if (loop.start(op)) ...   // op.take() bytes of the reply
//
// endpoint::post_bytes returns a send_request. A stopped call ends at once, and its handler is
// stopped, too.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <weft/detail/call_state.hpp>
#include <weft/operations/messages.hpp>

namespace weft {

class typed_post_operation;

/// What `endpoint::post` with values returns: it holds them, packed.
struct [[nodiscard]] typed_post_request {
  using value_type = void;
  using operation_type = typed_post_operation;
  detail::peer_name to;
  am number;
  detail::call_bytes args;
  const detail::call_signature* types;
};

/// Holds the bytes until the message has left.
class typed_post_operation : public send_operation {
 public:
  typed_post_operation(const typed_post_request& r, complete_fn f) noexcept
      : send_operation({r.to, detail::post_tag(r.number), const_buffer{},
                        detail::send_mode::standard, detail::post_word(*r.types)},
                       f),
        args_(r.args) {
    request.data = args_.list(pieces_);
  }

 private:
  const detail::call_bytes args_;
  detail::call_bytes::pieces pieces_;
};

class raw_call_operation;

/// What `endpoint::call` with bytes returns; yields the bytes of the reply.
struct [[nodiscard]] raw_call_request {
  using value_type = std::size_t;
  using operation_type = raw_call_operation;
  detail::peer_name to;
  am number;
  const_buffer args;
  mutable_buffer into;
};

/// A call with bytes in flight. Ends when the reply has come: the arguments, and the room for the
/// reply, are the caller's again.
class raw_call_operation : public detail::call_operation {
 public:
  raw_call_operation(const raw_call_request& r, complete_fn f) noexcept
      : detail::call_operation(r.to, r.number, f), args_(r.args), into_(r.into) {}
  std::size_t take() const noexcept { return reply_size(); }

 private:
  detail::buffer_list<const_buffer> arguments() const noexcept override { return args_; }
  room place(std::uint64_t, const_buffer) noexcept override { return {into_}; }

  const const_buffer args_;
  const mutable_buffer into_;
};

template <class R>
class typed_call_operation;

/// What `endpoint::call<R>` returns; yields the reply.
template <class R>
struct [[nodiscard]] typed_call_request {
  using value_type = R;
  using operation_type = typed_call_operation<R>;
  detail::peer_name to;
  am number;
  detail::call_bytes args;
  const detail::call_signature* types;
};
/// What `endpoint::call_into` returns: the reply goes into an object of the caller's.
template <class R>
struct [[nodiscard]] typed_call_request<R&> {
  using value_type = void;
  using operation_type = typed_call_operation<R&>;
  detail::peer_name to;
  am number;
  detail::call_bytes args;
  const detail::call_signature* types;
  R* into;
};

/// A call with values in flight; it holds the arguments, except for what is the caller's, and the
/// reply.
template <class R>
class typed_call_operation : public detail::call_operation {
 public:
  typed_call_operation(const typed_call_request<R>& r, complete_fn f)
      : detail::call_operation(r.to, r.number, f, r.types), args_(r.args), reply_(box_for(r)) {}
  auto take() { return reply_.take(); }

 private:
  static detail::reply_box<R> box_for(const typed_call_request<R>& r) noexcept {
    if constexpr (std::is_reference_v<R>)
      return detail::reply_box<R>(*r.into);
    else
      return {};
  }
  detail::buffer_list<const_buffer> arguments() const noexcept override { return all_args_; }
  room place(std::uint64_t size, const_buffer beginning) noexcept override {
    room r;
    r.status = reply_.make_room(size, beginning, r.into);
    return r;
  }

  const detail::call_bytes args_;
  detail::call_bytes::pieces pieces_;
  const detail::buffer_list<const_buffer> all_args_ = args_.list(pieces_);
  detail::reply_box<R> reply_;
};

class reply_operation;

/// What `call::reply` returns.
struct [[nodiscard]] reply_request {
  using value_type = void;
  using operation_type = reply_operation;
  proto::served_call* to;
  detail::buffer_list<const_buffer> data;
};

/// A reply in flight. Ends as a send does.
class reply_operation : public send_operation {
 public:
  reply_operation(const reply_request& r, complete_fn f) noexcept;
  /// Sends a small reply. Any thread that does not hold the progress lock.
  /// \return true: it has left; false: nothing has happened
  bool try_start() noexcept;
  bool start() noexcept;
  bool start_held() noexcept;
  std::string explain() const;

 private:
  static void ended(operation& op) noexcept;

  proto::served_call& call_;
  bool refused_ = false;  ///< it is not the call's to send
  const complete_fn then_;
};

class item_operation;

/// What `call::reply_next` returns.
struct [[nodiscard]] item_request {
  using value_type = void;
  using operation_type = item_operation;
  proto::served_call* to;
  detail::buffer_list<const_buffer> data;
};

/// Sends one value. Waits while the caller lets no more come.
class item_operation : public send_operation {
 public:
  item_operation(const item_request& r, complete_fn f) noexcept;
  bool start() noexcept;
  bool start_held() noexcept;
  void cancel() noexcept;
  std::string explain() const;

 private:
  friend class proto::served_call;

  proto::served_call& call_;
  bool no_stream_ = false;  ///< the caller awaits no values, or another one is being sent
};

}  // namespace weft
