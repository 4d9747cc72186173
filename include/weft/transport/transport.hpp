// SPDX-License-Identifier: Apache-2.0
// The interface that every transport implements. The objects that it hands out are in link.hpp, the
// interface that it calls is in frame_sink.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/metrics.hpp>
#include <weft/rendezvous.hpp>
#include <weft/transport/counterpart.hpp>
#include <weft/transport/frame.hpp>
#include <weft/transport/frame_sink.hpp>
#include <weft/transport/link.hpp>
#include <weft/transport/pollable.hpp>
#include <weft/transport/wireup_message.hpp>

namespace weft::transports {

/// One way that the rest of a message takes after its receiver has asked for it, for people.
struct explained_way {
  std::string when;  ///< what must hold, "out of ordinary memory"; empty: always
  std::string way;   ///< what happens to the bytes
  std::string why;   ///< the rule that chose it, with its numbers
};

/// What explain_rest is asked about.
struct rest_question {
  std::size_t size = 0;  ///< bytes of the whole message
  rendezvous_scheme wanted = rendezvous_scheme::automatic;
  bool cma = true;                   ///< process_vm_readv works between the two processes
  bool has_progress_thread = false;  ///< the sender has one
};

/// Moves frames between contexts. One object for each lane and kind of transport, made by a
/// factory. Every function is called with the progress lock held unless it says otherwise.
///
/// What a transport must have: the functions without a body here (6), in pollable (2), and in link
/// (3). All others are capabilities that it may add; the protocols do without them.
class transport {
 public:
  virtual ~transport() = default;

  /// The pollable of this transport, valid as long as the transport; null: none, its parts are
  /// polled instead.
  virtual pollable* poll_hook() noexcept { return nullptr; }

  /// Any thread: constant.
  virtual const transports::traits& traits() const noexcept = 0;

  /// Whether a peer may be reachable, as far as one can tell without trying.
  /// Any thread: what is known without the progress lock. \param is_self the peer is this context
  /// \return empty: yes; else why not, for people
  virtual std::string reach(bool is_self) const = 0;

  /// Makes a link to a peer and the offer for its counterpart there.
  /// \param from  the peer's frame sink, by which the transport knows the pair in both directions
  /// \param who   the process at the other end
  /// \param offer filled: what the counterpart's `accept` gets
  /// \throws weft::error when descriptors or memory run out
  virtual std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                                     wireup_message& offer) = 0;

  /// The other side of `open`: takes a peer's offer, delivers the peer's frames to `to` from now
  /// on, and fills the answer. \return empty, or why the offer is refused (checked, never trusted)
  virtual std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                             wireup_message& answer) = 0;

  /// Another message that the counterpart sent by `counterpart::tell` (a region's descriptor).
  virtual void note([[maybe_unused]] frame_sink& from, [[maybe_unused]] wireup_message p) {}

  // --- the end of a peer -------------------------------------------------------------------------

  /// For a peer that is going: delivers some of what has arrived from it, and writes some of what
  /// is left for it, in bounded work, without waiting. A caller that wants all of it to arrive
  /// repeats the call before `forget`, as long as it chooses, and releases the progress lock in
  /// between. \return whether nothing more is to be expected
  virtual bool drain_peer([[maybe_unused]] frame_sink& from) noexcept { return true; }

  /// Delivers what has arrived from that peer, as far as that is bounded work, and stops listening
  /// to it.
  virtual void forget(frame_sink& from) noexcept = 0;

  // --- memory of this process
  // ---------------------------------------------------------------------

  /// Memory that peers can reach directly, for weft::shared_memory.
  /// \param size bytes, more than 0
  /// \return empty: this transport has none to give
  /// \throws weft::error (out_of_memory, system)
  virtual std::span<std::byte> allocate([[maybe_unused]] std::size_t size) { return {}; }

  /// Takes back what `allocate` returned.
  virtual void deallocate([[maybe_unused]] std::span<std::byte> memory) noexcept {}

  /// That memory of this process is about to be unmapped, or to get another owner: what the
  /// transport kept about it (registrations) is not used any more. Nothing is under way there.
  virtual void invalidate_registrations(
      [[maybe_unused]] std::span<const std::byte> memory) noexcept {}

  /// Adds the transport's counters.
  virtual void add_to([[maybe_unused]] metrics& m) const noexcept {}
  /// Adds those of one peer.
  virtual void add_peer_to([[maybe_unused]] const frame_sink& peer,
                           [[maybe_unused]] peer_metrics& m) const noexcept {}

  // --- for people
  // ---------------------------------------------------------------------------------

  /// How the frames of a message of that size leave, as `weft-info --why` prints it; empty: there
  /// is nothing to say.
  virtual std::string explain_frames([[maybe_unused]] std::size_t size) const { return {}; }

  /// The ways of the rest of a longer message; empty: as the protocol says by itself.
  virtual std::vector<explained_way> explain_rest([[maybe_unused]] const rest_question& q) const {
    return {};
  }

  /// One line for people: the chosen settings and the fall-backs in use.
  virtual std::string describe() const = 0;

  /// The same for one peer.
  virtual std::string describe([[maybe_unused]] const frame_sink& peer) const { return describe(); }
};

}  // namespace weft::transports
