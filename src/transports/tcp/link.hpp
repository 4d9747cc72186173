// SPDX-License-Identifier: Apache-2.0
// The sending end of a connection.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/tcp/wire.hpp"

namespace weft::transports::tcp {

class pair;

/// Payloads up to this size are copied next to their header, which is cheaper than a further piece
/// in the write.
inline constexpr std::size_t longest_copied = 8 * 1024;

/// A rest of a message of this size or more goes by put, as far as that is possible: in few, long
/// writes, and lent if the receiver is on the same host. docs/performance.md, "The limits of TCP".
inline constexpr std::size_t shortest_put = 192 * 1024;
/// So much of a message that will be lent goes with its request: it hides the handshake.
inline constexpr std::size_t beginning_of_lent = 16 * 1024;
/// The shortest message whose rest is then long enough.
inline constexpr std::size_t shortest_lent = shortest_put + beginning_of_lent;

/// Bytes that were taken and not written. Grows beyond `usual` only when the caller demands it. A
/// member of the link.
class send_buffer {
 public:
  static constexpr std::size_t usual = 64 * 1024;

  std::size_t size() const noexcept { return end_ - begin_; }
  std::span<const std::byte> waiting() const noexcept { return {memory_.get() + begin_, size()}; }
  /// Memory for n more bytes; null: no memory, or more than `usual` and not `beyond`.
  std::byte* append(std::size_t n, bool beyond = false) noexcept;
  void written(std::size_t n) noexcept {
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  /// Frees the memory if no bytes wait.
  void rest() noexcept {
    if (size() == 0) memory_.reset();
    if (!memory_) capacity_ = 0;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

/// Writes to a connection. The first frame after a pass leaves at once; those that follow it before
/// the next pass gather and leave together. If several frames followed the last pass, the first one
/// gathers, too, provided that a progress thread ensures that it leaves although the application
/// may compute now. The announcement of a long payload leaves with it. Long payloads are written
/// from the sender's memory. Owned by the protocol layer's peer; the pair outlives it. Progress
/// lock held only.
class stream_link final : public link {
 public:
  explicit stream_link(pair& with) noexcept;
  ~stream_link() override;

  std::string opened(wireup_message answer) override;
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override;
  post send_contiguous(frame_header header, const frame_extension* extension,
                       const std::byte* data) noexcept override;
  post send_large(const frame_header& header, const frame_extension* extension, gather& data,
                  std::uint64_t left) noexcept override;
  bool holds() const noexcept override { return held_left_ != 0 && !putting_; }
  void let_go() noexcept override;

  // A write is a part of the stream, in pieces with a header each. Nothing can be read.
  post put(gather data, remote_address to, std::size_t size,
           std::uint64_t cookie) noexcept override;
  bool prefers_put(std::size_t size) const noexcept override { return size >= shortest_put; }
  std::size_t longest_beginning(std::size_t size) const noexcept override;
  std::optional<remote_address> expect(mutable_buffer into) noexcept override;
  void withdraw(remote_address what) noexcept override;

  bool unwritten() const noexcept override;
  // The peer's kernel has all that was written, and wakes a sleeping thread there.
  bool unconsumed() const noexcept override { return false; }
  bool wake_peer() noexcept override {
    flush();
    return false;
  }
  std::string trouble() const override;

  /// Writes the gathered frames, as far as the socket takes them.
  void flush() noexcept;
  /// The socket takes no more for now; the pair tries again.
  bool blocked() const noexcept { return blocked_; }
  /// Tries again. \return whether anything was written
  bool retry() noexcept;
  /// The connection is made, or has ended.
  void connection_changed() noexcept;
  /// Writes the send buffer and the held bytes, as far as the socket takes them. \return whether
  /// nothing is left
  bool write_rest() noexcept;
  /// As write_rest, at the link's end; the transport takes what is left.
  void leave_rest() noexcept;
  /// Frees memory that only traffic needs.
  void rest() noexcept { send_buffer_.rest(); }

  /// So many writes that the peer lends have been read: an answer is due.
  void owe_answers(std::uint32_t n) noexcept;
  /// The peer has read the oldest put that was lent to it. \return false: it cannot have
  bool was_read() noexcept;
  /// Whether the peer may still read memory of the application that was lent.
  bool has_lent() const noexcept { return !lent_.empty(); }

  bool listed = false;  ///< the transport's: it waits for a flush

 private:
  /// A put: what has not been cut into pieces yet. The piece that is being written is in held_.
  struct rest_of_put {
    gather data;
    remote_address to;
    std::size_t left = 0;
    std::uint64_t cookie = 0;
    bool lent = false;
  };

  bool ready() const noexcept;
  bool may_lend() const noexcept;
  bool can_lend(std::size_t size) noexcept;
  bool next_piece_of_put() noexcept;
  void end_put() noexcept {
    put_ = {};
    putting_ = false;
  }
  void tell_of_put() noexcept;
  bool add_answers() noexcept;
  ssize_t write_once(std::size_t& wanted) noexcept;
  post not_now() noexcept;
  std::byte* room_for(std::size_t n) noexcept;
  std::byte* append_head(const frame_header& header, const frame_extension* extension,
                         std::size_t room) noexcept;
  post leave() noexcept;
  void copy_held() noexcept;
  bool write() noexcept;
  void took(std::size_t n) noexcept;
  post append_frame(const frame_header& header, const frame_extension* extension,
                    gather& data) noexcept;
  void notify_writable() noexcept;

  pair& pair_;
  const std::uint32_t& passes_;   // of the transport
  std::uint32_t last_write_ = 0;  // the pass in which something was written last
  std::uint32_t last_frame_ = 0;  // the pass after which the last frame was posted
  std::uint32_t frames_ = 0;      // frames posted after that pass
  bool expects_burst_ = false;
  send_buffer send_buffer_;
  gather held_;  // follows the bytes in the send buffer
  std::size_t held_left_ = 0;
  rest_of_put put_;
  bool putting_ = false;
  std::vector<std::uint64_t> lent_;  // cookies of lent puts that are not read, oldest first
  std::uint32_t owed_ = 0;           // of the peer's writes, which it lends, so many have been read
  std::uint64_t written_ = 0;        // bytes
  std::size_t let_go_ = 0;  // lent puts that count no more, and that the peer still answers
  bool blocked_ = false;
  bool room_wanted_ = false;  // a frame was refused, or memory is held: on_writable will tell
};

}  // namespace weft::transports::tcp
