// SPDX-License-Identifier: Apache-2.0
// stream: ordered bytes between two peers, in both directions; a pipe over whatever reaches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/detail/stream_ops.hpp>
#include <weft/endpoint.hpp>
#include <weft/error.hpp>

namespace weft {

/// What one end of a stream chooses. The two ends need not choose the same.
struct stream_options {
  /// How far the peer may write ahead of this end's reading, in bytes; 4 KiB to 1 GiB. A quarter of
  /// it is the longest piece in which a large write travels.
  std::size_t window = std::size_t{2} << 20;
};

/// One end of a stream. Opened by both peers under the same number, in any order, at any time; each
/// number is a stream of its own. Nothing is shared with other traffic but the way: what is not
/// read stays within the window, and blocks no other stream. With `self` (a rank's endpoint to
/// itself) the first that is opened and the second one are the two ends.
///
///     stream s(peer, 7);                        // open
///     co_await s.write(data);                   // put, or try_write: what can be taken at once
///     std::size_t n = co_await s.read(memory);  // get, or try_read
///     s.finish();                               // the peer reads 0 bytes after the last one
///     s.close();
///     co_await s.closed();                      // it has read all of it
///
/// Bytes move while the application computes, as messages do; `try_write` and `try_read` also make
/// a pass (progress). One thing at a time reads and one writes, on any thread; the two do not
/// disturb each other. A stream must not outlive its context, and nothing may be in flight on it
/// when it is destroyed or moved to. Its messages have tags of weft's own (first_reserved_tag),
/// which no receive of the application's takes.
///
/// How things end, for `read`, `write` and the others alike:
///   closed     in good order: `try_read` is at the end of the stream, or a write has no reader
///              any more, since this end has finished or the peer's has closed
///   peer_lost  not in good order: bytes may be missing, since the peer died, or let go of its end
///              without `finish`, or the endpoint was closed first
///   stopped    asked by a stop token, or a deadline; nothing is lost, `written` and the next
///              `read` go on where it was
class stream {
 public:
  /// None: all but assignment fails with errc::invalid_argument.
  stream() = default;

  /// Opens this end. Does not wait for the peer's: what is written before waits for it.
  /// \param peer    the other side
  /// \param number  which of the streams to that peer; both sides say the same
  /// \param chosen  see stream_options
  /// \throws weft::error (invalid_argument) when this number is open already, or for a window that
  ///         is out of range; std::bad_alloc
  explicit stream(const endpoint& peer, std::uint32_t number = 0, stream_options chosen = {});
  stream(stream&& other) noexcept = default;
  stream& operator=(stream&& other) noexcept;
  /// Lets go of this end. Without `finish`, the peer learns that something is missing.
  ~stream();

  /// Writes what can be taken without waiting. The bytes are the caller's again at once.
  /// \param data where from; also a list of pieces, in order
  /// \return how many bytes were taken; 0: it would block. A failure: see above
  result<std::size_t> try_write(const_buffer data);
  result<std::size_t> try_write(std::span<const const_buffer> list);

  /// Reads what is there.
  /// \param into where to; also a list of pieces, filled in order
  /// \return how many bytes were read; 0: it would block. errc::closed: the peer has finished, and
  ///         all of it was read. Another failure: see above
  result<std::size_t> try_read(mutable_buffer into);
  result<std::size_t> try_read(std::span<const mutable_buffer> list);

  /// Writes all of it; waits for room where that is needed. Large ones go out of the caller's
  /// memory into the reader's. When it fails or is stopped, `written` tells how much has gone.
  /// \param data unchanged by the caller until the end; a `list` must live until then, too
  detail::stream_write_request write(const_buffer data) { return {state_.get(), data}; }
  detail::stream_write_request write(std::span<const const_buffer> list) {
    return {state_.get(), list};
  }

  /// Reads what is there, and waits until that is at least one byte. Stopped, it leaves everything
  /// for the next one.
  /// \param into not touched by the caller until the end; a `list` must live until then, too
  /// \return how many bytes; 0: the end of the stream (or `into` is empty)
  detail::stream_read_request read(mutable_buffer into) { return {state_.get(), into}; }
  detail::stream_read_request read(std::span<const mutable_buffer> list) {
    return {state_.get(), list};
  }

  /// Nothing more will be written here; the peer's reads come to an end behind the last byte, and
  /// this end can still read. Never blocks; a write that is in flight comes before the end.
  void finish();

  /// Finishes, and reads no more: a read that waits ends with errc::closed, what still comes is
  /// dropped, and the peer's writes end with errc::closed. Never blocks.
  void close();

  /// After `close`: ends when the peer has read everything up to the end, and has finished, too.
  /// Then the number may be opened again. Fails with errc::closed when the peer closed before it
  /// had read all, with errc::peer_lost when it died.
  detail::stream_closed_request closed() { return {state_.get()}; }

  std::uint64_t written() const;     ///< bytes of all writes that were taken so far
  std::uint64_t bytes_read() const;  ///< bytes that were handed to the reader so far
  std::uint32_t number() const;

  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  std::shared_ptr<proto::stream> state_;
};

}  // namespace weft
