// SPDX-License-Identifier: Apache-2.0
// The state of frames by qdma to and from one peer.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/sleep/doorbell.hpp"
#include "transports/qdma/link.hpp"
#include "transports/qdma/peer.hpp"

namespace weft::transports::qdma {

class qdma_transport;

/// The state that the link (this process to the peer) and the reading of the peer's frames share.
/// Owned by the transport; progress lock held only. The two directions are connected independently,
/// each by its sender on first use.
class pair {
 public:
  pair(qdma_transport& owner, frame_sink& peer, counterpart who) noexcept
      : owner_(owner), frame_sink_(peer), who_(std::move(who)) {}

  std::unique_ptr<queue_link> open(wireup_message& offer);           // see transport::open
  std::string accept(wireup_message offer, wireup_message& answer);  // see transport::accept
  std::string take_answer(wireup_message answer);

  /// Hands a frame of the peer to its frame sink. Other processes can still write to its bytes.
  /// \return false: it makes no sense
  bool deliver(const queue_reader::view& message) noexcept;

  /// Staged bytes that were read and that the peer was not told of.
  std::uint64_t unpublished() const noexcept { return read_ - published_; }
  void publish() noexcept;

  vpid sender() const noexcept { return sender_; }  ///< the peer's id as a sender; 0: none
  peer* there() noexcept { return there_ ? &*there_ : nullptr; }
  runtime::remote_doorbell& peer_doorbell() noexcept { return *doorbell_; }
  std::uint64_t bells_rung() const noexcept { return doorbell_ ? doorbell_->rung() : 0; }
  transports::frame_sink& frame_sink() const noexcept { return frame_sink_; }
  queue_link* outgoing() noexcept { return link_; }
  void lose_outgoing() noexcept;
  void lose_incoming() noexcept;
  qdma_transport& owner() const noexcept { return owner_; }

  bool broken = false;  ///< the peer's frames are no longer read
  bool listed_staged =
      false;  ///< the transport's: the pair is in its list of pairs with unpublished bytes

  std::string describe() const;

 private:
  void learn_doorbell(const wireup_message& p);

  qdma_transport& owner_;
  transports::frame_sink& frame_sink_;
  counterpart who_;
  std::shared_ptr<runtime::remote_doorbell> doorbell_;
  std::optional<peer> there_;   // what the peer has shown in its answer
  queue_link* link_ = nullptr;  // owned by the protocol layer
  vpid sender_ = 0;
  runtime::mapping stage_;  // the peer's
  std::uint64_t read_ = 0;  // bytes of the stage
  std::uint64_t published_ = 0;
};

}  // namespace weft::transports::qdma
