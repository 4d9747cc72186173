// SPDX-License-Identifier: Apache-2.0
// stream: ordered bytes between two peers, in both directions, over any transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/detail/stream_values.hpp>
#include <weft/endpoint.hpp>
#include <weft/error.hpp>
#include <weft/operations/streams.hpp>

namespace weft {

/// Options of one end of a stream. The two ends may differ.
struct stream_options {
  /// How far the peer may write ahead of this end's reads, in bytes; 4 KiB to 1 GiB. A large write
  /// travels in pieces of at most a quarter of the window.
  std::size_t window = std::size_t{2} << 20;
};

/// One end of a stream. Both peers open it with the same number, in any order, at any time; each
/// number is a separate stream. Streams and messages share only the link: unread bytes stay within
/// the window and block no other stream. For a rank's endpoint to itself, the first and the second
/// opened stream of a number are the two ends.
///
///     stream s(peer, 7);                        // open
///     co_await s.write(data);                   // or try_write: as much as fits at once
///     std::size_t n = co_await s.read(memory);  // or try_read
///     s.finish();                               // the peer reads 0 bytes after the last one
///     s.close();
///     co_await s.closed();                      // the peer has read all bytes
///
/// Bytes move while the application computes, as messages do; `try_write` and `try_read` also make
/// a pass. At most one read and one write may be in flight, on any threads; they are independent. A
/// stream must not outlive its context, and no operation may be in flight on it when it is
/// destroyed or assigned to. Its messages have reserved tags (first_reserved_tag), which no receive
/// of the application matches.
///
/// Errors of `read`, `write` and the other functions:
///   closed     the orderly end: `try_read` is at the end of the stream, or a write has no reader,
///              because this end has finished or the peer's end has closed
///   peer_lost  bytes may be missing: the peer died, or destroyed its end without `finish`, or the
///              endpoint was closed first
///   stopped    by a stop token or a deadline; nothing is lost, `written` and the next `read`
///              continue at that place. `write_value` tells of an exception
///
/// `read_exactly`, `read_until` and `read_value` end at the end of the stream with
///   closed          there was no byte in front of it
///   protocol_error  it came in the middle. The text says after how many bytes
class stream {
 public:
  /// No stream: all functions but assignment fail with errc::invalid_argument.
  stream() = default;

  /// Opens this end without waiting for the peer's. Bytes written before wait until the peer opens
  /// its end.
  /// \param peer    the other side
  /// \param number  the number of the stream, equal on both sides
  /// \param chosen  see stream_options
  /// \throws weft::error (invalid_argument) when this number is open already, or the window is out
  ///        of range; std::bad_alloc
  explicit stream(const endpoint& peer, std::uint32_t number = 0, stream_options chosen = {});
  stream(stream&& other) noexcept = default;
  stream& operator=(stream&& other) noexcept;
  /// Closes this end. Without `finish` before, the peer's reads end with errc::peer_lost.
  ~stream();

  /// Writes as much as fits without waiting. The bytes are the caller's again at once.
  /// \param data the bytes, or a list of pieces, in order
  /// \return the number of bytes taken; 0: it would block. Errors: see above
  result<std::size_t> try_write(const_buffer data);
  result<std::size_t> try_write(std::span<const const_buffer> list);

  /// Reads the bytes that have arrived.
  /// \param into the buffer, or a list of pieces, filled in order
  /// \return the number of bytes read; 0: it would block. errc::closed: the peer has finished, and
  ///        all bytes were read. Other errors: see above
  result<std::size_t> try_read(mutable_buffer into);
  result<std::size_t> try_read(std::span<const mutable_buffer> list);

  /// Writes all bytes; waits for space in the window if needed. Large writes go directly from the
  /// caller's memory to the reader's. After an error or a stop, `written` tells how many bytes were
  /// taken.
  /// \param data unchanged by the caller until the end; a `list` must live until then, too
  stream_write_request write(const_buffer data) { return {state_.get(), data}; }
  stream_write_request write(std::span<const const_buffer> list) { return {state_.get(), list}; }

  /// Waits for at least one byte, then reads the bytes that have arrived. A stopped read leaves all
  /// bytes for the next read.
  /// \param into not touched by the caller until the end; a `list` must live until then, too
  /// \return the number of bytes; 0: the end of the stream (or `into` is empty)
  stream_read_request read(mutable_buffer into) { return {state_.get(), into}; }
  stream_read_request read(std::span<const mutable_buffer> list) { return {state_.get(), list}; }

