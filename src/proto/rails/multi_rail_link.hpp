// SPDX-License-Identifier: Apache-2.0
// Several links to one peer as one link that outlives the loss of all but one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include <weft/coro/detail/timer.hpp>
#include <weft/transport/transport.hpp>

#include "proto/frames/frames.hpp"
#include "proto/services/services.hpp"
#include "proto/support/number_set.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

class peer;

/// The link's traits: a base class in front of it, because a link refers to its traits.
struct multi_rail_traits {
  transports::traits own;
};

/// How many frames the other links may be ahead of one that stands still, before they wait for it.
inline constexpr std::uint64_t most_ahead = 1u << 16;

/// Joins several links to a peer. To the peer it is a link; each transport has one of its rails as
/// a frame sink. A peer with one link does not have this object, and pays nothing for it.
///
/// Frames that must keep their order travel whole inside `ordered` frames with a number each, over
/// the best rail. The data of large messages is striped over all rails by their measured rates;
/// every fragment has a number and says where it belongs, so the order of fragments does not
/// matter. Sent items are kept until the other side has confirmed their arrival (blocks in this
/// object, fragments in the application's memory), and go again over the remaining rails when a
/// rail dies. The other side takes each number once. docs/adr/0010-several-links.md.
///
/// Made when the first rail is offered in either direction; owned by the side that offers until the
/// peer takes it as its link. Progress lock held only.
class multi_rail_link final : private multi_rail_traits, public transports::link {
 public:
  /// \param p     the peer of the links; outlives this object, and gets its address
  /// \param rails the traits of each link, best first: at least one
  multi_rail_link(peer& p, const std::vector<transports::traits>& rails);
  ~multi_rail_link() override;

  std::size_t size() const noexcept { return rails_.size(); }

  /// The frame sink for the transport of that link.
  transports::frame_sink& frame_sink(std::size_t n) noexcept { return *rails_[n]; }

  /// That link can be used from now on. peer::opened tells the peer of the first one.
  void join(std::size_t n, std::unique_ptr<transports::link> made) noexcept;
  /// That link will not be made.
  void refused(std::size_t n) noexcept;
  /// Whether a link can still carry frames, now or once it has been opened.
  bool alive() const noexcept;

  /// The other side has received so many frames on that rail.
  /// \param given_up it receives no more there: the rail is lost on this side, too
  /// \return false: the number makes no sense
  bool on_arrived(std::uint64_t n, std::uint64_t frames, bool given_up = false) noexcept;

  /// Whether frames have to leave first that the other side may wait for; no operation of this side
  /// waits for them.
  bool owes() const noexcept { return !ordered_again_.empty() || untold_ != 0; }

  /// The number of frames that are kept because they may have to go again.
  std::size_t kept() const noexcept;

  /// The measured rate of each rail: bytes a second, 0 while unknown.
  std::vector<double> rates() const;

  std::string opened(transports::wireup_message) override { return {}; }
  transports::post send(const frame_header& header, const frame_extension* extension,
                        transports::gather& data) noexcept override;
  transports::post send_large(const frame_header& header, const frame_extension* extension,
                              transports::gather& data, std::uint64_t left) noexcept override;
  bool holds() const noexcept override;
  bool holds_for(std::uint64_t receiver_id) const noexcept override;
  void let_go() noexcept override;
  bool pass(const unique_fd& file, std::uint32_t what) noexcept override;
  // The memory of a message is read through one place only, and must not depend on one rail.
  transports::post get(transports::scatter, remote_address, std::size_t,
                       std::uint64_t) noexcept override {
    return transports::post::failed;
  }
  transports::preference prefers_get(remote_address, std::size_t) const noexcept override {
    return transports::preference::no;
  }
  std::optional<remote_address> expose(const_buffer) noexcept override { return {}; }
  bool unwritten() const noexcept override;
  bool unconsumed() const noexcept override;
  bool wake_peer() noexcept override;
  std::string trouble() const override;

 private:
  /// A frame that has left and is not known to have arrived.
  struct item {
    frame_header header;
    frame_extension extension;     // of a fragment
    std::vector<std::byte> block;  // of an ordered frame: a whole frame
    transports::gather data;       // of a fragment; belongs to the operation
    std::uint64_t total = 0;       // of a fragment: bytes of its message
    detail::time_point posted;
    bool dropped = false;  // a fragment: its memory is the application's again

