// SPDX-License-Identifier: Apache-2.0
// The software device: takes descriptors, runs them in slices, counts events, starts chains.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "transports/qdma/device/event.hpp"
#include "transports/qdma/peer.hpp"
#include "transports/qdma/shared_segment.hpp"
#include "transports/qdma/table.hpp"

namespace weft::transports::qdma {

/// One context's device. The engine polls it: in `dedicated` mode the progress thread does while
/// the application does other work. The owner carries cards from one process to another. Every
/// function is called with the progress lock held unless it says otherwise.
class device final : public pollable {
 public:
  static constexpr std::size_t default_arena = std::size_t{64} << 20;
  static constexpr std::size_t slice = 64 * 1024;  ///< bytes copied before others have their turn
  static constexpr std::uint32_t most_hops = 65536;
  static constexpr std::size_t most_runs = 65536;

  /// \param e its doorbell is rung by peers; must outlive the device
  /// \param name the socket where the device can be met, for the table
  /// \throws weft::error (system)
  device(runtime::engine& e, table t, socket_id name, std::size_t arena_bytes = default_arena);
  ~device() override;  ///< close() has ended everything

  /// Ends waiting operations, and releases the id. Later operations end with errc::closed.
  void close() noexcept;

  vpid self() const noexcept { return self_; }
  const table& contexts() const noexcept { return table_; }
  table& contexts() noexcept { return table_; }

  // --- others ------------------------------------------------------------------------------

  /// The card that others need to meet this device. \throws weft::error when descriptors run out
  wireup_message card() const;

  /// Takes the card of another context of the same table.
  /// \param pid of its process, from the kernel
  /// \return its id \throws weft::error (protocol_error) naming what is wrong with it
  vpid meet(const wireup_message& card, pid_t pid);

  bool knows(vpid v) const noexcept { return v == self_ || peers_.contains(v); }
  std::size_t known() const noexcept { return peers_.size(); }

  /// The peer has ended: descriptors that name it fail, and events that depend on it.
  void lose(vpid v) noexcept;

  // --- descriptors -------------------------------------------------------------------------

  /// Begins a chain; steps that are possible at once are done inside the call.
  void start(chain_steps steps) noexcept;

  // --- events ------------------------------------------------------------------------------

  std::uint64_t make_event(std::uint64_t completions, bool repeat);
  void drop_event(std::uint64_t key) noexcept;  ///< no operation waits for it
  void arm_event(std::uint64_t key, std::uint64_t completions) noexcept;
  void hang(std::uint64_t key, chain_steps steps);
  void depend(std::uint64_t key, vpid on);

  /// \return true: ended already
  bool wait(weft::qdma::trigger_operation& op) noexcept;
  void cancel(weft::qdma::trigger_operation& op) noexcept;

  // --- queues ------------------------------------------------------------------------------

  /// \throws weft::error (out_of_memory)
  std::uint32_t open_queue();
  void close_queue(
      std::uint32_t number) noexcept;  ///< no operation receives from it; messages are dropped
  bool receive(weft::qdma::receive_operation& op) noexcept;
  void cancel(weft::qdma::receive_operation& op) noexcept;

  // --- memory ------------------------------------------------------------------------------

  own_regions& regions() noexcept { return segment_.regions(); }
  segment_memory& segment() noexcept { return segment_.memory(); }

  std::uint64_t failures() const noexcept { return failures_; }
  std::uint64_t refused_signals() const noexcept { return refused_signals_; }
  std::string describe() const;

  // source
  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  void wake_peer() noexcept override;
  bool has_unconsumed() const noexcept override;
  std::uint64_t bells_rung() const noexcept override;

 private:
  /// A chain under way.
  struct run {
    chain_steps steps;
    std::size_t next = 0;      // step
    std::uint64_t copied = 0;  // bytes of that step
    std::uint32_t hops = 0;    // descriptors since an application began the chain
    errc failed = errc::ok;    // a step has failed: only signals are left
    std::string why;
  };
  struct box {
    box(queue_memory& q, queue_progress& p, vpid me) : reader(q, p), own(q, p, me) {}
    queue_reader reader;
    queue_writer own;  // for messages that this process posts to itself
    bool open = false;
    std::deque<weft::qdma::receive_operation*> waiting;
  };
  using destination = std::pair<vpid, std::uint32_t>;

  // device_run.cpp
  enum class visit_end : std::uint8_t { over, again, parked };
  visit_end visit(run& r) noexcept;
  outcome step(run& r, const weft::qdma::descriptor& d) noexcept;
  outcome copy(run& r, const weft::qdma::descriptor& d) noexcept;
  outcome post(run& r, vpid to, std::uint32_t queue, std::span<const std::byte> bytes) noexcept;
  outcome send_signal(run& r, const weft::qdma::descriptor& d) noexcept;
  outcome fail(run& r, errc kind, std::string why) noexcept;
  outcome fail_unknown(run& r, vpid to) noexcept;
  void add(run r) noexcept;
  bool park(run& r, destination where) noexcept;
  unsigned run_some() noexcept;
  unsigned retry_parked() noexcept;

  // device_events.cpp
  counted_event* find(std::uint64_t key) noexcept;
  void count(std::uint64_t key, std::uint32_t hops, errc failed, const std::string& why) noexcept;
  void miss(counted_event& e, vpid who) noexcept;
  void trigger(counted_event& e) noexcept;
  void fire(counted_event& e) noexcept;
  unsigned take_signals() noexcept;

  unsigned deliver() noexcept;
  void hand_over(box& b, weft::qdma::receive_operation& op, const queue_reader::view& m) noexcept;
  void look_after_queues() noexcept;
  void notify_writable(box& b) noexcept;

  runtime::engine& engine_;
  table table_;
  shared_segment segment_;
  vpid self_ = 0;
  bool closed_ = false;
  bool refusing_ = false;  // more chains than most_runs
  std::unordered_map<vpid, std::unique_ptr<peer>> peers_;
  std::array<vpid, 64> last_lost_{};  // their entries may not show it yet: sockets close earlier
  std::size_t lost_ = 0;
  std::deque<counted_event> events_;
  std::vector<std::uint32_t> free_events_;
  std::vector<box> boxes_;
  std::deque<run> ready_;
  std::map<destination, std::deque<run>> parked_;  // wait for room, in order
  std::size_t parked_runs_ = 0;
  std::uint32_t passes_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t refused_signals_ = 0;
  std::string last_failure_;
};

}  // namespace weft::transports::qdma