  /// Fills `into`; waits for as many bytes as that takes. After a stop or an error `into` has the
  /// bytes that came: the text says how many, and `bytes_read` has grown by them.
  /// \param into not touched by the caller until the end; a `list` must live until then, too
  stream_exact_request read_exactly(mutable_buffer into) { return {state_.get(), into}; }
  stream_exact_request read_exactly(std::span<const mutable_buffer> list) {
    return {state_.get(), list};
  }

  /// Reads up to a delimiter, which is read, too. The bytes behind it are left to the next read of
  /// any kind. A read that ends otherwise, also by a stop, leaves all bytes to the next read.
  ///
  ///     std::string line;
  ///     for (;;) {
  ///       co_await s.read_until(line, "\n");
  ///
  /// \param line      gets the bytes in front of the delimiter in place of its former content, and
  ///        keeps its memory. Not touched by the caller until the end
  /// \param delimiter one character or more; copied
  /// \param limit     of the bytes in front of the delimiter: where there is none within these, the
  ///        read ends with errc::truncated
  /// \return when awaited: nothing, or the line
  /// \throws weft::error (invalid_argument) for an empty delimiter; std::bad_alloc
  task<void> read_until(std::string& line, std::string_view delimiter,
                        at_most limit = {std::size_t{1} << 20}) {
    return detail::read_line(state_, line, std::string(delimiter), limit);
  }
  task<std::string> read_until(std::string_view delimiter, at_most limit = {std::size_t{1} << 20}) {
    return detail::read_new_line(state_, std::string(delimiter), limit);
  }

  /// Writes a value of a type that endpoint::send_value can send, so that `read_value` finds where
  /// it ends: the number of its bytes, 8 bytes long, comes first. What a wire<T> writes is
  /// collected in memory before. A stop before a byte has left has no effect on the stream. A value
  /// cannot be taken back later: then the stop ends the writing side, and the peer's reads end with
  /// errc::peer_lost behind the bytes that have left.
  /// \param value an lvalue, and the elements of a span or string_view, live unchanged until the
  ///        end; an rvalue is moved into the task
  template <class T>
  task<void> write_value(T&& value) {
    using decayed = std::remove_cvref_t<T>;
    detail::require_value<decayed>();
    if constexpr (detail::is_borrowed<T>)
      return detail::write_borrowed_value<decayed>(state_, value);
    else
      return detail::write_owned_value<decayed>(state_, std::forward<T>(value));
  }

  /// Reads a value that `write_value` wrote. Memory grows with the bytes that come, not with the
  /// number that the peer announces; the value is made when all of them are there. A read that is
  /// stopped, or finds the value too long, leaves all bytes to the next read.
  /// \tparam T what the peer writes, or a type of the same bytes
  /// \param limit of the bytes of the value; a longer one ends the read with errc::truncated
  /// \return when awaited, the value
  /// \throws weft::error (protocol_error) bytes that are no T, of which nothing is left: the next
  ///        read begins behind them; what wire<T>::get throws, likewise; std::bad_alloc
  template <class T>
  task<T> read_value(at_most limit = {}) {
    detail::require_value<T>();
    static_assert(detail::kind_of<T> == detail::value_kind::bytes || !detail::has_elements<T> ||
                      detail::elements_of<T>::owns,
                  "a span or string_view has no memory of its own: read a vector or a string, or "
                  "pass the span as an argument");
    return detail::read_made_value<T>(state_, limit);
  }

  /// The same into an existing object: a vector or string keeps its memory, a span must have the
  /// length of the value.
  /// \param into  not touched by the caller until the end. After protocol_error it is unspecified
  /// \param limit as above
  template <class T>
  task<void> read_value(T&& into, at_most limit = {}) {
    using decayed = std::remove_cvref_t<T>;
    detail::require_value<decayed>();
    static_assert(detail::is_borrowed<T>,
                  "the object must live until the read has ended: pass a variable");
    return detail::read_into_value<decayed>(state_, into, limit);
  }

  /// Ends the writing side: the peer's reads end after the last byte. This end can still read.
  /// Never blocks; the bytes of a write in flight come before the end.
  void finish();

  /// Finishes and stops reading: a waiting read ends with errc::closed, bytes that still arrive are
  /// dropped, and the peer's writes end with errc::closed. Never blocks.
  void close();

  /// After `close`: ends when the peer has read all bytes and has finished, too. Then the number
  /// may be opened again. Fails with errc::closed when the peer closed before it had read all
  /// bytes, and with errc::peer_lost when the peer died.
  stream_closed_request closed() { return {state_.get()}; }

  std::uint64_t written() const;     ///< bytes taken from all writes so far
  std::uint64_t bytes_read() const;  ///< bytes handed to the reader so far
  std::uint32_t number() const;

  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  std::shared_ptr<proto::stream> state_;
};

}  // namespace weft
