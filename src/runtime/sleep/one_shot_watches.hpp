// SPDX-License-Identifier: Apache-2.0
// Watches of descriptors that become readable once: for the death of a process.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <weft/detail/fd_wait.hpp>

#include "runtime/descriptors/fd.hpp"

namespace weft::runtime {

/// Waits for descriptors of weft's own, each with the work to do then. Owned by the engine;
/// destroyed after its last wait has ended or will not end any more.
class one_shot_watches {
 public:
  explicit one_shot_watches(detail::fd_wait_service& waits) noexcept : waits_(waits) {}

  /// Any thread. When `fd` is readable, `fire` is called once, without locks of weft; then both are
  /// destroyed. \param fire throws nothing \return a number for `remove`, never 0
  std::uint64_t add(std::shared_ptr<const unique_fd> fd, std::function<void()> fire);

  /// Any thread: the event is not wanted any more. `fire` may be under way. Both are destroyed
  /// soon; no effect if they were destroyed before.
  void remove(std::uint64_t number) noexcept;

 private:
  struct watch final : detail::fd_wait {
    watch(one_shot_watches& o, std::uint64_t n, std::shared_ptr<const unique_fd> f,
          std::function<void()> then) noexcept;
    one_shot_watches& owner;
    const std::uint64_t number;
    const std::shared_ptr<const unique_fd> fd;
    const std::function<void()> fire;
    bool wanted = true;  // under the owner's mutex
    std::list<watch>::iterator place;
    void on_end(errc status, const std::string& why) noexcept override;
  };

  detail::fd_wait_service& waits_;
  std::mutex mutex_;  // guards the members below
  std::uint64_t last_number_ = 0;
  std::list<watch> watches_;
};

}  // namespace weft::runtime
