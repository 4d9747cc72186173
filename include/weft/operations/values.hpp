// SPDX-License-Identifier: Apache-2.0
// What send_value and recv_value return, by the types of the values, and the operations that are
// made of it, with the functions that weft/operations/messages.hpp tells of. A value that is given
// for a send, or made by a receive, is held by the operation; one that the caller names is the
// caller's again at the end. Values of several parts are sent and received by tasks.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <weft/detail/value_bytes.hpp>
#include <weft/detail/value_ops.hpp>

namespace weft {

/// A value, and the facts about its message: `auto [v, about] = co_await ...`.
template <class T>
struct received_value {
  received_value() = default;
  received_value(T v, const received& a) : value(std::move(v)), about(a) {}

  T value;
  received about;
};

/// What a receive of T yields. \tparam About with the facts about the message
template <class T, bool About>
using yield_t = std::conditional_t<About, received_value<T>, T>;

// --- sends that own the value ----------------------------------------------------------------

template <class T>
class owned_send_operation;

/// What `send_value` of a value of one size returns: it sends the bytes of the value that it holds.
template <class T>
struct [[nodiscard]] owned_send_request {
  using value_type = void;
  using operation_type = owned_send_operation<T>;
  detail::peer_name to;
  weft::tag tag;
  T value;

  bool try_now() const noexcept {
    return detail::try_send_small(to.peer, to.id, tag.value, detail::bytes_of_value(value), 0);
  }
};

/// Its operation.
template <class T>
class owned_send_operation : public send_operation {
 public:
  owned_send_operation(const owned_send_request<T>& r, complete_fn f)
      : send_operation({r.to, r.tag, const_buffer{}}, f), value_(r.value) {
    request.data = detail::bytes_of_value(value_);
  }

 private:
  T value_;
};

// --- receives into what the caller has ---------------------------------------------------------

/// A receive of as many bytes as its one buffer has, no more and no less. Inline, because a small
/// message is as short as a call.
class exact_recv_operation : public recv_operation {
 public:
  exact_recv_operation(const recv_request& r, complete_fn f) noexcept
      : recv_operation(r, &message_ended), ended_(f) {}

  bool start() noexcept {
    if (!recv_operation::start()) return false;
    check();
    return true;
  }
  std::string explain() const;

 private:
  static void message_ended(operation& op) noexcept {
    auto& self = static_cast<exact_recv_operation&>(op);
    self.check();
    self.ended_(op);
  }
  void check() noexcept {
    if (status == errc::ok && got.size != into.front().size()) [[unlikely]]
      status = errc::protocol_error;
  }

  const complete_fn ended_;
};

/// What a receive into one object returns.
struct [[nodiscard]] exact_recv_request {
  using value_type = received;
  using operation_type = exact_recv_operation;
  recv_request message;
  operator const recv_request&() const noexcept { return message; }  // NOLINT: it is one
};

class sized_into_operation;

/// What a receive into a vector or string returns.
struct [[nodiscard]] sized_recv_request {
  using value_type = received;
  using operation_type = sized_into_operation;
  recv_request message;
  detail::sized_target to;
};

/// Its operation.
class sized_into_operation : public detail::sized_recv_operation {
 public:
  sized_into_operation(const sized_recv_request& r, complete_fn f) noexcept
      : detail::sized_recv_operation(r.message, r.to, f) {}
};

// --- receives that make the value ----------------------------------------------------------------

template <class T, bool About>
class fixed_recv_operation;

/// What `recv_value<T>` returns for a T of one size. \tparam About with the facts about the message
template <class T, bool About>
struct [[nodiscard]] fixed_recv_request {
  using value_type = yield_t<T, About>;
  using operation_type = fixed_recv_operation<T, About>;
  recv_request message;
};

/// A value of one size. It needs no default constructor: the bytes that come are the object.
template <class T, bool About>
class fixed_recv_operation : public exact_recv_operation {
 public:
  fixed_recv_operation(const fixed_recv_request<T, About>& r, complete_fn f) noexcept
      : exact_recv_operation(
            {r.message.messenger, r.message.from, r.message.tag, mutable_buffer(memory_)}, f) {}

  yield_t<T, About> take() const {
    const T& value = *std::launder(reinterpret_cast<const T*>(memory_));
    if constexpr (About)
      return {value, got};
    else
      return value;
  }

 private:
  alignas(T) std::byte memory_[sizeof(T)];
};

template <class C, bool About>
class made_recv_operation;

/// What `recv_value<C>` returns for a vector or string. \tparam About as above
template <class C, bool About>
struct [[nodiscard]] made_recv_request {
  using value_type = yield_t<C, About>;
  using operation_type = made_recv_operation<C, About>;
  recv_request message;
  at_most limit;
};

/// A new vector or string.
template <class C, bool About>
class made_recv_operation : public detail::sized_recv_operation {
 public:
  made_recv_operation(const made_recv_request<C, About>& r, complete_fn f)
      : detail::sized_recv_operation(r.message,
                                     {std::addressof(value_), &detail::resize_elements<C>,
                                      sizeof(detail::element_t<C>), r.limit},
                                     f) {}

  yield_t<C, About> take() {
    if constexpr (About)
      return {std::move(value_), got};
    else
      return std::move(value_);
  }

 private:
  C value_;
};

}  // namespace weft
