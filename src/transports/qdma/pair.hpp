// SPDX-License-Identifier: Apache-2.0
// Everything that frames by qdma have to do with one peer.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/doorbell.hpp"
#include "transports/qdma/link.hpp"
#include "transports/qdma/peer.hpp"

namespace weft::transports::qdma {

class qdma_transport;

/// What a link (this process to the peer) and the peer's frames share. Owned by the transport;
/// baton held only. The two directions are connected independently, each by its sender on first
/// use.
class pair {
 public:
  pair(qdma_transport& owner, inlet& peer, counterpart who) noexcept
      : owner_(owner), inlet_(peer), who_(std::move(who)) {}

  std::unique_ptr<queue_link> open(parcel& offer);   // see transport::open
  std::string accept(parcel offer, parcel& answer);  // see transport::accept
  std::string take_answer(parcel answer);

  /// Hands a frame of the peer's to its inlet. Its bytes can still be written by others.
  /// \return false: it makes no sense
  bool deliver(std::span<const std::byte> message) noexcept;

  /// Staged bytes that were read and of which the peer was not told.
  std::uint64_t unpublished() const noexcept { return read_ - published_; }
  void publish() noexcept;

  vpid sender() const noexcept { return sender_; }  ///< what the peer posts as; 0: it does not
  peer* there() noexcept { return there_ ? &*there_ : nullptr; }
  runtime::remote_doorbell& door() noexcept { return *door_; }
  std::uint64_t bells_rung() const noexcept { return door_ ? door_->rung() : 0; }
  transports::inlet& inlet() const noexcept { return inlet_; }
  queue_link* outgoing() noexcept { return link_; }
  void lose_outgoing() noexcept;
  void lose_incoming() noexcept;
  qdma_transport& owner() const noexcept { return owner_; }

  bool broken = false;         ///< nothing of the peer's makes sense any more
  bool listed_staged = false;  ///< the transport's list of those with something unpublished

  std::string describe() const;

 private:
  void learn_door(const parcel& p);

  qdma_transport& owner_;
  transports::inlet& inlet_;
  counterpart who_;
  std::shared_ptr<runtime::remote_doorbell> door_;
  std::optional<peer> there_;   // what the peer has shown in its answer
  queue_link* link_ = nullptr;  // owned by the protocol layer
  vpid sender_ = 0;
  runtime::mapping stage_;  // the peer's
  std::uint64_t read_ = 0;  // of it
  std::uint64_t published_ = 0;
};

}  // namespace weft::transports::qdma
