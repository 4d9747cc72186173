// SPDX-License-Identifier: Apache-2.0
// The connection to one peer: its state, its link, its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <weft/error.hpp>
#include <weft/message.hpp>

#include "transports/transport.hpp"

namespace weft::proto {

class messenger;
class multi_rail_link;
class peer;

/// Part of a peer, whose protocols hold its address. Reset when the peer object is used for another
/// peer. Progress lock held only, unless a function says otherwise.
///
///     idle --want_link--> connecting --opened--> open
///       any of these --end--> closed (in good order) or lost (`why` tells)
class peer_connection {
 public:
  enum class state : std::uint8_t {
    idle,        ///< never spoken to: no link, no memory
    connecting,  ///< a link was asked for
    open,
    closed,  ///< in good order, by either side
    lost     ///< `why()` tells
  };

  peer_connection(proto::peer& p, messenger& m, peer_id id) noexcept
      : peer_(&p), messenger_(&m), id_(id) {}

  proto::peer& peer() const noexcept { return *peer_; }
  messenger& owner() const noexcept { return *messenger_; }  ///< any thread
  peer_id id() const noexcept { return id_; }                ///< any thread that owns the peer
  /// For protocols: the last endpoint may be dropped while they run.
  std::shared_ptr<proto::peer> keep_alive() const noexcept;

  state now() const noexcept { return state_; }
  bool is_open() const noexcept { return state_ == state::open; }
  bool gone() const noexcept { return state_ >= state::closed; }
  errc why() const noexcept { return why_; }
  const std::string& detail() const noexcept { return detail_; }
  /// What an operation that begins too late ends with.
  errc refusal() const noexcept { return why_ == errc::ok ? errc::closed : why_; }

  transports::link* link() const noexcept { return link_.get(); }
  /// Opens the link, as the first message does; nothing if that was asked for before.
  void want_link() noexcept;
  /// The link that was asked for is ready. A closed connection takes it to answer a good-bye, and
  /// stays closed.
  void opened(std::unique_ptr<transports::link> link) noexcept;
  void drop_link() noexcept { link_.reset(); }

  /// Several links to this peer, which joins them; null: one, or none yet. The messages of this
  /// peer come in fragments while there are several.
  multi_rail_link* several() const noexcept { return several_; }
  void use(multi_rail_link* joined) noexcept { several_ = joined; }

  /// This side closes it: nothing new is begun.
  bool closing() const noexcept { return closing_; }
  /// \return false: it is closing already, or has ended
  bool begin_closing() noexcept;
  /// The end, once. The link lets go of all memory.
  void end(errc why, std::string_view detail) noexcept;

  /// Something could not be kept for want of memory (or is more than is kept for a peer), so that
  /// this peer cannot be served any more. It fails at the next pass: the caller may be in the
  /// middle of things.
  void mark_failed(errc why = errc::out_of_memory) noexcept;
  errc marked_failure() const noexcept { return marked_failure_; }

 private:
  void note(std::string_view detail) noexcept;

  std::string detail_;  // first, so that what each frame needs lies together with the next part's
  proto::peer* peer_;
  messenger* messenger_;
  peer_id id_;
  state state_ = state::idle;
  bool closing_ = false;
  errc why_ = errc::ok;
  errc marked_failure_ = errc::ok;  // why it is to fail at the next pass
  std::unique_ptr<transports::link> link_;
  multi_rail_link* several_ = nullptr;
};

inline constexpr const char* closed_by_this_side = "this side closed it";

}  // namespace weft::proto
