// SPDX-License-Identifier: Apache-2.0
// send_value, recv_value: typed values as messages. Members of endpoint and context.
//
//     co_await peer.send_value(tag{1}, v);
//     P p = co_await peer.recv_value<P>(tag{1});
//     auto v = co_await peer.recv_value<std::vector<P>>(tag{2});   // as long as the message
//     co_await peer.recv_value(tag{3}, existing);                  // into what is there
//     auto [w, about] = co_await peer.recv_value_from<P>(tag{4});  // with source, tag and size
//
// What travels is the bytes of
//   * trivially copyable types (not pointers, nor types that have one), std::array and pair of
//     them: one size;
//   * the elements of vector, string, string_view and span of these, without their number: the size
//     of the message tells it;
//   * optional, variant, tuple, pair, array, containers of the standard library or like these, and
//     aggregates of up to 16 members without bases, part by part: of all that is in this list. A
//     type that contains itself, through a container, needs a wire<T>;
//   * for other types, what wire<T> writes (wire.hpp).
// Calls, streams of values and wire<T> itself carry the same types (docs/wire-format.md, "Values").
// The tag comes first, since `recv_value<T>` has no other argument; `send` and `recv` of bytes
// begin with the buffer, as write and read do.
//
// Both sides name the same type, or types of the same bytes (send a span, receive a vector), and
// run on one architecture. The bytes of a peer that is not trusted must be checked: any bits may
// come, also those that no bool or enumerator has.
//
// Values are ordinary messages: tags, order, wildcards, stops, deadlines and errors are those of
// endpoint::send and recv. In addition:
//   protocol_error  a message that is shorter than the value, or no whole number of elements; an
//                   object whose bytes end early, or are left over
//   truncated       a message that is longer than the value, or than `at_most`
//   out_of_memory   no memory for the message
// Then the message is lost, and what was received into is unspecified.
//
// The thread that makes progress gives a vector or a string its memory, with the progress lock
// held: its allocator must be thread-safe, and neither the allocator nor a constructor of the
// elements may use weft.
//
// GCC 12 destroys the members of an aggregate twice that is made within a co_await expression:
// give a temporary of such a type a name and pass std::move(it) (docs/lifetimes.md).
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/context.hpp>
#include <weft/detail/object_ops.hpp>
#include <weft/endpoint.hpp>
#include <weft/operations/values.hpp>

namespace weft {
namespace detail {

// Coroutines that hold the value.

template <class C>
task<void> send_owned(endpoint to, tag t, C value) {
  co_await to.send(bytes_of_value(value), t);
}

template <class T>
task<void> send_owned_object(endpoint to, tag t, T value) {
  co_await send_object(std::move(to), t, writer_of(value));
}

template <class T, bool About>
task<yield_t<T, About>> recv_made_object(endpoint from, recv_request message, at_most limit) {
  std::optional<T> made;
  const object_reader into{&made, [](source& bytes, void* there) {
                             static_cast<std::optional<T>*>(there)->emplace(bytes.get<T>());
                           }};
  const received about = co_await recv_object(std::move(from), message, into, limit);
  if constexpr (About)
    co_return yield_t<T, About>(std::move(*made), about);
  else
    co_return std::move(*made);
}

/// A receive that makes a T.
template <class T, bool About>
auto recv_made(const endpoint& from, const recv_request& message, at_most limit) {
  require_value<T>();
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>,
                "a value is neither const nor a reference");
  constexpr value_kind kind = kind_of<T>;
  static_assert(kind == value_kind::bytes || !has_elements<T> || elements_of<T>::owns,
                "a span or string_view has no memory of its own: receive a vector or a string, or "
                "pass the span as the second argument");
  if constexpr (kind == value_kind::bytes)
    return fixed_recv_request<T, About>{message};
  else if constexpr (kind == value_kind::elements)
    return made_recv_request<T, About>{message, limit};
  else if constexpr (kind == value_kind::object)
    return recv_made_object<T, About>(from, message, limit);
}

/// A receive into what the caller has.
template <class T>
auto recv_into(const endpoint& from, const recv_request& message, T& into, at_most limit) {
  require_value<T>();
  constexpr value_kind kind = kind_of<T>;
  static_assert(!std::is_const_v<T>, "a receive writes to it");
  if constexpr (kind == value_kind::bytes) {
    return exact_recv_request{{message.messenger, message.from, message.tag,
                               mutable_buffer(std::as_writable_bytes(std::span<T, 1>(&into, 1)))}};
  } else if constexpr (kind == value_kind::elements) {
    const auto bytes = std::as_writable_bytes(std::span(into.data(), into.size()));
    if constexpr (elements_of<T>::owns)
      return sized_recv_request{message,
                                {&into, &resize_elements<T>, sizeof(element_t<T>), limit, bytes}};
    else
      return exact_recv_request{
          {message.messenger, message.from, message.tag, mutable_buffer(bytes)}};
  } else if constexpr (kind == value_kind::object) {
    return recv_object(
        from, message,
        {&into, [](source& bytes, void* there) { bytes >> *static_cast<T*>(there); }}, limit);
  }
}

}  // namespace detail

