// SPDX-License-Identifier: Apache-2.0
// Keeps the progress threads of a context where options::progress_cpus wants them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cores/progress_cpus.hpp"
#include "runtime/os/cpu_set.hpp"

namespace weft::runtime {
class engine;
}
namespace weft::detail {

/// With `auto` it looks who is bound where on this host, and places the threads by
/// runtime::choose_progress_cpus: when the context begins; some times more, until all ranks of the
/// host are there and bound; and when peers come and go. Nothing of it is on a message's path: it
/// works on the control plane's thread, which calls what does not say otherwise. Owned by the
/// control plane.
class progress_placement {
 public:
  /// Calls a function on the control plane's thread after that time, unless the context ends.
  using later = std::function<void(std::chrono::microseconds, std::function<void()>)>;

  /// \param wanted options::progress_cpus, checked
  /// \param ranks of this job on this host, as far as the launcher tells; 0: not known
  progress_placement(std::string wanted, std::size_t ranks)
      : wanted_(std::move(wanted)), ranks_(ranks) {}

  /// The progress threads run, if there are any. Places them if no look is needed for that. Once,
  /// before `start`, by the application's thread. \param engines of all lanes; they live as long
  /// \throws weft::error (invalid_argument): the list names no core that the process may use
  void attach(const std::vector<runtime::engine*>& engines);
  void start(later call);
  /// A process of this host is a peer, perhaps known already, as long as the channel lasts.
  /// \param channel a name for it \param process 0: of another container, without a number here
  void met(const void* channel, pid_t process) noexcept;
  void parted(const void* channel) noexcept;

  /// One line for people, after a fresh look; empty: there is no progress thread. Any thread.
  std::string describe();

 private:
  bool is_automatic() const noexcept { return wanted_ == "auto"; }
  void look_and_plan() noexcept;
  void plan() noexcept;
  bool look() noexcept;
  void place(const runtime::progress_cpus& chosen);

  const std::string wanted_;
  later call_;  // null: there is nothing to look for
  bool planned_ = false;
  unsigned looks_left_ = 0;  // while ranks begin
  std::chrono::microseconds pause_{};
  std::mutex mutex_;
  // Guarded by mutex_:
  std::size_t ranks_;  // 0 once all were found: ranks that are missing later have ended
  std::vector<runtime::engine*> engines_;  // with progress threads; constant, as the next one
  runtime::cpu_set inherited_;
  std::map<const void*, pid_t> peers_;  // by channel; several may be to one process
  std::string reason_;
  std::chrono::microseconds last_look_{};  // what it took
};

}  // namespace weft::detail
