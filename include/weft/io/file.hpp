// SPDX-License-Identifier: Apache-2.0
// file: reads and writes files without blocking the loop of a context.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/context.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/value_bytes.hpp>
#include <weft/detail/write_owned.hpp>
#include <weft/message.hpp>
#include <weft/operations/files.hpp>

namespace weft {

class group;

/// An open file. Its operations use io_uring where the host allows it, otherwise a few threads of
/// the context (docs/adr/0036-files-and-descriptors.md), so the thread that awaits them goes on
/// with messages. What is in the page cache is read at once, without a suspension, by io_uring.
///
///     weft::file f = co_await weft::file::open(ctx, "data", O_RDONLY);
///     std::size_t n = co_await f.read_at(4096, buffer);
///
/// Reads and writes take bytes, or what `send_value` sends as bytes: trivially copyable objects,
/// and the elements of vectors, strings and spans of them. Offsets and results count bytes.
///
/// Several operations may be pending at once, also on the same file. Member functions may be called
/// from any thread; moves and `close` not beside another call. A buffer is the caller's again when
/// the operation has ended, also after a stop: a call that the kernel has begun and cannot take
/// back is waited for, and its result counts.
///
/// Operations throw weft::error: system, with the path, the system's reason and the cure; stopped;
/// closed: the context ends; invalid_argument: no file is open, or the offset is out of range.
class file {
 public:
  file() noexcept;  ///< no file
  file(file&& other) noexcept;
  file& operator=(file&& other) noexcept;
  /// Closes the file, which may block for a network's file system. All operations have ended
  /// before.
  ~file();

  /// \param ctx   outlives the file
  /// \param path  relative to the working directory of the moment
  /// \param flags as for open(2): O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_TRUNC,
  ///        O_APPEND and others; O_CLOEXEC is added. A FIFO is not waited for: a FIFO without a
  ///        reader cannot be opened for writing.
  /// \param mode  the permissions of a new file, before the process's umask
  static task<file> open(context& ctx, std::filesystem::path path, int flags, unsigned mode = 0666);

  /// The same by all members of a group, a collective: rank 0 of the group opens the file first,
  /// and makes it or cuts it off, if the flags say so. Then the others open it, without O_CREAT,
  /// O_EXCL and O_TRUNC, so none of them cuts off what another one has written. The file has to be
  /// in a folder that all members see.
  /// \param members the group
  /// \param path    as above, as are the others; equal at all members
  /// \param flags   as above
  /// \param mode    as above
  /// \throws weft::error  the error of rank 0, at all members; or a member's own; or as a
  /// collective
  static task<file> open(group members, std::filesystem::path path, int flags,
                         unsigned mode = 0666);

  /// Reads what there is, up to the size of the buffer.
  /// \param offset from the beginning of the file
  /// \param into   the caller's again at the end
  /// \return the number of bytes; 0: the file ends at or before `offset` (or `into` is empty)
  file_request<std::size_t> read_at(std::uint64_t offset, mutable_buffer into) {
    return {state_.get(), detail::file_job::call::read, offset, into.data(), into.size()};
  }
  /// \return the number of bytes written: all, but where a disk gets full or a limit is reached. At
  ///        the limit on file size (ulimit -f) the kernel also raises SIGXFSZ, which a program
  ///        ignores by std::signal(SIGXFSZ, SIG_IGN)
  file_request<std::size_t> write_at(std::uint64_t offset, const_buffer data) {
    return {state_.get(), detail::file_job::call::write, offset,
            const_cast<std::byte*>(data.data()), data.size()};
  }

  template <class T>
  file_request<std::size_t> read_at(std::uint64_t offset, T&& into) {
    return read_at(offset, detail::bytes_to_fill<T>(into));
  }
  template <class T>
  file_request<std::size_t> write_at(std::uint64_t offset, T&& data) {
    static_assert(detail::is_borrowed<T>,
                  "the object must live until the write has ended: pass a variable");
    return write_at(offset, detail::bytes_to_write(data));
  }

  /// Fills the whole buffer, or object, or all elements that `into` has.
  /// \throws weft::error (truncated) when the file ends before
  task<void> read_exactly(std::uint64_t offset, mutable_buffer into);
  template <class T>
  task<void> read_exactly(std::uint64_t offset, T&& into) {
    return read_exactly(offset, detail::bytes_to_fill<T>(into));
  }

  /// Writes all of it.
  /// \param offset from the beginning of the file
  /// \param data   unchanged by the caller until the end; an rvalue that owns its elements is moved
  task<void> write_exactly(std::uint64_t offset, const_buffer data);
  template <class T>
  task<void> write_exactly(std::uint64_t offset, T&& data) {
    return detail::write_owned<T>(
        data, [this, offset](const_buffer bytes) { return write_exactly(offset, bytes); });
  }

  file_request<std::uint64_t> size() { return {state_.get(), detail::file_job::call::size}; }
  /// Cuts the file off, or extends it with zeros.
  file_request<void> resize(std::uint64_t bytes) {
    return {state_.get(), detail::file_job::call::truncate, bytes};
  }
  /// Ends when all that was written is on the disk.
  file_request<void> sync() { return {state_.get(), detail::file_job::call::sync}; }

  /// Closes the file; it is no file from the beginning on, whatever the result. Cannot be stopped.
  task<void> close();

  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Stays this object's.
  /// \throws weft::error (invalid_argument) if no file is open, as `path` does
  int descriptor() const;
  const std::string& path() const;

 private:
  explicit file(std::unique_ptr<detail::file_state> s) noexcept;
  std::unique_ptr<detail::file_state> state_;
};

namespace detail {

/// \param ctx       outlives the call
/// \param path      relative to the working directory of the moment
/// \param container, resize as of sized_target
/// \param element   bytes of one
task<void> read_whole_file(context& ctx, std::filesystem::path path, void* container,
                           bool (*resize)(void*, std::size_t, mutable_buffer&),
                           std::size_t element);

}  // namespace detail

/// The whole contents of a file, also of one without a size, as those in /proc.
/// \tparam C   a vector or string of trivially copyable elements
/// \param ctx  outlives the call
/// \param path relative to the working directory of the moment
/// \throws weft::error as file::open; truncated: the file ends within an element; out_of_memory
template <class C = std::vector<std::byte>>
task<C> read_file(context& ctx, std::filesystem::path path) {
  static_assert(detail::kind_of<C> == detail::value_kind::elements && detail::elements_of<C>::owns,
                "take a std::string, or a vector of trivially copyable elements");
  C all;
  co_await detail::read_whole_file(ctx, std::move(path), &all, &detail::resize_elements<C>,
                                   sizeof(detail::element_t<C>));
  co_return all;
}

/// Makes a file with these bytes, or replaces the contents of an existing one. A reader may find a
/// part of them meanwhile.
/// \param ctx  outlives the call
/// \param path relative to the working directory of the moment
/// \param data as of file::write_exactly
/// \throws weft::error as file::open
task<void> write_file(context& ctx, std::filesystem::path path, const_buffer data);
template <class T>
task<void> write_file(context& ctx, std::filesystem::path path, T&& data) {
  return detail::write_owned<T>(data, [&ctx, path = std::move(path)](const_buffer bytes) {
    return write_file(ctx, path, bytes);
  });
}

}  // namespace weft
