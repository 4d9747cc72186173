// SPDX-License-Identifier: Apache-2.0
// Frames to one peer: into its receive queue.
#pragma once

#include <optional>
#include <vector>

#include <weft/transport/transport.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "transports/qdma/peer.hpp"
#include "transports/qdma/transfers.hpp"

namespace weft::transports::qdma {

class pair;

/// Posts frames. A frame that fits into a slot is a message of the peer's queue, written in place;
/// of a longer one the queue gets the header, and its payload lies in the stage of this link, where
/// the peer reads it. Owned by the protocol layer's peer; the pair outlives it. Progress lock held
/// only.
class queue_link final : public link {
 public:
  /// \param stage memory of stage_bytes
  queue_link(pair& with, runtime::mapping stage) noexcept;
  ~queue_link() override;

  std::string opened(wireup_message answer) override;
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override;
  post send_contiguous(frame_header header, const frame_extension* extension,
                       const std::byte* data) noexcept override;
  post get(scatter into, remote_address from, std::size_t size,
           std::uint64_t cookie) noexcept override;
  preference prefers_get(remote_address from, std::size_t size) const noexcept override;
  std::optional<remote_address> expose(const_buffer data) noexcept override;
  post put(gather data, remote_address to, std::size_t size,
           std::uint64_t cookie) noexcept override;
  std::optional<remote_address> expect(mutable_buffer into) noexcept override;
  bool chain(std::uint64_t cookie, const frame_header& header,
             const frame_extension& extension) noexcept override;
  void withdraw(remote_address what) noexcept override;
  void let_go() noexcept override;
  bool unconsumed() const noexcept override { return writer_->unconsumed(); }
  bool wake_peer() noexcept override;

  /// \return whether the frame has left
  bool send_chained(const transfer::frame& f) noexcept;

  bool became_writable() noexcept;
  /// As became_writable, without a change of state: for the last poll before a sleep.
  bool would_have_room() const noexcept;
  bool broken() const noexcept { return broken_; }

  /// The peer has read everything; the link is no longer in the transport's list of unconsumed
  /// links.
  void all_seen() noexcept { listed_unconsumed_ = false; }
  pair& owner() const noexcept { return pair_; }

 private:
  /// Sends a frame of any size. \param copy writes the payload to a given place; called at most
  /// once
  template <class Copy>
  post send_frame(const frame_header& header, const frame_extension* extension, Copy copy) noexcept;
  void publish(std::uint64_t position, std::size_t size) noexcept;
  bool has_stage(std::uint64_t end) noexcept;
  post no_room(std::uint64_t stage_end) noexcept;
  post move(transfer t, remote_address where) noexcept;
  std::optional<remote_address> show(std::span<std::byte> memory,
                                     weft::qdma::rights permissions) noexcept;

  pair& pair_;
  const std::uint32_t& passes_;  // of the transport
  std::uint32_t last_pass_ = 0;  // value of passes_ when the last frame was posted
  peer* peer_ = nullptr;         // once opened
  queue_writer* writer_ = nullptr;
  runtime::mapping stage_;
  std::uint64_t staged_ = 0;      // where the next payload may begin
  std::uint64_t stage_read_ = 0;  // the peer's published position, as last read
  std::uint64_t wanted_stage_ = 0;
  std::vector<std::uint64_t> shown_;  // keys of regions that the peer may copy from or to
  bool waits_writable_ = false;
  bool listed_unconsumed_ = false;
  bool broken_ = false;
};

}  // namespace weft::transports::qdma
