// SPDX-License-Identifier: Apache-2.0
// The shared-memory state of one peer.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/sleep/doorbell.hpp"
#include "transports/shm/link.hpp"
#include "transports/shm/regions.hpp"
#include "transports/shm/ring_receiver.hpp"
#include "transports/shm/transfers.hpp"

namespace weft::transports::shm {

class shm_transport;

/// The state that both directions share (the link to the peer and the ring receiver of the peer's
/// frames): the peer's doorbell, whether its memory can be read, the regions that it has shown.
/// Owned by the transport; progress lock held only. The two directions are connected independently,
/// each by its sender on first use, so that two processes that begin at the same moment do not
/// disturb each other.
class alignas(line) pair {
 public:
  pair(shm_transport& owner, transports::frame_sink& peer, counterpart who) noexcept
      : owner_(owner), frame_sink_(peer), who_(std::move(who)) {}

  std::unique_ptr<ring_link> open(wireup_message& offer);            // see transport::open
  std::string accept(wireup_message offer, wireup_message& answer);  // see transport::accept
  std::string take_answer(wireup_message answer);
  void note(wireup_message p) noexcept;                           // see transport::note
  bool pass(const unique_fd& file, std::uint32_t what) noexcept;  // see link::pass

  /// A short range is copied at once outside of a pass, where another thread would have to be woken
  /// for it; a longer one in later passes, and by both sides if possible.
  post get(scatter into, remote_address from, std::size_t size, std::uint64_t cookie) noexcept;
  /// \return false: the data cannot be read, or the peer's application may have its memory back
  bool copy_slice(transfer& t) noexcept;
  /// Whether this side may write to the peer's memory: the process with its number is the peer, as
  /// a probe of its memory has shown.
  bool may_write() const noexcept { return receiver_ && no_cma_.empty(); }
  /// Writes to memory of the peer, which it has named. \return false: the kernel refuses that, or
  /// the peer has ended
  bool write(std::uint64_t to, std::uint64_t from, std::size_t size) const noexcept;
  /// No chunk of a shared copy is written by the peer from now on.
  void end_share() noexcept;
  preference prefers_get(remote_address from, std::size_t size) const noexcept;
  peer_view view(remote_address from, std::size_t size) noexcept;
  std::optional<remote_address> expose(const_buffer data) noexcept;
  /// A region of this process was freed.
  void hide(std::uint64_t place) noexcept { shown_regions_.hide(place, who_.tell); }

  runtime::remote_doorbell& peer_doorbell() noexcept { return *doorbell_; }
  std::uint64_t bells_rung() const noexcept { return doorbell_ ? doorbell_->rung() : 0; }
  transports::frame_sink& frame_sink() const noexcept { return frame_sink_; }
  ring_receiver* incoming() noexcept { return receiver_ ? &*receiver_ : nullptr; }
  ring_link* outgoing() noexcept { return link_; }
  void lose_outgoing() noexcept { link_ = nullptr; }
  void lose_incoming() noexcept { receiver_.reset(); }
  shm_transport& owner() const noexcept { return owner_; }

  /// State of the transport's polling order.
  bool active = false;
  bool rest_due = false;  // read_policy_transport's
  std::uint32_t empty_polls = 0;

  std::string describe() const;

 private:
  void learn_doorbell(const wireup_message& p, std::size_t page_fd);
  bool has_ended() const noexcept;
  bool copy_alone(transfer& t, std::size_t size) noexcept;
  bool is_still_there() const noexcept;
  bool copy_region(transfer& t, std::size_t size) noexcept;
  bool read_foreign(transfer& t, std::size_t size) noexcept;
  std::size_t slice() const noexcept;
  bool begin_share(transfer& t) noexcept;
  bool copy_shared(transfer& t) noexcept;
  void note_progress(transfer& t) noexcept;
  bool ends_soon(transfer& t) noexcept;
  bool lose_cma(int error) noexcept;

  shm_transport& owner_;
  transports::frame_sink& frame_sink_;
  counterpart who_;
  std::unique_ptr<runtime::remote_doorbell> doorbell_;
  std::optional<ring_receiver> receiver_;
  ring_link* link_ = nullptr;             // owned by the protocol layer
  std::string no_cma_ = "not tried yet";  // why process_vm_readv is not used; empty: it works
  bool peer_cannot_share_ = false;
  peer_regions peer_regions_;
  shown_regions shown_regions_;
};

}  // namespace weft::transports::shm
