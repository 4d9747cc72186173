// SPDX-License-Identifier: Apache-2.0
// The interface of a connection between two contexts.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/transport/wireup_message.hpp>

#include "runtime/descriptors/fd.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/base/failure.hpp"
#include "wireup/base/identity.hpp"

namespace weft::wireup {

class channel_events;

/// An authenticated connection to another context: over a Unix socket, so that wire-up messages
/// carry descriptors, or over TCP, where they carry bytes only. It stays open as long as the two
/// contexts know each other, so that each learns of the other's end. Shared by the connection
/// manager and its users.
class channel {
 public:
  virtual ~channel() = default;

  /// The other side. Its id is proven; job, rank and locator are what the context with that id
  /// says. Over a Unix socket pid and user were checked with the kernel (pid 0: of a process in
  /// another container, which has no number here); over TCP it knows the job's key, and its pid
  /// is 0.
  virtual const identity& peer() const noexcept = 0;

  /// The lane of this side that the channel belongs to. Once it is live; the manager's thread.
  virtual lane_number lane() const noexcept { return 0; }

  /// Whether it is a Unix socket: then both run on one kernel and can share memory.
  virtual bool carries_descriptors() const noexcept = 0;

  /// Over TCP: numeric addresses of where the other side is, that of this connection and those that
  /// it named when it connected. Over a Unix socket none: it is on this host.
  virtual std::vector<std::string> hosts() const { return {}; }

  /// Its events go there from now on, instead of to its lane. The manager's thread.
  virtual void report_to(channel_events& whom) = 0;

  /// Queues a wire-up message. Any thread; never blocks; lost silently if the channel has ended
  /// (channel_events::on_ended tells). Wire-up messages arrive in order. \throws weft::error
  /// (invalid_argument) if the wire-up message is larger than a wire-up message may be, or has
  /// descriptors that this channel cannot carry
  virtual void send(transports::wireup_message p) = 0;

  /// Authenticates bytes to the other end, and to no third party, where the two communicate
  /// outside this channel. Any thread.
  virtual digest sign(std::span<const std::byte> bytes) const noexcept = 0;

  /// Closes in good order after what is queued. Any thread.
  virtual void close() = 0;

  /// A pidfd of the peer's process, also where that has no number here; none: it runs on another
  /// host, or cannot be told. The manager's thread.
  virtual unique_fd process() const { return {}; }

  /// The caller knows that the peer's process has ended. What it sent before, a good-bye too, is
  /// delivered, and then the channel ends, also if a forked child keeps the socket open. Any
  /// thread.
  virtual void process_ended() = 0;
};

using channel_ptr = std::shared_ptr<channel>;

/// Called with a channel, or with null and the reason why there is none.
using channel_ready = std::function<void(channel_ptr, const failure& why)>;

}  // namespace weft::wireup
