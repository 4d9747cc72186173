// SPDX-License-Identifier: Apache-2.0
// The interface that every transport implements. The objects that it hands out are in link.hpp, the
// interface that it calls is in frame_sink.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <weft/metrics.hpp>

#include "runtime/polling/pollable.hpp"
#include "transports/counterpart.hpp"
#include "transports/frame.hpp"
#include "transports/frame_sink.hpp"
#include "transports/link.hpp"
#include "transports/wireup_message.hpp"

namespace weft::transports {

/// Moves frames between contexts. One object per context and transport, made by
/// core::make_transport (src/api/core/core.cpp): there is no registry. Every function is called
/// with the progress lock held unless it says otherwise.
class transport {
 public:
  virtual ~transport() = default;

  /// The pollable of this transport, valid as long as the transport; null: none, its parts are
  /// polled instead.
  virtual runtime::pollable* poll_hook() noexcept = 0;

  /// Any thread: constant.
  virtual const transports::traits& traits() const noexcept = 0;

  /// Whether a peer may be reachable, as far as one can tell without trying.
  /// Any thread: what is known without the progress lock. \param is_self the peer is this context
  /// \return empty: yes; else why not, for people
  virtual std::string reach(bool is_self) const = 0;

  /// Makes a link to a peer and the offer for its counterpart there.
  /// \param from the peer's frame sink, by which the transport knows the pair in both directions
  /// \throws weft::error when descriptors or memory run out
  virtual std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                                     wireup_message& offer) = 0;

  /// The other side of `open`: takes a peer's offer, delivers the peer's frames to `to` from now
  /// on, and fills the answer. \return empty, or why the offer is refused (checked, never trusted)
  virtual std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                             wireup_message& answer) = 0;

  /// Another message that the counterpart sent by `counterpart::tell` (a region's descriptor).
  virtual void note([[maybe_unused]] frame_sink& from, [[maybe_unused]] wireup_message p) {}

  /// For a peer that is going: delivers some of what has arrived from it, and writes some of what
  /// is left for it, in bounded work, without waiting. A caller that wants all of it to arrive
  /// repeats the call before `forget`, as long as it chooses, and releases the progress lock in
  /// between. \return whether nothing more is to be expected
  virtual bool drain_peer([[maybe_unused]] frame_sink& from) noexcept { return true; }

  /// Delivers what has arrived from that peer, as far as that is bounded work, and stops listening
  /// to it.
  virtual void forget(frame_sink& from) noexcept = 0;

  /// That memory of this process is about to be unmapped, or to get another owner: what the
  /// transport kept about it (registrations) is not used any more. Nothing is under way there.
  virtual void invalidate_registrations(
      [[maybe_unused]] std::span<const std::byte> memory) noexcept {}

  /// Adds the transport's counters.
  virtual void add_to([[maybe_unused]] metrics& m) const noexcept {}

  /// One line for people: the chosen settings and the fall-backs in use.
  virtual std::string describe() const = 0;

  /// The same for one peer.
  virtual std::string describe(const frame_sink& peer) const = 0;
};

}  // namespace weft::transports
