// SPDX-License-Identifier: Apache-2.0
// What the connection manager reports, beside the events of its channels.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "wireup/base/frame.hpp"
#include "wireup/channel/channel_events.hpp"
#include "wireup/channel/incoming_request.hpp"

namespace weft::wireup {

/// Called on the manager's thread, one call at a time, without any lock held; may call back into
/// the manager, and outlives it.
class manager_events {
 public:
  /// A channel is live. \return whom it reports to, unless it has been given another one
  /// (channel::report_to)
  virtual channel_events& on_live(const channel_ptr& c) noexcept = 0;
  /// A channel that was live has ended; its channel_events hear how.
  virtual void on_released(const channel&) noexcept {}
  /// A connection request has come to a listener. \param listener_number as open_listener returned
  virtual void on_connection_request(std::uint64_t listener_number,
                                     std::unique_ptr<incoming_request> r);
  /// A process of this user asks what the context waits for.
  /// \param answer for any thread, once; also after the manager's end. Empty, as by default: there
  ///   is no context
  virtual void on_dump_request(dump_form form, std::function<void(std::string text)> answer);
  /// There was no memory for work under way: a request to the manager that has not been answered
  /// may never be. May throw std::bad_alloc, and is called again then.
  virtual void on_exhausted() {}
  /// An event that people should know of and no operation reports: a client was refused, a peer
  /// broke the protocol.
  virtual void on_notice(const std::string& sentence) = 0;

 protected:
  ~manager_events() = default;
};

}  // namespace weft::wireup
