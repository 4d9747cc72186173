// SPDX-License-Identifier: Apache-2.0
// The software device: takes descriptors, runs them in slices, counts events, starts chains.
#pragma once

#include <memory>
#include <string>

#include "runtime/progress/engine.hpp"
#include "transports/qdma/device/event_table.hpp"
#include "transports/qdma/device/met_peers.hpp"
#include "transports/qdma/device/own_queues.hpp"
#include "transports/qdma/device/run_queue.hpp"
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
  /// No operation waits for it.
  void drop_event(std::uint64_t key) noexcept { events_.drop(key); }
  void arm_event(std::uint64_t key, std::uint64_t completions) noexcept;
  void hang(std::uint64_t key, chain_steps steps);
  void depend(std::uint64_t key, vpid on);

  /// \return true: ended already
  bool wait(weft::qdma::trigger_operation& op) noexcept;
  void cancel(weft::qdma::trigger_operation& op) noexcept;

  // --- queues ------------------------------------------------------------------------------

  /// \throws weft::error (out_of_memory)
  std::uint32_t open_queue() { return queues_.open(); }
  /// No operation receives from it; its messages are dropped.
  void close_queue(std::uint32_t number) noexcept { queues_.close(number); }
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
  void count(std::uint64_t key, std::uint32_t hops, errc failed, const std::string& why) noexcept;
  void miss(counted_event& e, vpid who) noexcept;
  void trigger(counted_event& e) noexcept;
  void fire(counted_event& e) noexcept;
  unsigned take_signals() noexcept;

  runtime::engine& engine_;
  table table_;
  shared_segment segment_;
  const vpid self_;
  met_peers peers_;
  own_queues queues_;
  event_table events_;
  run_queue runs_;
  bool closed_ = false;
  bool refusing_ = false;  // more chains than there may be
  std::uint32_t passes_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t refused_signals_ = 0;
  std::string last_failure_;
};

}  // namespace weft::transports::qdma
