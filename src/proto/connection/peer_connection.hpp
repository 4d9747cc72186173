// SPDX-License-Identifier: Apache-2.0
// The connection to one peer: its state, its link, its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <weft/error.hpp>
#include <weft/message.hpp>
#include <weft/metrics.hpp>
#include <weft/transport/transport.hpp>

#include "proto/services/upkeep.hpp"
#include "proto/support/ended.hpp"

namespace weft::proto {

class multi_rail_link;

/// What a connection asks of the peer that it is part of. Progress lock held only.
class connection_host {
 public:
  /// Requests a link; the answer is peer::opened or peer::give_up.
  virtual void connect() noexcept = 0;
  /// Keeps the peer alive for protocols: the last endpoint may be dropped while they run.
  virtual std::shared_ptr<void> keep_alive() noexcept = 0;

 protected:
  ~connection_host() = default;
};

/// Part of a peer; the peer's protocols hold its address. Reset when the peer object is used for
/// another peer. Progress lock held only, unless a function says otherwise.
///
///     idle --want_link--> connecting --opened--> open
///       any of these --end--> closed (in good order) or lost (`why` tells)
class peer_connection {
 public:
  enum class state : std::uint8_t {
    idle,        ///< no message yet: no link, no memory
    connecting,  ///< a link was requested
    open,
    closed,  ///< in good order, by either side
    lost     ///< `why()` tells
  };

  peer_connection(connection_host& h, proto::upkeep& u, peer_id id) noexcept
      : host_(&h), upkeep_(&u), id_(id) {}

  peer_id id() const noexcept { return id_; }  ///< any thread that owns the peer
  std::shared_ptr<void> keep_alive() const noexcept { return host_->keep_alive(); }

  state now() const noexcept { return state_; }
  bool is_open() const noexcept { return state_ == state::open; }
  bool has_ended() const noexcept { return state_ >= state::closed; }
  errc why() const noexcept { return why_; }
  const std::string& detail() const noexcept { return detail_; }
  /// The error of an operation that begins too late.
  errc refusal() const noexcept { return why_ == errc::ok ? errc::closed : why_; }

  transports::link* link() const noexcept { return link_.get(); }
  /// Requests a link, as the first message does; nothing if that was done before.
  void want_link() noexcept;
  /// The requested link is ready. A closed connection takes it to answer a good-bye, and stays
  /// closed.
  void opened(std::unique_ptr<transports::link> link) noexcept;
  void drop_link() noexcept { link_.reset(); }

  /// The multi-rail link that joins several links to this peer; null: one link, or none yet. With
  /// several links the messages of this peer come in fragments.
  multi_rail_link* several() const noexcept { return several_; }
  void use(multi_rail_link* joined) noexcept { several_ = joined; }

  /// What was exchanged with the peer. Counted here, where the frames pass, and summed up for a
  /// snapshot.
  traffic_metrics& traffic() noexcept { return traffic_; }
  const traffic_metrics& traffic() const noexcept { return traffic_; }
  /// The transport by which messages leave for the peer, or, before the first one, by which its
  /// messages come; empty: none yet. \param name lives as long as the context
  std::string_view transport() const noexcept { return transport_; }
  void reached_by(std::string_view name) noexcept {
    if (transport_.empty()) transport_ = name;
  }

  /// This side closes the connection: nothing new is begun.
  bool closing() const noexcept { return closing_; }
  /// \return false: it is closing already, or has ended
  bool begin_closing() noexcept;
  /// Ends the connection, once. The link lets go of all memory.
  void end(ended how) noexcept;

  /// Memory ran out (or a limit for the peer was reached), so that this peer cannot be served any
  /// more. The peer fails at the next pass: the caller may be in the middle of other work with it.
  void mark_failed(errc why = errc::out_of_memory) noexcept;
  errc marked_failure() const noexcept { return marked_failure_; }

 private:
  std::string detail_;  // first, so that the fields that each frame needs lie next to those of the
                        // next part
  connection_host* host_;
  proto::upkeep* upkeep_;
  peer_id id_;
  state state_ = state::idle;
  bool closing_ = false;
  errc why_ = errc::ok;
  errc marked_failure_ = errc::ok;  // why the peer is to fail at the next pass
  std::unique_ptr<transports::link> link_;
  multi_rail_link* several_ = nullptr;
  std::string_view transport_;
  traffic_metrics traffic_;  // its first fields are those that each message counts in
};

inline constexpr const char* closed_by_this_side = "this side closed it";

}  // namespace weft::proto
