// SPDX-License-Identifier: Apache-2.0
// The verbs state of one peer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "transports/verbs/address_exchange.hpp"
#include "transports/verbs/inbox.hpp"
#include "transports/verbs/link.hpp"
#include "transports/verbs/port.hpp"
#include "transports/verbs/send_queue.hpp"
#include "transports/verbs/send_window.hpp"
#include "transports/verbs/transfers.hpp"

namespace weft::transports::verbs {

class verbs_transport;

/// One queue pair, for both directions. Offers and answers have the same contents: each side's
/// queue pair address. The first of the peer's messages tells this side all that it needs to
/// connect, also when both offered at the same moment. Each direction is still opened by its
/// sender. Owned by the transport; progress lock held only. docs/adr/0015-verbs.md.
///
///     alone --meet--> up --disconnect--> said_all
///       |             |                     |
///       +-------------+--------+------------+
///                              v
///                            ended --the reason is known, or a moment passes--> reported
///
/// `accepted_`, that the peer may send, holds beside these: the peer opens its direction itself.
class pair {
 public:
  /// \param number of work_id::pair
  pair(verbs_transport& owner, transports::frame_sink& peer, counterpart who, std::uint32_t number);
  ~pair();

  std::unique_ptr<send_link> open(wireup_message& offer);                   // see transport::open
  std::string accept(const wireup_message& offer, wireup_message& answer);  // see transport::accept
  std::string take_answer(const wireup_message& answer);                    // see link::opened

  // For the link:
  /// Where to write a frame; null: not now. `end_frame` follows.
  std::byte* begin_frame(std::size_t bytes) noexcept;
  post end_frame(std::size_t bytes) noexcept;
  /// The reason. For a frame that did not fit, on_writable follows when there is room.
  post not_now(std::size_t bytes) noexcept;
  /// See link::get, link::put and the functions after it.
  post read(scatter into, remote_address from, std::size_t size, std::uint64_t cookie) noexcept;
  post write(gather data, remote_address to, std::size_t size, std::uint64_t cookie) noexcept;
  std::optional<remote_address> show(std::span<std::byte> memory, memory_access how) noexcept;
  void withdraw(remote_address what) noexcept { transfers_.withdraw(what); }
  void let_go() noexcept;
  /// Whether the devices of both sides support it.
  bool can_read() const noexcept;
  bool can_write() const noexcept { return open_for_work(); }
  void link_ended() noexcept;

  // For the transport:
  /// A completion of this pair; for a receive, with the bytes in the slot.
  void received(std::span<const std::byte> bytes, std::uint32_t peer_has_read) noexcept;
  /// Where the peer has written the next frame that counts; null: it may not write frames.
  const std::byte* written() const noexcept { return inbox_.frame(port_.taken()); }
  void sent(std::uint32_t place) noexcept;
  void failed(std::uint32_t place, std::string_view what) noexcept;
  /// Posted work has failed, or the device has. \param what for people
  void broke(std::string_view what) noexcept;
  /// As `broke`, only if the connection is up.
  void give_up(std::string_view why) noexcept;
  /// The peer has destroyed its queue pair, to get its memory back.
  void hung_up() noexcept {
    if (!has_ended()) end_soon();
  }
  /// After `not_now`: whether the link has room. If so, it calls the frame sink.
  bool notify_writable() noexcept;
  /// Tells the peer how many frames were read, if it is owed much. \return false: not possible now
  bool pay() noexcept;
  /// Delivers what has arrived and what follows at once, then receives no more.
  bool drain_peer() noexcept;  // see transport::drain_peer
  void forget() noexcept;
  /// The queue pair goes; what arrived before is delivered all the same.
  void shut() noexcept;
  /// Called by the transport's timer. \return whether the pair wants further ticks
  bool tick(std::chrono::steady_clock::time_point now) noexcept;

  std::uint32_t number() const noexcept { return number_; }
  std::uint32_t queue_pair_number() const noexcept { return addresses_.mine().queue_pair; }
  transports::frame_sink& frame_sink() const noexcept { return frame_sink_; }
  verbs_transport& owner() const noexcept { return owner_; }
  /// Neither a link nor an accepted offer uses the pair any more.
  bool idle() const noexcept { return !link_ && !accepted_; }
  std::string describe() const;
  const std::string& trouble() const noexcept { return trouble_; }

  bool waits_for_room = false;  ///< the transport's: the pair is in its list of waiting pairs
  bool owes = false;            ///< the transport's: the pair is in its list of owing pairs

 private:
  enum class stage : std::uint8_t {
    alone,     ///< the peer's address has not come
    up,        ///< frames and transfers may be posted
    said_all,  ///< this side has sent its last frame; the peer's may still come
    ended,     ///< the queue pair has broken or is gone; the control plane may know why
    reported   ///< the frame sink knows it, and is called no more
  };

  std::string meet(const wireup_message& p);
  bool connected() const noexcept { return stage_ == stage::up || stage_ == stage::said_all; }
  bool has_ended() const noexcept { return stage_ >= stage::ended; }
  bool open_for_work() const noexcept { return stage_ == stage::up; }
  bool has_room(std::size_t bytes) const noexcept {
    return !ahead_.is_full() && queue_.has_room(bytes);
  }
  post begun(post answer, int trouble) noexcept;
  void hang_up() noexcept;
  post wait_for_room(std::size_t bytes, std::uint32_t places) noexcept;
  bool post_own(own_kind kind) noexcept;
  void send_disconnect() noexcept;
  bool try_disconnect() noexcept;
  /// Not over an end that came meanwhile.
  void said_all() noexcept {
    if (stage_ == stage::up) stage_ = stage::said_all;
  }
  void end(errc why) noexcept;
  void end_soon() noexcept;

  verbs_transport& owner_;
  transports::frame_sink& frame_sink_;
  const counterpart who_;
  const std::uint32_t number_;
  inbox inbox_;  // outlives the queue pair
  send_queue queue_;
  transfers transfers_;
  address_exchange addresses_;
  stage stage_ = stage::alone;
  send_link* link_ = nullptr;  // owned by the protocol layer
  port port_;
  send_window ahead_;
  std::size_t room_for_ = 0;      // bytes of the frame that did not fit
  std::uint32_t places_for_ = 1;  // places in the queue that the refused work needs
  bool accepted_ = false;         // the peer may send
  std::optional<std::chrono::steady_clock::time_point> ended_at_;  // end_soon
  std::string trouble_;
};

}  // namespace weft::transports::verbs
