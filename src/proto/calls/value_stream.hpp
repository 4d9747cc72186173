// SPDX-License-Identifier: Apache-2.0
// A call that is answered by a stream of values, on the side that calls.
#pragma once

#include <memory>
#include <utility>

#include <weft/detail/call_stream_ops.hpp>

#include "proto/calls/call_table.hpp"

namespace weft::proto {

/// A call and the values that have come and wait for the reader, as messages. The called side sends
/// most_items_ahead of them, and then as many as call_more allows.
///
/// Shared by the reader's item_source and, while the call is in flight, by itself. The reader is
/// one chain; all else with the progress lock held.
class value_stream final : public detail::call_operation,
                           public std::enable_shared_from_this<value_stream> {
 public:
  value_stream(detail::peer_name to, std::shared_ptr<peer> keep, am number, detail::call_bytes args,
               const detail::call_signature* types) noexcept
      : call_operation(to, number, &last_part_ended, types),
        args_(std::move(args)),
        with_(std::move(keep)) {}

  // --- the reader -------------------------------------------------------------------------------

  bool start(detail::next_item_operation& op) noexcept;
  void cancel(detail::next_item_operation& op) noexcept;
  inbound_message*& taken() noexcept { return taken_; }
  const std::shared_ptr<peer>& with() const noexcept { return with_; }
  /// The reader needs no more values.
  void leave() noexcept;

  // --- the call table ---------------------------------------------------------------------------

  /// A value begins to come. \return false: it is one more than the called side was allowed
  bool expect_item() noexcept { return allowed_ != 0 && allowed_-- != 0; }
  void on_item(inbound_message& m) noexcept;
  /// Nothing of the call is in flight any more. May destroy this object.
  void ended() noexcept;

 private:
  detail::buffer_list<const_buffer> arguments() const noexcept override { return args_.bytes(); }
  room place(std::uint64_t size, const_buffer) noexcept override {
    return {mutable_buffer(), size == 0 ? errc::ok : errc::refused};
  }
  value_stream* stream() noexcept override { return this; }

  static void last_part_ended(operation& op) noexcept;
  bool begin(const detail::next_item_operation& first) noexcept;
  bool serve(detail::next_item_operation& op) noexcept;
  void take_first() noexcept;

  const detail::call_bytes args_;
  const std::shared_ptr<peer> with_;
  std::shared_ptr<value_stream> self_;  // while the call is in flight
  bool begun_ = false;
  bool over_ = false;  // the call has ended; its status is final
  call_line waiting_;
  inbound_message* taken_ = nullptr;  // the value that the reader receives now
  std::uint32_t allowed_ = most_items_ahead;
  std::uint32_t to_allow_ = 0;
  detail::next_item_operation* reader_ = nullptr;  // waits
};

}  // namespace weft::proto
