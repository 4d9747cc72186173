// SPDX-License-Identifier: Apache-2.0
// Another context that was met: its queues, its regions, its doorbell.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "runtime/doorbell.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/regions.hpp"

namespace weft::transports::qdma {

/// How a piece of work with a peer went.
enum class outcome : std::uint8_t {
  done,
  later,   ///< a full queue, or a region that too many hold: try again
  failed,  ///< and `why` says it
  lost     ///< the same, and the process is ending: its table entry may not show it yet
};

/// Owned by the device; progress lock held only. Made from a card that is checked here; what lies
/// in the memory that came with it is checked at each use.
class peer {
 public:
  /// \param me what it knows this process by
  /// \param fds of its card: shared segment, region directory, arena
  /// \param pid from the kernel, not from the peer
  /// \throws weft::error (protocol_error) naming what is wrong with the card; (system)
  peer(vpid me, const device_address_body& card, std::span<const runtime::unique_fd> fds,
       std::shared_ptr<runtime::remote_doorbell> own_bell, pid_t pid);

  vpid who() const noexcept { return who_; }

  /// Posts a message. `later`: and it will ring when there is room, or see wake_peer.
  outcome post(std::uint32_t queue, std::span<const std::byte> bytes) noexcept;

  /// Whether such a copy is allowed, as things are now. \return null, or why not
  const char* check(bool write, std::uint64_t key, std::uint64_t offset,
                    std::uint64_t size) const noexcept;

  /// Copies between here and a region of the peer's, if the key, its bounds and rights allow it.
  outcome copy(bool write, std::uint64_t key, std::uint64_t offset, std::byte* here,
               std::size_t size, const char*& why) noexcept;

  runtime::remote_doorbell& peer_doorbell() noexcept { return *doorbell_; }
  /// For those that fill slots themselves.
  queue_writer& writer(std::uint32_t queue) noexcept { return writers_[queue]; }
  /// How far it has read of what this process has laid out for it.
  const stage_progress& stage() const noexcept { return directory_->stage[index_of(me_)]; }

  /// There is room again in a queue of this process, or a message.
  void ring() noexcept;

  /// Rings it if it does not look and has not seen all that was posted.
  void wake_peer() noexcept;
  bool has_unconsumed() const noexcept { return any_unconsumed_; }
  std::uint64_t bells_rung() const noexcept { return doorbell_->rung(); }

  /// The key that a name in a frame means; 0: none.
  std::uint64_t key_named(remote_address a) const noexcept {
    return qdma::key_named(*directory_, a);
  }
  /// Whether that region's memory is mapped here.
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
  std::string no_cma_;  // why its own memory cannot be reached; empty: it can
  bool any_unconsumed_ = false;
};

}  // namespace weft::transports::qdma
