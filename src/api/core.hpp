// SPDX-License-Identifier: Apache-2.0
// A context: all layers, put together.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/context.hpp>

#include "api/members.hpp"
#include "api/task_count.hpp"
#include "connections/connection_setup.hpp"
#include "connections/transport_list.hpp"
#include "proto/messenger.hpp"
#include "runtime/engine.hpp"
#include "wireup/connection_manager.hpp"
#include "wireup/job.hpp"

namespace weft::transports::qdma {
class table;
}
namespace weft::qdma::detail {
class port;
}

namespace weft::detail {

struct listener_state;

/// The TCP settings of a context with these options. \param j gives the key; null: no job yet
wireup::tcp_settings tcp_settings_of(const options& o, const wireup::job* j);

/// A transport of a test, which users cannot name.
struct external_transport {
  std::string name;  ///< for options::transports
  std::function<std::unique_ptr<transports::transport>(runtime::engine&)> make;
};

/// The layers of one context, in the order in which they depend on each other. Made and destroyed
/// by the application's thread; members are thread-safe as their own classes say.
class core {
 public:
  /// \param line the coordinator connection of a process that joins a job; null: the context
  ///   belongs to the job that a launcher started the process in, if any
  /// \param external transports that options::transports can name besides the built-in ones
  explicit core(options chosen, std::shared_ptr<wireup::coordinator_connection> line = nullptr,
                const std::vector<external_transport>& external = {});
  ~core();
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  const options& chosen() const noexcept { return options_; }
  runtime::engine& engine() noexcept { return engine_; }
  proto::messenger& messenger() noexcept { return messenger_; }
  /// Drops requests once the context ends.
  wireup::connection_manager& manager() noexcept { return *manager_; }
  /// \throws weft::error (invalid_argument) in a child of the process that made the context
  void refuse_child() const;
  /// Whether the context is ending. Any thread.
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  wireup::job* job() noexcept { return job_.get(); }
  connections::connection_setup& connections() noexcept { return connections_; }

  /// The spawned tasks. The context's end waits for them.
  task_count& spawned() noexcept { return spawned_; }

  detail::members& members() noexcept { return members_; }

  peer_id rank() const noexcept { return job_->rank(); }
  peer_id size() const noexcept { return job_->size(); }

  std::string describe() const;

  /// The transport `shm`; null: not used, and missing() says why.
  const transports::transport* shm() const noexcept { return shm_; }
  /// The transport `tcp`; null: not used, and missing() says why.
  const transports::transport* tcp() const noexcept { return tcp_; }
  /// InfiniBand and RoCE; null where there is no device.
  const transports::transport* verbs() const noexcept { return verbs_; }
  const std::string& missing() const noexcept { return transports_.notes(); }
  const connections::transport_list& transports() const noexcept { return transports_; }

  /// Memory that peers can map (weft/memory.hpp). \throws weft::error
  std::span<std::byte> allocate_shared(std::size_t size);
  void free_shared(std::span<std::byte> memory) noexcept;

  /// As context::invalidate_registrations and context::snapshot.
  void forget(std::span<const std::byte> memory) noexcept;
  metrics snapshot() const;

  /// The context's qdma device, which lives until its end. \throws weft::error
  qdma::detail::port& open_qdma(transports::qdma::table t);

  // Listeners, by the connection manager's number. Any thread.
  /// \throws weft::error (closed) once the context ends
  void add_listener(std::uint64_t number, std::shared_ptr<listener_state> d);
  void remove_listener(std::uint64_t number);

 private:
  void make_transports(const std::vector<external_transport>& external);
  std::unique_ptr<transports::transport> make_entry(const std::string& name,
                                                    const std::vector<external_transport>& external,
                                                    std::string& missing);
  std::unique_ptr<transports::transport> make_transport(
      const std::string& name, const std::vector<external_transport>& external,
      std::string& missing);
  void start_control_plane();
  void close_listeners();
  void drain_connections();

  const options options_;
  std::unique_ptr<wireup::job> job_;
  runtime::engine engine_;
  connections::transport_list transports_;
  transports::transport* shm_ = nullptr;
  transports::transport* tcp_ = nullptr;
  transports::transport* verbs_ = nullptr;
  proto::messenger messenger_;
  connections::connection_setup connections_;
  detail::members members_;
  task_count spawned_;
  std::atomic<bool> ended_{false};
  std::mutex listeners_mutex_;
  std::map<std::uint64_t, std::shared_ptr<listener_state>>
      listeners_;                  // guarded by listeners_mutex_
  bool listeners_closed_ = false;  // guarded by listeners_mutex_
  std::unique_ptr<wireup::connection_manager> manager_;
  std::shared_ptr<qdma::detail::port>
      qdma_;  // null: none was opened; set with the progress lock held
};

}  // namespace weft::detail
