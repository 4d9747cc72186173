// SPDX-License-Identifier: Apache-2.0
// The half of a stream that reads.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <weft/operations/streams.hpp>

#include "proto/frames/stream_wire.hpp"
#include "proto/services/services.hpp"
#include "proto/streams/read_ahead.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

class messenger;
class peer;
class stream;
struct inbound_message;

/// Takes messages out of matching one after the other. Nothing is posted while no read waits:
/// messages are then unexpected, and within the window. A read that waits posts a receive into the
/// caller's memory and, behind it, into *staging*, which is as long as the longest message: so no
/// message is ever truncated, and a small read leaves the rest of a message there.
///
/// If a read is stopped after its message has begun to arrive, the message moves to staging with
/// the bytes received so far, and goes on there: the caller gets the memory back at once, and
/// nothing is lost. Only while a link writes the message by itself the read goes on to its end.
///
/// Owned by its stream. Progress lock held only, but for `post`: the object is the executor of its
/// own operations, so it learns of their ends on the polling thread, and goes on without the
/// application.
///
/// A read *ahead* fetches bytes into memory of the reader's own, where the end of a line or of a
/// value is looked for. All other reads take these bytes first.
class stream_reader final : public executor {
 public:
  using read_operation = stream_read_operation;

  /// \throws std::bad_alloc
  stream_reader(const protocol_services& services, stream& owner, stream_way way,
                std::size_t window);

  /// Grants the first window.
  void open() noexcept { grant(); }

  /// \return true if the operation has ended
  bool start(read_operation& op) noexcept;
  void cancel(read_operation& op) noexcept;

  /// Takes the bytes that are there. 0: `status` tells why
  std::size_t get(const detail::buffer_list<mutable_buffer>& into) noexcept {
    const std::size_t n = unread(into);
    return n + fill(into, n, true);
  }

  /// Swaps the bytes that were read ahead with those of a borrower, which searches them without the
  /// progress lock, and swaps them back. No read may begin meanwhile.
  /// \return false: a read is under way, nothing has happened
  bool swap_ahead(read_ahead& with) noexcept {
    if (!reading_) ahead_.swap(with);
    return !reading_;
  }

  /// ok: there may be more; closed: all was read
  errc status() const noexcept;
  /// A sentence about the status; null: the reason is this end's close, or the peer's end, which
  /// the messenger explains.
  const char* cause() const noexcept {
    return at_end() ? "the peer has finished, and all of it was read" : cause_.load();
  }
  std::uint64_t handed_out() const noexcept { return handed_out_ - ahead_.size(); }

  /// The application reads no more: further bytes are dropped, up to the end.
  void leave() noexcept;
  bool over() const noexcept;

  void post(operation& ended) noexcept override;

 private:
  std::size_t staged() const noexcept { return staged_end_ - staged_begin_; }
  /// At the end, which a read reports by 0 bytes. Bytes dropped after this end has closed do not
  /// count.
  bool at_end() const noexcept { return ended_ && !left_; }
  /// The status of reads when the bytes that were read ahead are used up.
  errc fate() const noexcept;
  /// Whether a read has what it waits for, or will not get it.
  bool is_over(const read_operation& op) const noexcept {
    return op.got >= op.least || at_end() || fate() != errc::ok;
  }
  errc outcome(const read_operation& op) const noexcept;
  std::size_t fill(const detail::buffer_list<mutable_buffer>& into, std::size_t offset,
                   bool may_stage) noexcept;
  std::size_t unread(const detail::buffer_list<mutable_buffer>& into) noexcept;
  std::size_t unstage(const detail::buffer_list<mutable_buffer>& into, std::size_t offset) noexcept;
  void land_in_staging() noexcept;
  std::size_t landed(const recv_operation& r, std::size_t room) noexcept;
  bool await_message(read_operation& op) noexcept;
  void goes_on(bool counted) noexcept;
  void give_back(errc status) noexcept;
  void move_to_staging(inbound_message& m, read_operation& op) noexcept;
  void discard() noexcept;
  protocol_coroutine discard_later(std::shared_ptr<stream> keep) noexcept;
  void fail(errc why, const char* cause) noexcept;
  void grant() noexcept;
  void tell() noexcept;

  const protocol_services& services_;
  stream& owner_;
  const std::uint64_t data_tag_;
  const std::uint64_t allowance_tag_;
  const std::uint32_t longest_;

  std::unique_ptr<std::byte[]> staging_;  // longest_ bytes; untouched pages cost nothing
  std::size_t staged_begin_ = 0, staged_end_ = 0;
  read_ahead ahead_;                   // in front of what is in staging
  std::optional<recv_operation> own_;  // receives into staging, or (having left) into no memory
  bool own_in_flight_ = false;
  read_operation* reading_ = nullptr;  // waits: for its own landing, or for own_

  std::uint64_t received_ = 0;      // bytes
  std::uint64_t handed_out_ = 0;    // of these, to reads, also those ahead
  std::uint64_t came_ = 0;          // units of all messages so far
  std::uint64_t staged_units_ = 0;  // of these, those of the message in staging
  std::uint64_t allowed_ = 0;       // units that the peer was allowed
  // Written with the progress lock held; an operation that has ended explains itself without it.
  std::atomic<bool> ended_{false};  // the end was read
  std::atomic<bool> left_{false};
  bool discarding_later_ = false;
  errc failure_ = errc::ok;
  std::atomic<const char*> cause_{nullptr};  // as ended_

  stream_allowance news_;
  std::optional<send_operation> telling_;
  bool telling_in_flight_ = false;
  bool tell_again_ = false;
  bool told_last_ = false;
};

}  // namespace weft::proto
