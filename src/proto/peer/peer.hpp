// SPDX-License-Identifier: Apache-2.0
// One peer of the protocol layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/operations/access.hpp>
#include <weft/transport/transport.hpp>

#include "proto/connection/frame_writer.hpp"
#include "proto/connection/peer_connection.hpp"
#include "proto/eager/receiver.hpp"
#include "proto/eager/sender.hpp"
#include "proto/match/unexpected_queue.hpp"
#include "proto/rendezvous/rendezvous_receiver.hpp"

namespace weft::proto {

struct calls_of_peer;
struct protocol_tables;
struct rma;

/// The protocols with one peer: takes its frames and hands each to the right part; begins and ends
/// the connection for all parts. Owned by the messenger and by endpoints. Progress lock held only
/// unless a function says otherwise. When the peer has ended and only the messenger owns the
/// object, the object becomes another peer: requests and operations may still hold its address
/// (detail::peer_name). It begins at a cache line of its own, as everything large on a message's
/// path does: the control plane makes the peers of all lanes, one after the other.
class alignas(64) peer final : public transports::frame_sink,
                               public std::enable_shared_from_this<peer>,
                               connection_host {
 public:
  using state = peer_connection::state;

  /// \throws std::bad_alloc
  peer(const protocol_services& s, const protocol_tables& t, peer_id id);
  ~peer();

  // For operations, and for the layers above, which know of a context only its peer. Parts of the
  // peer have been given what they use. Any thread.
  const protocol_services& services() const noexcept { return services_; }
  const protocol_tables& tables() const noexcept { return tables_; }
  runtime::engine& engine() const noexcept { return engine_; }

  peer_id id() const noexcept { return connection_.id(); }  ///< any thread that owns it
  state now() const noexcept { return connection_.now(); }
  bool has_ended() const noexcept { return connection_.has_ended(); }
  errc why() const noexcept { return connection_.why(); }
  const std::string& detail() const noexcept { return connection_.detail(); }
  /// One line about the connection, for people. Any thread.
  std::string describe() const;

  peer_connection& connection() noexcept { return connection_; }
  const peer_connection& connection() const noexcept { return connection_; }
  frame_writer& writer() noexcept { return writer_; }
  const frame_writer& writer() const noexcept { return writer_; }
  proto::sender& sender() noexcept { return sender_; }
  const proto::sender& sender() const noexcept { return sender_; }
  proto::receiver& receiver() noexcept { return receiver_; }
  const proto::receiver& receiver() const noexcept { return receiver_; }
  /// Null: there was no access to memory yet, in either direction.
  const proto::rma* accesses() const noexcept { return rma_.get(); }

  /// \return true if the operation has ended, with op.status set
  bool start(send_operation& op) noexcept;
  /// Sends a message of one frame with contiguous payload, if nothing is in its way: no operation
  /// is needed (small_message.cpp). \param to the peer that it is for: this object may be another
  /// peer by now
  /// \return false: nothing has happened
  bool try_send_inline(peer_id to, std::uint64_t tag, const_buffer data,
                       std::uint64_t immediate) noexcept;
  /// One-sided access (rma.hpp). \return true if the operation has ended, with op.status set
  bool start(detail::rma_operation& op) noexcept;
  void cancel(detail::rma_operation& op) noexcept;

  // --- the connection -------------------------------------------------------------------------

  /// The requested link is ready. \param credit units that the peer grants at first
  void opened(std::unique_ptr<transports::link> link, std::uint32_t credit);
  /// Ends all operations with this peer: it is closed (errc::closed) or lost. Later operations end
  /// the same way at once. The peer's process knows already, or has died.
  void end(ended how) noexcept;
  /// The same, by this side's decision: unless the peer is closed, its process learns of it.
  void give_up(errc why, std::string_view detail) noexcept;
  /// Of the operations that were stopped, and the regions that end, and that wait for what only the
  /// peer can do, the first stop or end; else time_point::max().
  detail::time_point oldest_stop() const noexcept;
  /// This side closes: operations that have begun end in good order, and no new one begins.
  void close() noexcept;
  /// Whether this side has accepted something, or owes something, that the peer has not got yet.
  bool owes() const noexcept;
  /// Frees the link, after the end.
  void drop_link() noexcept;

  /// Ended, and without messages.
  bool is_reusable() const noexcept {
    return has_ended() && !receiver_.holds_messages() && !connection_.link() && !unreported &&
           !to_sweep;
  }
  /// Frees memory, once it is reusable.
  void shrink() noexcept;
  /// Makes the object another peer; it is reusable, and has no other owner. \throws std::bad_alloc
  void recycle_as(peer_id id);

  // --- frame sink -----------------------------------------------------------------------------

  mutable_buffer place(const frame_header& header, const frame_extension* extension,
                       std::uint32_t already) noexcept override;
  bool on_frame(const frame_header& header, const frame_extension* extension,
                const std::byte* payload) noexcept override;
  std::uint64_t under_way() const noexcept override { return receiver_.under_way(); }
  void on_transferred(std::uint64_t cookie, bool well) noexcept override;
  void on_chained(std::uint64_t cookie) noexcept override;
  void on_descriptor(unique_fd file, std::uint32_t what) noexcept override;
  void on_writable() noexcept override;
  void on_broken(errc why) noexcept override;
  /// As place and on_frame, for a new fragment over one of several links.
  mutable_buffer place_fragment(const frame_header& header, const frame_extension& extension,
                                std::uint32_t already) noexcept;
  bool on_fragment(const frame_header& header, const frame_extension& extension,
                   const std::byte* payload) noexcept;

  // --- for others -----------------------------------------------------------------------------

  unexpected_of_peer unexpected;         ///< for the unexpected queue: messages of this peer
  std::unique_ptr<calls_of_peer> calls;  ///< for the call table; null: there was no call
  std::vector<operation*> closings;  ///< operations that wait for the peer's end, for any reason
  /// Of a non-rank peer: where its process was met, for errors; empty: not known.
  std::string met_at;
  // For the messenger.
  peer* next_to_sweep = nullptr;
  bool to_sweep = false;    ///< it is in the list of peers to sweep
  bool unreported = false;  ///< it was given up, and there was no memory to tell its process

 private:
  friend std::size_t detail::try_send_several(peer* to, peer_id id, std::uint64_t tag,
                                              std::span<const const_buffer> messages) noexcept;
  friend bool detail::try_send_small(peer* to, peer_id id, std::uint64_t tag, const_buffer data,
                                     std::uint64_t immediate) noexcept;
  friend bool detail::try_send_signal(peer* to, peer_id id, std::uint64_t tag,
                                      std::uint64_t immediate) noexcept;

  bool send_signal(peer_id to, std::uint64_t tag, std::uint64_t immediate) noexcept;
  bool send_small(peer_id to, std::uint64_t tag, const_buffer data, std::uint64_t immediate,
                  std::size_t end) noexcept;
  template <class Copy>
  bool take_posted(const frame_header& h, const frame_extension* x, const std::byte* data,
                   Copy copy) noexcept;
  bool take_long(const frame_header& h, const frame_extension* x, const std::byte* data) noexcept;
  bool dispatch(const frame_header& h, const frame_extension* x, const std::byte* data) noexcept;
  bool take(const frame_header& h, const frame_extension* x, const std::byte* data) noexcept;
  bool on_arrived(const frame_extension& x) noexcept;
  rma* rma_parts() noexcept;
  bool on_bye(const frame_extension* x) noexcept;
  bool on_good_bye() noexcept;
  bool on_bye_answer() noexcept;
  void connect() noexcept override;
  std::shared_ptr<void> keep_alive() noexcept override { return shared_from_this(); }
  protocol_coroutine say_bye() noexcept;

  const protocol_services& services_;
  const protocol_tables& tables_;
  // Of the services, for the short path: one load each.
  runtime::engine& engine_;
  match_table& matcher_;
  // This order keeps the fields that each frame needs together.
  peer_connection connection_;
  proto::receiver receiver_;
  frame_writer writer_;
  proto::sender sender_;
  rendezvous_receiver rendezvous_receiver_;
  std::unique_ptr<rma> rma_;  // once there was any access in either direction
};

}  // namespace weft::proto
