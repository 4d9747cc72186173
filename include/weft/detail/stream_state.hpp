// SPDX-License-Identifier: Apache-2.0
// What weft's own layers know of reads and writes of streams; weft/operations/streams.hpp has what
// users know of them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <weft/operations/messages.hpp>

namespace weft::proto {
class stream;
}

namespace weft::detail {

/// A read that waits, and the receive by which a message arrives in the reader's memory. The
/// members after `into` are touched only with the progress lock held.
class stream_read_state : public operation {
 public:
  /// Pieces of the caller's list that a receive fills directly; bytes for later pieces are copied.
  static constexpr std::size_t most_parts = 8;

  proto::stream* const stream;
  buffer_list<mutable_buffer> into;  ///< of a read ahead, set by the reader
  const std::size_t least;           ///< the read waits for so many bytes
  const std::size_t ahead;           ///< not 0: so many at most, into memory of the reader's own
  std::size_t got = 0;               ///< bytes that have come
  std::size_t direct = 0;            ///< bytes of `into`, behind `got`, that `parts` cover
  std::array<mutable_buffer, most_parts + 1> parts;
  std::optional<recv_operation> landing;
  bool cancel_requested = false;

 protected:
  stream_read_state(proto::stream* s, const buffer_list<mutable_buffer>& memory,
                    std::size_t at_least, std::size_t fetched, complete_fn f) noexcept
      : operation(f), stream(s), into(memory), least(at_least), ahead(fetched) {}
  ~stream_read_state() = default;
};

/// A write that waits.
class stream_write_state : public operation {
 public:
  proto::stream* const stream;
  const buffer_list<const_buffer> data;
  std::size_t size = 0;   ///< bytes of `data`
  std::size_t begun = 0;  ///< of these, bytes passed to sends
  std::size_t taken = 0;  ///< of these, bytes that the sends no longer need
  bool cancel_requested = false;

 protected:
  stream_write_state(proto::stream* s, const buffer_list<const_buffer>& bytes,
                     complete_fn f) noexcept
      : operation(f), stream(s), data(bytes) {}
  ~stream_write_state() = default;
};

/// A wait for the end of both directions.
class stream_closed_state : public operation {
 public:
  proto::stream* const stream;
  bool cancel_requested = false;

 protected:
  stream_closed_state(proto::stream* s, complete_fn f) noexcept : operation(f), stream(s) {}
  ~stream_closed_state() = default;
};

}  // namespace weft::detail
