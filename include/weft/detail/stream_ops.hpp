// SPDX-License-Identifier: Apache-2.0
// Requests and operations of streams. Applications do not name these types.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <weft/detail/message_ops.hpp>

namespace weft::proto {
class stream;
}

namespace weft::detail {

class stream_read_operation;
class stream_write_operation;
class stream_closed_operation;

struct [[nodiscard]] stream_read_request {
  using value_type = std::size_t;
  using operation_type = stream_read_operation;
  proto::stream* stream;
  buffer_list<mutable_buffer> into;
};

struct [[nodiscard]] stream_write_request {
  using value_type = void;
  using operation_type = stream_write_operation;
  proto::stream* stream;
  buffer_list<const_buffer> data;
};

struct [[nodiscard]] stream_closed_request {
  using value_type = void;
  using operation_type = stream_closed_operation;
  proto::stream* stream;
};

/// A read that waits, and the receive by which a message arrives in the reader's memory. The
/// members after `into` are touched only with the progress lock held.
class stream_read_operation : public operation {
 public:
  /// Pieces of the caller's list that a receive fills directly; bytes for later pieces are copied.
  static constexpr std::size_t most_parts = 8;

  stream_read_operation(const stream_read_request& r, complete_fn f) noexcept
      : operation(f), stream(r.stream), into(r.into) {}
  bool start() noexcept;
  void cancel() noexcept;
  std::size_t take() const noexcept { return got; }
  std::string explain() const;

  proto::stream* const stream;
  const buffer_list<mutable_buffer> into;
  std::size_t got = 0;     ///< bytes in the caller's memory
  std::size_t direct = 0;  ///< bytes of `into` that `parts` cover
  std::array<mutable_buffer, most_parts + 1> parts;
  std::optional<recv_operation> landing;
  bool cancel_requested = false;
};

/// A write that waits. The stream owns the sends that carry its bytes.
class stream_write_operation : public operation {
 public:
  stream_write_operation(const stream_write_request& r, complete_fn f) noexcept
      : operation(f), stream(r.stream), data(r.data) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;

  proto::stream* const stream;
  const buffer_list<const_buffer> data;
  std::size_t size = 0;   ///< bytes of `data`
  std::size_t begun = 0;  ///< of these, bytes passed to sends
  std::size_t taken = 0;  ///< of these, bytes that the sends no longer need
  bool cancel_requested = false;
};

/// Waits for the end of both directions.
class stream_closed_operation : public operation {
 public:
  stream_closed_operation(const stream_closed_request& r, complete_fn f) noexcept
      : operation(f), stream(r.stream) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;

  proto::stream* const stream;
  bool cancel_requested = false;
};

}  // namespace weft::detail
