// SPDX-License-Identifier: Apache-2.0
// Another context that was met: its queues, its regions, its doorbell.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "runtime/sleep/doorbell.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/regions.hpp"

namespace weft::transports::qdma {

/// The result of a piece of work with a peer.
enum class outcome : std::uint8_t {
  done,
  later,   ///< a full queue, or a region with too many holds: try again
  failed,  ///< `why` has the reason
  lost     ///< as failed, and the process is ending: its table entry may not show it yet
};

/// Owned by the device; progress lock held only. Made from a card that the constructor checks; the
/// contents of the memory that came with it are checked at each use.
class peer {
 public:
  /// \param me the id by which the peer knows this process
  /// \param fds of its card: shared segment, region directory, arena
  /// \param pid from the kernel, not from the peer
  /// \throws weft::error (protocol_error) naming what is wrong with the card; (system)
  peer(vpid me, const device_address_body& card, std::span<const unique_fd> fds,
       std::shared_ptr<runtime::remote_doorbell> own_bell, pid_t pid);

  vpid who() const noexcept { return who_; }

  /// Posts a message. `later`: the peer will ring when there is room; see also wake_peer.
  outcome post(std::uint32_t queue, std::span<const std::byte> bytes) noexcept;

  /// Whether such a copy is allowed at present. \return null, or why not
  const char* check(bool write, std::uint64_t key, std::uint64_t offset,
                    std::uint64_t size) const noexcept;

  /// Copies between `here` and a region of the peer, if the key, its bounds and rights allow it.
  outcome copy(bool write, std::uint64_t key, std::uint64_t offset, std::byte* here,
               std::size_t size, const char*& why) noexcept;

  runtime::remote_doorbell& peer_doorbell() noexcept { return *doorbell_; }
  /// For senders that fill slots themselves.
  queue_writer& writer(std::uint32_t queue) noexcept { return writers_[queue]; }
  /// How far the peer has read this process's stage.
  const stage_progress& stage() const noexcept { return directory_->stage[index_of(me_)]; }

  /// Wakes the peer: there is room again in a queue of this process, or a message for the peer.
  /// \return whether a bell was rung
  bool ring() noexcept;

  /// Rings the peer if it does not poll and has not read all that was posted.
  void wake_peer() noexcept;
  bool has_unconsumed() const noexcept { return any_unconsumed_; }
  std::uint64_t bells_rung() const noexcept { return doorbell_->rung(); }

  /// The key of the region that a frame names; 0: none.
  std::uint64_t key_named(remote_address a) const noexcept {
    return qdma::key_named(*directory_, a);
  }
  /// Whether that region's memory is mapped in this process.
  bool is_mapped(std::uint64_t key) const noexcept;

  const std::string& no_cma() const noexcept { return no_cma_; }

 private:
  outcome came_in_time(std::uint64_t key, const char*& why) const noexcept;

  const vpid me_;
  const vpid who_;
  const pid_t pid_;
  runtime::mapping segment_mapping_, directory_mapping_, arena_;
  segment_memory* segment_;
  const region_directory* directory_;
  std::vector<queue_writer> writers_;
  std::shared_ptr<runtime::remote_doorbell> doorbell_;
  std::string no_cma_;  // why the peer's own memory cannot be reached; empty: it can
  bool any_unconsumed_ = false;
};

}  // namespace weft::transports::qdma
