// SPDX-License-Identifier: Apache-2.0
// The half of a stream that writes.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include <weft/operations/streams.hpp>

#include "proto/frames/stream_wire.hpp"
#include "proto/services/services.hpp"

namespace weft::proto {

class stream;

/// Sends bytes as messages with one tag, no more than the reader allows. Bytes that can be taken at
/// once leave in frames, copied by the transport; a write that waits sends *pieces* out of the
/// caller's memory, a few at a time, which end like any large message. The object stores no bytes.
///
/// Owned by its stream. Progress lock held only, but for `post`: see stream_reader.
class stream_writer final : public executor {
 public:
  using write_operation = stream_write_operation;

  stream_writer(const protocol_services& services, stream& owner, stream_way way) noexcept;

  /// \return true if the operation has ended
  bool start(write_operation& op) noexcept;
  void cancel(write_operation& op) noexcept;

  /// Takes the bytes that can leave at once. 0: `status` tells why
  std::size_t put(const detail::buffer_list<const_buffer>& data) noexcept;

  /// ok: there may be room later; closed: there is no reader, or this end has finished
  errc status() const noexcept;
  const char* cause() const noexcept { return cause_; }
  /// The result for all written bytes, once over: ok if the reader had all of them.
  errc verdict() const noexcept;
  std::uint64_t written() const noexcept { return written_; }

  /// Tells the reader that this was all or (false) that it was not. The first call counts.
  void finish(bool all) noexcept;
  bool finished() const noexcept { return end_ != ending::not_yet; }
  bool over() const noexcept;

  /// Takes the allowances of the reader. \param wait waits for further ones, too
  void listen(bool wait) noexcept;

  void post(operation& ended) noexcept override;

 private:
  static constexpr std::size_t most_parts = 8;

  struct piece {
    std::array<const_buffer, most_parts> parts;
    std::optional<send_operation> sending;
    std::size_t at = 0;  ///< in the write
    std::size_t size = 0;
    bool in_flight = false;
  };
  enum class ending : std::uint8_t { not_yet, whole, dropped };

  errc fate() const noexcept;
  std::size_t room() const noexcept;
  bool put_one(const_buffer data) noexcept;
  bool any_in_flight() const noexcept;
  std::size_t next_piece(const write_operation& op) const noexcept;
  void advance() noexcept;
  void send_piece(piece& p, write_operation& op, std::size_t size) noexcept;
  void ended(piece& p) noexcept;
  void take_back_last() noexcept;
  bool write_is_over() const noexcept;
  errc outcome(const write_operation& op) const noexcept;
  void say_end() noexcept;
  void heard() noexcept;
  void fail(errc why, const char* cause) noexcept;

  const protocol_services& services_;
  stream& owner_;
  const std::uint64_t data_tag_;
  const std::uint64_t allowance_tag_;

  std::array<piece, stream_pieces> pieces_;
  write_operation* writing_ = nullptr;
  std::uint64_t written_ = 0;  // bytes that no longer belong to the caller
  std::uint64_t sent_ = 0;     // units

  stream_allowance told_;  // the reader's last allowance
  stream_allowance news_;
  std::optional<recv_operation> hearing_;
  bool hearing_in_flight_ = false;
  bool told_first_ = false;
  bool told_last_ = false;

  ending end_ = ending::not_yet;
  std::optional<send_operation> end_sending_;
  bool end_in_flight_ = false;
  bool end_said_ = false;
  errc failure_ = errc::ok;
  // An operation that has ended reads it without the progress lock.
  std::atomic<const char*> cause_{nullptr};
};

}  // namespace weft::proto
