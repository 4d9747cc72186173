// SPDX-License-Identifier: Apache-2.0
// What the engine does for weft's own transports in shared memory, beyond the installed interface.
#pragma once

#include <weft/transport/services.hpp>

#include "runtime/completion/second_queue.hpp"
#include "runtime/sleep/doorbell.hpp"

namespace weft::runtime {

/// Implemented by the engine. Progress lock held.
class own_services : public transports::services {
 public:
  /// The context's doorbell, which peers in shared memory ring. A transport of another library is
  /// woken by pollable::handle.
  virtual doorbell& own_doorbell() noexcept = 0;

  /// The thread that reads a second queue in mode `two_threads`; null in all other modes.
  virtual second_queue_reader* completion_thread() noexcept = 0;

  /// \param s as a factory gets it: a context passes its engine
  static own_services& of(transports::services& s) noexcept {
    return static_cast<own_services&>(s);
  }

 protected:
  ~own_services() = default;
};

}  // namespace weft::runtime
