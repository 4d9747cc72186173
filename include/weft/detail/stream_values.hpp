// SPDX-License-Identifier: Apache-2.0
// Values on streams, without their types. Applications do not name these.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/detail/object_ops.hpp>
#include <weft/detail/value_kind.hpp>
#include <weft/message.hpp>

namespace weft::proto {
class stream;
}

namespace weft::detail {

using stream_handle = std::shared_ptr<proto::stream>;

/// Reads up to the delimiter into `line`, which lives until the end. \param delimiter not empty
task<void> read_line(stream_handle from, std::string& line, std::string delimiter, at_most limit);
task<std::string> read_new_line(stream_handle from, std::string delimiter, at_most limit);

/// Writes a frame: the number of bytes, and the bytes, which live unchanged until the end.
task<void> write_frame(stream_handle to, const_buffer bytes);
/// The same of what an object writes.
task<void> write_object_frame(stream_handle to, object_writer what);

/// What becomes of the bytes of a frame. `into` lives until the end.
struct frame_reader {
  void* into;
  void (*read)(const_buffer, void*);
};
task<void> read_frame(stream_handle from, frame_reader what, at_most limit);

/// Reads an object out of the bytes of a frame, which must be all of it.
/// \throws weft::error (protocol_error)
void read_object_in(const_buffer frame, object_reader what);
/// \throws weft::error (protocol_error)
[[noreturn]] void frame_does_not_fit(std::size_t frame, std::size_t unit);

/// Reads a value out of the bytes of a frame. \throws weft::error (protocol_error), std::bad_alloc
template <class T>
void read_value_in(const_buffer frame, T& into) {
  if constexpr (kind_of<T> == value_kind::elements) {
    using element = element_t<T>;
    if (frame.size() % sizeof(element) != 0) frame_does_not_fit(frame.size(), sizeof(element));
    if constexpr (elements_of<T>::owns)
      into.resize(frame.size() / sizeof(element));
    else if (frame.size() != into.size() * sizeof(element))
      frame_does_not_fit(frame.size(), into.size() * sizeof(element));
    if (!frame.empty()) std::memcpy(into.data(), frame.data(), frame.size());
  } else {
    read_object_in(frame,
                   {&into, [](source& bytes, void* there) { bytes >> *static_cast<T*>(there); }});
  }
}

template <class T>
void read_value_at(const_buffer frame, void* into) {
  read_value_in(frame, *static_cast<T*>(into));
}

/// The same for a type without a default constructor. \param there a std::optional<T>
template <class T>
void make_value_of(const_buffer frame, void* there) {
  auto& made = *static_cast<std::optional<T>*>(there);
  if constexpr (kind_of<T> == value_kind::elements)
    read_value_in(frame, made.emplace());
  else
    read_object_in(frame, {&made, [](source& bytes, void* to) {
                             static_cast<std::optional<T>*>(to)->emplace(bytes.get<T>());
                           }});
}

template <class T>
task<T> read_made_value(stream_handle from, at_most limit) {
  std::optional<T> made;
  co_await read_frame(std::move(from), {&made, &make_value_of<T>}, limit);
  co_return std::move(*made);
}

template <class T>
task<void> read_span(stream_handle from, T into, at_most limit) {
  co_await read_frame(std::move(from), {&into, &read_value_at<T>}, limit);
}
template <class T>
task<void> read_into_value(stream_handle from, T& into, at_most limit) {
  if constexpr (has_elements<T> && !elements_of<T>::owns)
    return read_span(std::move(from), into, limit);  // of a temporary that names the memory
  else
    return read_frame(std::move(from), {&into, &read_value_at<T>}, limit);
}

template <class T>
task<void> write_borrowed_value(stream_handle to, const T& value) {
  if constexpr (kind_of<T> == value_kind::object)
    return write_object_frame(std::move(to), writer_of<T>(value));
  else
    return write_frame(std::move(to), bytes_of_value<T>(value));
}
template <class T>
task<void> write_owned_value(stream_handle to, T value) {
  co_await write_borrowed_value<T>(std::move(to), value);
}

}  // namespace weft::detail
