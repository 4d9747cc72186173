// SPDX-License-Identifier: Apache-2.0
// How two contexts agree on a transport, once they have a channel.
//
//   THIS SIDE                                    PEER
//   request, next: offer (transport i) --------> on_offer: accepts what comes by it
//            <---------------------------------- answer, with the first credit, or refusal
//   on_answer: peer::opened, or next: offer (transport i + 1) ...
//
// Each direction is agreed on by itself: the peer offers as well once it wants to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connections/inbound_transport.hpp"
#include "connections/link_message.hpp"
#include "connections/services.hpp"
#include "proto/peer/peer.hpp"
#include "proto/rails/multi_rail_link.hpp"
#include "wireup/channel/channel.hpp"

namespace weft::connections {

/// The links to and from one remote process, from the first offer until the peer has them. Part of
/// a remote_process. On the connection manager's thread; takes the progress lock itself, unless a
/// function says otherwise.
class link_negotiation {
 public:
  /// Of the direction that this side sends in.
  ///
  ///     idle --request--> wanted --next--> offered --on_answer--> open
  ///                       ^    |             |
  ///                       |    v             | every link was refused
  ///              finding_socket    wanted <--+
  enum class state : std::uint8_t {
    idle,            ///< this side sends nothing to that process
    wanted,          ///< the next transport is to be tried
    finding_socket,  ///< it waits for the answer of the process's Unix socket
    offered,         ///< links of one transport were offered, and none was answered well yet
    open             ///< the peer has a link
  };

  /// What the caller of `next` has to do.
  enum class step : std::uint8_t {
    none,         ///< nothing: an answer is awaited, or no link is wanted
    find_socket,  ///< a channel over a Unix socket is needed; socket_tried tells the result
    exhausted     ///< no transport is left
  };

  link_negotiation(const services& s, std::shared_ptr<proto::peer> p)
      : services_(s), peer_(std::move(p)) {}

  state now() const noexcept { return state_; }

  /// \param pidfd of the process, for transports that reach its memory by its number
  void set_process(std::shared_ptr<const unique_fd> pidfd) noexcept { process_ = std::move(pidfd); }

  /// This side wants to send.
  void request() noexcept;
  /// Offers the next transport that can be tried. \param channels to that process
  step next(const std::vector<wireup::channel_ptr>& channels);
  /// \param trouble why no channel over a Unix socket came about; empty: there is one
  void socket_tried(std::string trouble);
  /// \return why nothing reaches the process: all that was tried, for people
  std::string refusals() const;

  // Messages of the peer, whole. A function that returns a string says what no correct peer does;
  // empty: the message made sense. Afterwards `now()` may be `wanted`: then `next` is to be called,
  // after this call has returned.
  std::string on_offer(const wireup::channel_ptr& c, transports::wireup_message offer);
  void on_answer(transports::wireup_message answer, bool refused);
  std::string on_note(transports::wireup_message note);

  /// Delivers some of what the peer has sent, and sends some of what it has been sent, in bounded
  /// work and without waiting. \return whether there is nothing more \throws std::bad_alloc
  bool drain();

  // The end. Progress lock held. The peer is told between the two.
  /// No frame of the peer is taken any more, and no answer. \throws std::bad_alloc
  void forget_transports();
  /// A link that the peer has not taken goes.
  void drop_unused() noexcept { unused_.reset(); }

 private:
  const transports::transport& transport(std::size_t index) const noexcept {
    return *services_.transports[index].transport;
  }
  link_message_header header_for(std::size_t index, std::size_t number) const noexcept;
  transports::counterpart counterpart_for(const wireup::channel_ptr& c, std::size_t index,
                                          std::size_t number) const;
  wireup::channel_ptr channel_for(const std::vector<wireup::channel_ptr>& channels) const;
  void note_attempt(std::string trouble);
  void add_attempt(std::string trouble);
  void offer_links(const wireup::channel_ptr& channel);
  void use(std::unique_ptr<transports::link> made, const link_message_header& answer);
  void open_peer(std::unique_ptr<transports::link> over, const link_message_header& answer);
  transports::frame_sink& frame_sink_for(std::size_t index, std::size_t number);
  void take_back();
  void forget(std::size_t index);
  std::string close_inbound(std::size_t instead);
  std::string accept(const wireup::channel_ptr& c, std::size_t index,
                     const link_message_header& header, transports::wireup_message offer,
                     transports::wireup_message& answer);

  const services services_;
  const std::shared_ptr<proto::peer> peer_;
  std::shared_ptr<const unique_fd> process_;  // null: on another host, or not known

  // Sending.
  state state_ = state::idle;
  std::size_t index_ = 0;  // of the transport that is tried, or is next
  std::vector<std::unique_ptr<transports::link>> offers_;  // by number; null: answered
  bool socket_known_ = false;  // whether a Unix socket reaches the process is known
  std::string socket_trouble_;

  // Receiving.
  inbound_transport inbound_;
  bool receives_on_several_ = false;  // links of the multi-rail link were accepted

  // Several links, from the first offer in either direction until the peer sends on them: then they
  // are the peer's.
  std::unique_ptr<proto::multi_rail_link> unused_;
};

}  // namespace weft::connections
