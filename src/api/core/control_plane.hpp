// SPDX-License-Identifier: Apache-2.0
// The part of a context that its lanes have in common.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/options.hpp>

#include "api/core/members.hpp"
#include "api/core/progress_placement.hpp"
#include "api/core/task_count.hpp"
#include "connections/connection_setup.hpp"
#include "connections/manager_proxy.hpp"
#include "wireup/job/job.hpp"
#include "wireup/manager/connection_manager.hpp"

namespace weft::detail {

class core;
struct listener_state;

/// The TCP settings of a context with these options. \param j gives the key; null: no job yet
wireup::tcp_settings tcp_settings_of(const options& o, const wireup::job* j);

/// The job, its members, the listeners, and the connection manager, which hands each channel to the
/// lane that it is for. Nothing of it is on a message's path. Shared by the lanes; started and
/// ended by the first one. Functions are for any thread, except where they say otherwise.
class control_plane final : private wireup::manager_events {
 public:
  /// \param line as core's
  control_plane(const options& chosen, const std::shared_ptr<wireup::coordinator_connection>& line);
  ~control_plane();  ///< after `end`
  control_plane(const control_plane&) = delete;
  control_plane& operator=(const control_plane&) = delete;

  /// A lane, in the order of their numbers. Before `start`, by the application's thread.
  void add(core& lane) { lanes_.push_back(&lane); }
  /// Constant once started.
  const std::vector<core*>& lanes() const noexcept { return lanes_; }

  const runtime::log_ptr& log() const noexcept { return log_; }
  wireup::job& job() noexcept { return *job_; }
  /// By which a listener at that address, or a connection to it, knows the other side. \param given
  /// for this call; none: those of the context \return null: it is known by the job's key
  /// \throws weft::error as net::tls::settings, and (invalid_argument) where nothing is encrypted
  std::shared_ptr<wireup::renewable_certificates> certificates_for(const std::string& address,
                                                                   const tls_files& given) const;
  /// Where the bells that peers ring have their names.
  const runtime::socket_folder& bells() const noexcept { return tcp_.names.folder(); }
  const wireup::encryption& encryption() const noexcept { return *tcp_.encryption; }
  detail::members& members() noexcept { return members_; }
  /// The spawned tasks of all lanes: a task of one lane may spawn another one on an idle lane, also
  /// while the context ends. Their home is the first lane.
  task_count& spawned() noexcept { return spawned_; }
  /// Drops requests once the context ends.
  wireup::connection_manager& manager() noexcept { return *manager_; }

  /// Listens, and tells the job where; from now on peers come. Once, by the application's thread.
  /// The lanes outlive the manager. \throws weft::error
  void start();
  /// The progress threads run: from now on they are where options::progress_cpus wants them.
  void place_progress_threads();
  progress_placement& placement() noexcept { return placement_; }
  /// Ends all channels, which ends the peers of all lanes, and then the thread. By the
  /// application's thread.
  /// \param failed the context ends by an exception; told to peers
  void end(bool failed);

  // Listeners, by the connection manager's number.
  /// \throws weft::error (closed) once the context ends
  void add_listener(std::uint64_t number, std::shared_ptr<listener_state> d);
  void remove_listener(std::uint64_t number);

 private:
  // manager_events
  wireup::channel_events& on_live(const wireup::channel_ptr& c) noexcept override;
  void on_released(const wireup::channel& c) noexcept override { placement_.parted(&c); }
  void on_connection_request(std::uint64_t number,
                             std::unique_ptr<wireup::incoming_request> r) override;
  void on_exhausted() override;
  void on_dump_request(wireup::dump_form form, std::function<void(std::string)> answer) override;
  void on_notice(const std::string& sentence) override {
    log_->write(log_level::warning, sentence);
  }

  void on_rank_ended(peer_id rank, bool died);
  void close_listeners();

  const runtime::log_ptr log_;
  const std::unique_ptr<wireup::job> job_;
  const wireup::tcp_settings tcp_;
  const std::shared_ptr<connections::manager_proxy> mail_ =
      std::make_shared<connections::manager_proxy>();
  detail::members members_;
  progress_placement placement_;
  std::vector<core*> lanes_;
  task_count spawned_;
  std::mutex listeners_mutex_;
  std::map<std::uint64_t, std::shared_ptr<listener_state>>
      listeners_;                  // guarded by listeners_mutex_
  bool listeners_closed_ = false;  // guarded by listeners_mutex_
  std::unique_ptr<wireup::connection_manager> manager_;
};

}  // namespace weft::detail
