// SPDX-License-Identifier: Apache-2.0
// read_some, write_all and others: reads and writes descriptors of any kind at their own position:
// standard input and output, pipes, sockets, terminals, files. They take bytes, or trivially
// copyable objects, and the elements of vectors, strings and spans of them, as a file does
// (file.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <weft/context.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/value_bytes.hpp>
#include <weft/detail/write_owned.hpp>
#include <weft/message.hpp>

namespace weft {

/// Waits for data, then reads what there is, up to the size of the buffer. Blocks neither the loop
/// of the context nor any thread of the application, and changes no flag of the descriptor, which
/// may be shared with other processes: a terminal stays as it was
/// (docs/adr/0036-files-and-descriptors.md).
///
///     while (std::size_t n = co_await read_some(ctx, STDIN_FILENO, memory)) ...
///
/// \param ctx  outlives the read
/// \param fd   stays the caller's, open until the end. Two reads at once of one descriptor get the
///        bytes in no certain order.
/// \param into the caller's again at the end, also after a stop
/// \return the number of bytes; 0: the end (or `into` is empty)
/// \throws weft::error  system: with the descriptor, the system's reason and the cure; stopped,
///         without loss of data; closed: the context ends
task<std::size_t> read_some(context& ctx, int fd, mutable_buffer into);
template <class T>
task<std::size_t> read_some(context& ctx, int fd, T&& into) {
  return read_some(ctx, fd, detail::bytes_to_fill<T>(into));
}

/// Waits for room, then writes what fits, at least one byte. Otherwise as read_some. A pipe or
/// socket that no process reads any more fails with EPIPE; a pipe also raises SIGPIPE, which a
/// program ignores by std::signal(SIGPIPE, SIG_IGN).
/// \param ctx  outlives the write
/// \param fd   stays the caller's, open until the end
/// \param data unchanged by the caller until the end
/// \return the number of bytes; 0: `data` is empty
task<std::size_t> write_some(context& ctx, int fd, const_buffer data);
template <class T>
task<std::size_t> write_some(context& ctx, int fd, T&& data) {
  static_assert(detail::is_borrowed<T>,
                "the object must live until the write has ended: pass a variable");
  return write_some(ctx, fd, detail::bytes_to_write(data));
}

/// Writes all of it. After an error or a stop, a part may be written.
/// \param ctx, fd as above
/// \param data unchanged by the caller until the end; an rvalue that owns its elements is moved
task<void> write_all(context& ctx, int fd, const_buffer data);
template <class T>
task<void> write_all(context& ctx, int fd, T&& data) {
  return detail::write_owned<T>(
      data, [&ctx, fd](const_buffer bytes) { return write_all(ctx, fd, bytes); });
}

/// Fills the whole buffer, or object, or all elements that `into` has.
/// \throws weft::error (truncated) when the data ends before
task<void> read_exactly(context& ctx, int fd, mutable_buffer into);
template <class T>
task<void> read_exactly(context& ctx, int fd, T&& into) {
  return read_exactly(ctx, fd, detail::bytes_to_fill<T>(into));
}

/// Reads text from a descriptor line by line. It reads ahead, so nothing else should read the
/// descriptor. One coroutine at a time.
class line_reader {
 public:
  /// \param ctx     outlives this object
  /// \param fd      stays the caller's
  /// \param longest the most bytes of a line
  line_reader(context& ctx, int fd, std::size_t longest = std::size_t{1} << 20);

  /// \return the next line without its newline, also a last one that has none; nothing: the end
  /// \throws weft::error  truncated: the line is longer than allowed; others as read_some. A stop
  ///         loses nothing.
  task<std::optional<std::string>> next();

 private:
  context* ctx_;
  int fd_;
  std::size_t longest_;
  std::string ahead_;         // what was read
  std::size_t taken_ = 0;     // the end of the last line in it
  std::size_t searched_ = 0;  // no newline between there and here
  bool ended_ = false;
};

}  // namespace weft
