// SPDX-License-Identifier: Apache-2.0
// Transfers of a device between this process's memory and one peer's, without frames.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "transports/verbs/regions.hpp"
#include "transports/verbs/send_queue.hpp"

namespace weft::transports::verbs {

/// Reads and writes of the peer's memory that are under way, and the memory of this side that the
/// peer may reach. All work of one transfer is posted at once, so that frames sent after a write
/// arrive after it. Owned by a pair; progress lock held only.
class transfers {
 public:
  /// Places of the send queue that one transfer takes, at most: frames have their turn beside it.
  static constexpr std::uint32_t most_works = send_queue::depth / 4;
  /// Shorter transfers cost more than the frames that they would save: registration, and a round
  /// trip.
  static constexpr std::size_t least = 16 * 1024;

  /// \param on, known, d outlive this
  transfers(send_queue& on, registration_cache& known, const device& d)
      : queue_(on), cache_(known), longest_(d.can().longest) {}

  /// As link::get and link::put, on a connection that is up; `busy`: not before the send queue has
  /// `most_works` places.
  /// \param trouble an errno, if the queue pair has broken in the middle: `posted` work ends when
  ///   the queue pair does
  post read(scatter into, remote_address from, std::size_t size, std::uint64_t cookie,
            int& trouble) noexcept;
  post write(gather data, remote_address to, std::size_t size, std::uint64_t cookie,
             int& trouble) noexcept;

  /// As link::expose and link::expect.
  std::optional<remote_address> show(std::span<std::byte> memory, memory_access how) noexcept;
  void withdraw(remote_address what) noexcept;

  /// The device has done the work of that place of the queue, and all before it.
  /// \param in is told of transfers that have ended
  void done(std::uint32_t place, frame_sink& in) noexcept;

  /// Whether the device of either side may touch memory of the application.
  bool any() const noexcept { return !under_way_.empty() || !shown_.empty(); }
  /// From now on the frame sink is not told of ends.
  void fall_silent() noexcept { silent_ = true; }
  /// Only when the queue pair has gone.
  void let_go() noexcept {
    under_way_.clear();
    shown_.clear();
  }

 private:
  struct transfer {
    std::uint64_t cookie;
    std::uint32_t last;  // place in the queue
    std::vector<registration_cache::use> memory;
  };
  struct shown {
    std::uint64_t name;
    registration_cache::use memory;
  };

  template <class Buffer>
  std::uint32_t works_for(cursor<Buffer> here, std::size_t size) const noexcept;
  template <class Buffer>
  bool enlist(cursor<Buffer> here, std::size_t size, memory_access how, transfer& t,
              std::vector<ibv_sge>& works);
  template <class Buffer>
  post move(ibv_wr_opcode what, cursor<Buffer> here, remote_address there, std::size_t size,
            std::uint64_t cookie, int& trouble) noexcept;

  send_queue& queue_;
  registration_cache& cache_;
  const std::size_t longest_;  // bytes in one work
  std::deque<transfer> under_way_;
  std::vector<shown> shown_;
  bool silent_ = false;
};

}  // namespace weft::transports::verbs
