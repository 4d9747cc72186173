// SPDX-License-Identifier: Apache-2.0
// What stream::read, read_exactly, write and closed return, and the operations that are made of it,
// with the functions that weft/operations/messages.hpp tells of. The memory of a read is not
// touched, and that of a write stays unchanged, until the end.
#pragma once

#include <cstddef>
#include <string>

#include <weft/coro/detail/request.hpp>
#include <weft/detail/stream_state.hpp>

namespace weft {

class stream_read_operation;
class stream_exact_operation;
class stream_write_operation;
class stream_closed_operation;

/// What `stream::read` returns; yields the bytes that came, 0 at the end of the stream.
struct [[nodiscard]] stream_read_request {
  using value_type = std::size_t;
  using operation_type = stream_read_operation;
  proto::stream* stream;
  detail::buffer_list<mutable_buffer> into;
};

/// What `stream::read_exactly` returns.
struct [[nodiscard]] stream_exact_request {
  using value_type = void;
  using operation_type = stream_exact_operation;
  proto::stream* stream;
  detail::buffer_list<mutable_buffer> into;
};

/// What `stream::write` returns.
struct [[nodiscard]] stream_write_request {
  using value_type = void;
  using operation_type = stream_write_operation;
  proto::stream* stream;
  detail::buffer_list<const_buffer> data;
};

/// What `stream::closed` returns.
struct [[nodiscard]] stream_closed_request {
  using value_type = void;
  using operation_type = stream_closed_operation;
  proto::stream* stream;
};

/// A read in flight. Ends when some bytes have come, or the last ones.
class stream_read_operation : public detail::stream_read_state {
 public:
  stream_read_operation(const stream_read_request& r, complete_fn f) noexcept
      : stream_read_state(r.stream, r.into, 1, 0, f) {}
  bool start() noexcept;
  void cancel() noexcept;
  std::size_t take() const noexcept { return got; }
  std::string explain() const;

 protected:
  using stream_read_state::stream_read_state;
};

/// A read that fills its memory.
class stream_exact_operation : public stream_read_operation {
 public:
  stream_exact_operation(const stream_exact_request& r, complete_fn f) noexcept
      : stream_read_operation(r.stream, r.into, r.into.size(), 0, f) {}
  void take() const noexcept {}
  std::string explain() const;
};

namespace detail {

class stream_fetch_operation;

/// Reads ahead: as `stream::read`, into memory of the stream, from which later reads take it.
struct [[nodiscard]] stream_fetch_request {
  using value_type = std::size_t;
  using operation_type = stream_fetch_operation;
  proto::stream* stream;
  std::size_t at_most;  ///< bytes, not 0
};

class stream_fetch_operation : public stream_read_operation {
 public:
  stream_fetch_operation(const stream_fetch_request& r, complete_fn f) noexcept
      : stream_read_operation(r.stream, mutable_buffer{}, 1, r.at_most, f) {}
};

}  // namespace detail

/// A write in flight. Ends when all bytes are the caller's again. The stream owns the sends that
/// carry them.
class stream_write_operation : public detail::stream_write_state {
 public:
  stream_write_operation(const stream_write_request& r, complete_fn f) noexcept
      : stream_write_state(r.stream, r.data, f) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;
};

/// A wait for the end of both directions.
class stream_closed_operation : public detail::stream_closed_state {
 public:
  stream_closed_operation(const stream_closed_request& r, complete_fn f) noexcept
      : stream_closed_state(r.stream, f) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;
};

}  // namespace weft
