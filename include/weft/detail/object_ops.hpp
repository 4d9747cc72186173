// SPDX-License-Identifier: Apache-2.0
// Objects that wire<T> writes and reads, without their types. Applications do not name these.
#pragma once

#include <optional>

#include <weft/coro/task.hpp>
#include <weft/endpoint.hpp>
#include <weft/operations/messages.hpp>
#include <weft/wire.hpp>

namespace weft::detail {

/// An object to send. It lives unchanged until the end.
struct object_writer {
  const void* object;
  void (*put)(sink&, const void*);
};

/// Where an object is made. `result` lives until the end.
struct object_reader {
  void* result;
  void (*get)(source&, void*);
};

/// Sends an object in one message, or in pieces.
task<void> send_object(endpoint to, tag t, object_writer what);

/// Receives one. \param from the peer of `message`, kept until the end; none for any source
task<received> recv_object(endpoint from, recv_request message, object_reader what, at_most limit);

template <class T>
object_writer writer_of(const T& value) noexcept {
  if constexpr (has_wire<T>)
    static_assert(!noexcept(wire<T>::put(std::declval<sink&>(), value)),
                  "wire<T>::put must not be noexcept: the sink ends it by an exception");
  return {std::addressof(value), [](sink& to, const void* v) { to << *static_cast<const T*>(v); }};
}

}  // namespace weft::detail