    bool fragment() const noexcept {
      return header.kind == static_cast<std::uint8_t>(frame_kind::data);
    }
  };

  /// One of the links, and the frame sink of its frames.
  struct rail final : transports::frame_sink {
    enum class state : std::uint8_t { coming, open, dead };

    rail(multi_rail_link& b, std::size_t n) noexcept : in(b), number(n) {}
    mutable_buffer place(const frame_header& header, const frame_extension* extension,
                         std::uint32_t already) noexcept override;
    bool on_frame(const frame_header& header, const frame_extension* extension,
                  const std::byte* payload) noexcept override;
    void on_descriptor(unique_fd file, std::uint32_t what) noexcept override;
    void on_writable() noexcept override;
    void on_broken(errc why) noexcept override;

    /// Bytes a second; 0: not known.
    double rate() const noexcept { return bytes == 0 ? 0 : bytes / seconds; }

    multi_rail_link& in;
    const std::size_t number;
    state now = state::coming;
    std::unique_ptr<transports::link> out;

    // Sending.
    bool full = false;   // it refused a frame or holds memory; on_writable follows
    bool works = false;  // it has taken a frame
    std::list<item> unconsumed;
    std::uint64_t seen = 0;       // frames known to have arrived
    std::uint64_t in_flight = 0;  // bytes of fragments among `unconsumed`
    // Bytes of fragments known to have arrived, and the seconds that they took; older ones weigh
    // less.
    double bytes = 0, seconds = 0;
    detail::time_point last_progress{};

    // Receiving.
    std::uint64_t received = 0;  // frames
    std::uint64_t told = 0;      // of these, reported to the other side
    std::uint64_t untold_bytes = 0;

    bool broke = false;     // at either end: there is nothing more to tell about it
    bool given_up = false;  // it broke on this side, and the other side is still to be told
  };

  bool take_ordered(const frame_header& outer, const std::byte* block) noexcept;
  bool deliver(const std::byte* block, std::size_t size) noexcept;
  bool has_turn() const noexcept { return !early_.empty() && early_.begin()->first == expected_; }
  bool deliver_early(std::size_t most) noexcept;
  protocol_coroutine deliver_later(std::shared_ptr<peer> p) noexcept;
  void all_dead(errc why) noexcept;
  bool take_fragment(const frame_header& h, const frame_extension& x,
                     const std::byte* payload) noexcept;
  void lose(rail& l) noexcept;
  void give_up(rail& l) noexcept;
  bool tell_given_up() noexcept;
  bool send_new(const frame_header& header, const frame_extension* extension,
                transports::gather data) noexcept;
  rail* best() noexcept;
  bool is_way_of(const rail& l, std::uint64_t total) const noexcept;
  rail* choose(std::uint64_t size, std::uint64_t left, std::uint64_t total) noexcept;
  transports::post put_on(rail& l, std::list<item>& what) noexcept;
  bool send_again(std::list<item>& which) noexcept;
  bool send_ordered_again() noexcept;
  bool send_all_again() noexcept;
  item wrap(const frame_header& header, const frame_extension* extension,
            transports::gather data) const;
  void measure(rail& l, std::uint64_t bytes, detail::time_point since) noexcept;
  transports::post not_now() noexcept;
  void go_on() noexcept;

  const protocol_services& services_;
  peer& peer_;
  std::vector<std::unique_ptr<rail>> rails_;

  // Sending.
  std::uint64_t next_ordered_ = 0;
  std::uint64_t next_fragment_ = 0;
  number_set ordered_seen_, fragments_seen_;  // known to have arrived at the other side
  // Items of rails that died. Fragments wait for ordered frames, never the reverse: by ordered
  // frames either side learns what has arrived.
  std::list<item> ordered_again_, fragments_again_;
  std::size_t untold_ = 0;  // rails that were given up and that the other side has not been told of
  bool refused_ = false;    // a frame was not taken: the peer waits for room

  // Receiving.
  std::uint64_t expected_ = 0;                             // the next ordered frame
  std::map<std::uint64_t, std::vector<std::byte>> early_;  // ordered frames beyond it
  std::size_t early_bytes_ = 0;
  bool delivering_later_ = false;
  errc dead_ =
      errc::ok;  // why no rail is alive, while frames that had arrived are still being delivered
  number_set fragments_;
};

}  // namespace weft::proto
