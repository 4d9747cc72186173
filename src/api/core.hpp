// SPDX-License-Identifier: Apache-2.0
// All of a context, tied together.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/context.hpp>

#include "api/links.hpp"
#include "proto/messenger.hpp"
#include "runtime/engine.hpp"
#include "wireup/connection_manager.hpp"
#include "wireup/job.hpp"

namespace weft::detail {

struct door_state;

/// A transport that users cannot name: a test brings it along.
struct guest_transport {
  std::string name;  ///< for options::transports
  std::function<std::unique_ptr<transports::transport>(runtime::engine&)> make;
};

/// The layers of one context, in the order in which they depend on each other. Made and destroyed
/// by the application's thread; members are thread-safe as their own classes say.
class core {
 public:
  explicit core(options chosen, std::vector<guest_transport> guests = {});
  ~core();
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  const options& chosen() const noexcept { return options_; }
  runtime::engine& engine() noexcept { return engine_; }
  proto::messenger& messenger() noexcept { return messenger_; }
  /// \throws weft::error (closed) once the context is on its way out
  wireup::connection_manager& manager() {
    if (!manager_) throw error(errc::closed, "the context has ended");
    return *manager_;
  }
  bool has_manager() const noexcept { return manager_ != nullptr; }
  wireup::job* job() noexcept { return job_.get(); }
  class links& links() noexcept { return links_; }

  peer_id rank() const noexcept { return job_ ? job_->rank() : 0; }
  peer_id size() const noexcept { return job_ ? job_->size() : 1; }

  std::string describe() const;

  /// The transport `shm`; null: not used, and missing() says why.
  const transports::transport* shm() const noexcept { return shm_; }
  /// The transport `tcp`; null: not used, and missing() says why.
  const transports::transport* tcp() const noexcept { return tcp_; }
  const std::string& missing() const noexcept { return notes_; }

  /// Memory that peers can map (weft/memory.hpp). \throws weft::error
  std::span<std::byte> allocate_shared(std::size_t size);
  void free_shared(std::span<std::byte> memory) noexcept;

  // Doors, by the connection manager's number. Any thread.
  void add_door(std::uint64_t number, std::shared_ptr<door_state> d);
  void remove_door(std::uint64_t number);

 private:
  void make_transports(const std::vector<guest_transport>& guests);
  void start_control_plane();
  void close_doors();
  void say_the_last_words();

  const options options_;
  std::unique_ptr<wireup::job> job_;
  runtime::engine engine_;
  std::vector<links::way> ways_;
  std::string notes_;  // transports that were left out, and why
  transports::transport* shm_ = nullptr;
  transports::transport* tcp_ = nullptr;
  proto::messenger messenger_;
  class links links_;
  std::mutex doors_mutex_;
  std::map<std::uint64_t, std::shared_ptr<door_state>> doors_;
  std::unique_ptr<wireup::connection_manager> manager_;
};

}  // namespace weft::detail
