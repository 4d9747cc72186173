// SPDX-License-Identifier: Apache-2.0
// All ranks of one job, and the thread of virtual time that runs them.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/coro/detail/detached_task.hpp>

#include "runtime/progress/engine.hpp"
#include "scale/fabric.hpp"
#include "scale/rank.hpp"

namespace scale {

/// Bytes of the heap in use; 0 where the C library does not say (sanitizers).
std::size_t heap_in_use() noexcept;

/// What one run of a collective cost.
struct outcome {
  double microseconds = 0;  ///< from the common beginning to the end of the last rank
  traffic total;            ///< of all ranks
  traffic most;             ///< of the rank with the most of each
};

/// What the ranks of a job know of each other.
struct known_peers {
  double peers = 0;                ///< of a rank, on average
  std::size_t most_peers = 0;      ///< of one rank
  double links = 0;                ///< opened by a rank, on average
  std::size_t heap_idle = 0;       ///< bytes of a rank before its first message, on average
  std::size_t heap_connected = 0;  ///< bytes that came with its peers
};

/// Runs collectives of all ranks on one engine and the fabric. A link is made at once when a rank
/// first sends to another one: setting up connections takes no virtual time here. One thread.
class job final : weft::pollable {
 public:
  /// \param forced algorithms in place of those that weft chooses
  job(const network& net, peer_id ranks, const weft::collectives::forced_choices& forced = {});
  ~job() override;
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  peer_id size() const noexcept { return size_; }
  fabric& way() noexcept { return fabric_; }
  const weft::detail::communicator_ptr& group(peer_id r) const noexcept { return ranks_[r]->group; }

  /// Runs one task at each rank until nothing is under way any more.
  /// \throws what a task threw; std::runtime_error: a task never ended
  outcome run(const std::function<weft::task<void>(peer_id)>& make);

  /// What is allocated from now on, and is there when `known` is called, came with peers.
  void begin_to_know() noexcept { heap_before_links_ = heap_in_use(); }
  /// As the runs so far have left it.
  known_peers known() const;

 private:
  class starter;

  // pollable: each poll is one delivery
  unsigned poll() noexcept override;
  bool has_work() noexcept override { return false; }

  void make_links();
  void hand_over(const delivery& p);
  void ended(peer_id r, std::exception_ptr failure) noexcept;

  const peer_id size_;
  fabric fabric_;
  weft::runtime::engine engine_;
  std::vector<std::unique_ptr<rank>> ranks_;
  std::vector<std::unique_ptr<starter>> starters_;
  std::vector<wanted_link> wanted_;
  std::size_t links_ = 0;
  std::size_t heap_idle_ = 0, heap_before_links_ = 0;
  peer_id last_ = 0;  // took the last delivery

  // Of the present run.
  std::size_t begun_ = 0, running_ = 0;
  picoseconds last_end_{0};
  std::exception_ptr failure_;
  std::atomic<bool> quiet_{false};
};

}  // namespace scale
