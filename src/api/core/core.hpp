// SPDX-License-Identifier: Apache-2.0
// A lane of a context: all layers, put together.
#pragma once

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/context.hpp>
#include <weft/detail/collective_ops.hpp>

#include "api/core/control_plane.hpp"
#include "api/core/core_mark.hpp"
#include "api/core/dump.hpp"
#include "api/core/dump_answers.hpp"
#include "api/core/metrics_file.hpp"
#include "collectives/attempts.hpp"
#include "connections/connection_setup.hpp"
#include "connections/transport_list.hpp"
#include "proto/loans/loan_pool.hpp"
#include "proto/messenger/messenger.hpp"
#include "runtime/descriptors/memory_file.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::transports::qdma {
class table;
}
namespace weft::qdma::detail {
class port;
}

namespace weft::detail {

class topic_node;

/// Something that a lane ends together with its operations: a qdma device, where it is built in.
class extension {
 public:
  /// Progress lock held.
  virtual void shut() noexcept = 0;

 protected:
  ~extension() = default;
};

/// The layers of one lane, in the order in which they depend on each other. The first lane is the
/// context itself: it makes, owns and ends the further ones. Made and destroyed by the
/// application's thread; members are thread-safe as their own classes say.
class core final : proto::call_table::host {
 public:
  /// A context with all its lanes.
  /// \param line the coordinator connection of a process that joins a job; null: the context
  ///   belongs to the job that a launcher started the process in, if any
  explicit core(options chosen,
                const std::shared_ptr<wireup::coordinator_connection>& line = nullptr);
  ~core();
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  const options& chosen() const noexcept { return options_; }
  runtime::engine& engine() noexcept { return engine_; }
  proto::messenger& messenger() noexcept { return messenger_; }
  const proto::messenger& messenger() const noexcept { return messenger_; }
  /// What the lanes share.
  control_plane& plane() noexcept { return *plane_; }
  /// Drops requests once the context ends.
  wireup::connection_manager& manager() noexcept { return plane_->manager(); }
  /// \throws weft::error (invalid_argument) in a child of the process that made the context
  void refuse_child() const;
  /// Whether the context is ending. Any thread.
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  /// As engine::is_in_use, for all lanes.
  bool is_in_use() const noexcept;
  wireup::job* job() noexcept { return &plane_->job(); }
  connections::connection_setup& connections() noexcept { return connections_; }

  /// The spawned tasks. The context's end waits for them.
  task_count& spawned() noexcept { return plane_->spawned(); }

  /// As weft::spawn, of a task that does not throw.
  void spawn(task<void> x);

  /// \throws weft::error (closed, invalid_argument), std::bad_alloc
  handler add_handler(am number, std::unique_ptr<call_code> code, handler_options how);

  /// What this lane publishes and subscribes to; made when it is needed first (src/api/topics).
  /// \throws weft::error (closed), std::bad_alloc
  topic_node& topics();

  detail::members& members() noexcept { return plane_->members(); }

  /// The group of the processes that were started together.
  const communicator_ptr& world() const noexcept { return world_; }

  collectives::job_attempts& regroupings() noexcept { return regroupings_; }

  peer_id rank() const noexcept { return plane_->job().rank(); }
  peer_id size() const noexcept { return plane_->job().size(); }
  proto::lane_number lane() const noexcept { return lane_; }
  /// Another lane, of the first one. \throws weft::error (invalid_argument)
  context& further_lane(unsigned number);

  std::string describe() const;

  // Of the first lane, with all others.
  /// As context::dump.
  std::string dump_of_all(dump_format as) { return dump_report_->make(as); }
  /// The control plane's thread.
  void answer_dump(dump_format as, dump_answers::answer told) {
    dump_answers_->ask(as, std::move(told));
  }

  const std::string& missing() const noexcept { return transports_.notes(); }
  const connections::transport_list& transports() const noexcept { return transports_; }

  /// Memory that peers can map (weft/memory.hpp). \throws weft::error
  std::span<std::byte> allocate_shared(std::size_t size);
  void free_shared(std::span<std::byte> memory) noexcept;

  /// As context::make_loan, in bytes. \throws weft::error
  loan_memory make_loan(std::size_t size);
  proto::loan_pool& loans() noexcept { return loans_; }

  /// As context::invalidate_registrations and context::snapshot.
  void forget(std::span<const std::byte> memory) noexcept;
  metrics snapshot() const;
  /// As context::snapshot_lanes; and of this lane alone.
  std::vector<lane_metrics> snapshot_lanes();
  lane_metrics snapshot_lane();

  /// The context's qdma device, which lives until its end (src/api/qdma/qdma.cpp). \throws
  /// weft::error
  qdma::detail::port& open_qdma(transports::qdma::table t);

 private:
  /// One lane.
  core(options chosen, std::shared_ptr<control_plane> plane, proto::lane_number lane);

  void call_began() noexcept override;
  void call_ended() noexcept override;
  void serve_own_calls() noexcept override;
  unsigned poll_lanes() noexcept;
  void add_loan_memory();
  bool drained(bool all) noexcept;
  void drain_connections();
  void give_up_debts() noexcept;
  void end_operations();
  metrics snapshot_held() const;
  void run_out();

  const int exceptions_before_ = std::uncaught_exceptions();
  const options options_;
  const std::shared_ptr<control_plane> plane_;
  const proto::lane_number lane_;
  runtime::engine engine_;
  std::mutex loans_made_;           // held by the thread that makes the memory for loans
  runtime::mapping private_loans_;  // that memory, if no transport allocates any
  proto::loan_pool loans_;
  connections::transport_list transports_;
  std::map<const std::byte*, transports::transport*>
      memory_;  // that a transport has allocated; progress lock held
  proto::messenger messenger_;
  connections::connection_setup connections_;
  std::atomic<bool> ended_{false};
  std::shared_ptr<extension> qdma_;  // null: none was opened; set with the progress lock held
  communicator_ptr world_;
  collectives::job_attempts regroupings_;  // progress lock held
  std::vector<context> further_lanes_;     // of the first lane: those from 1 on; constant once made
  std::unique_ptr<metrics_file> metrics_file_;  // of the first lane; null: none was asked for
  std::unique_ptr<dump_report> dump_report_;    // of the first lane, as the next one
  std::unique_ptr<dump_answers> dump_answers_;
  std::unique_ptr<dump> dump_;  // of the first lane; null: no signal asks for dumps
  std::mutex topics_made_;
  std::shared_ptr<topic_node> topics_;  // null: none was needed
  const core_mark mark_{this, sizeof(core), rank(), lane_};
};

}  // namespace weft::detail