/// Sends a value. Ends as `send` does.
/// \param t     the tag
/// \param value not copied: an lvalue, and the elements of a span or string_view, live unchanged
///        until the end. An rvalue is moved into the request: `scope::start(peer.send_value(t,
///        42))` is safe. An object of more than 256 KiB must be received by recv_value: until then,
///        and while the receiver is slower, the send waits
template <class T>
auto endpoint::send_value(tag t, T&& value) const {
  using detail::value_kind;
  using decayed = std::remove_cvref_t<T>;
  constexpr value_kind kind = detail::kind_of<decayed>;
  constexpr bool borrowed = detail::is_borrowed<T>;
  detail::require_value<decayed>();
  if constexpr (std::is_array_v<decayed> || kind == value_kind::none)
    return;
  else if constexpr (kind == value_kind::object && borrowed)
    return detail::send_object(*this, t, detail::writer_of<decayed>(value));
  else if constexpr (kind == value_kind::object)
    return detail::send_owned_object<decayed>(*this, t, std::forward<T>(value));
  else if constexpr (borrowed)
    return send(detail::bytes_of_value<decayed>(value), t);
  else if constexpr (kind == value_kind::bytes)
    return owned_send_request<decayed>{name(t), t, std::forward<T>(value)};
  else
    return detail::send_owned<decayed>(*this, t, std::forward<T>(value));
}

/// Receives a value of type T from this peer.
/// \tparam T what the sender sends, or a type of the same bytes; not a reference
/// \param t     a tag, `any_tag`, or a value with a mask
/// \param limit the longest message that memory is made for; of no meaning for types of one size
/// \return when awaited, the value
template <class T>
auto endpoint::recv_value(tag_mask t, at_most limit) const {
  return detail::recv_made<T, false>(*this, recv(mutable_buffer{}, t), limit);
}

/// The same into an existing object: a vector or string gets the message's length and keeps its
/// memory, a span must have it.
/// \param t, limit as above
/// \param into not touched by the caller until the end; a span's elements live until then, too
/// \return when awaited, the facts about the message
template <class T>
auto endpoint::recv_value(tag_mask t, T&& into, at_most limit) const {
  static_assert(detail::is_borrowed<T>,
                "the object must live until the receive has ended: pass a variable");
  return detail::recv_into(*this, recv(mutable_buffer{}, t), into, limit);
}

/// The same as recv_value<T>.
/// \return when awaited, the value and the facts about its message
template <class T>
auto endpoint::recv_value_from(tag_mask t, at_most limit) const {
  return detail::recv_made<T, true>(*this, recv(mutable_buffer{}, t), limit);
}

template <class T>
auto context::recv_value(tag_mask t, at_most limit) {
  return detail::recv_made<T, false>({}, recv(mutable_buffer{}, t), limit);
}

template <class T>
auto context::recv_value(tag_mask t, T&& into, at_most limit) {
  static_assert(detail::is_borrowed<T>,
                "the object must live until the receive has ended: pass a variable");
  return detail::recv_into({}, recv(mutable_buffer{}, t), into, limit);
}

template <class T>
auto context::recv_value_from(tag_mask t, at_most limit) {
  return detail::recv_made<T, true>({}, recv(mutable_buffer{}, t), limit);
}

}  // namespace weft
