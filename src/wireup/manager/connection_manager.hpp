// SPDX-License-Identifier: Apache-2.0
// The control plane of a context: finds other contexts, checks who they are, carries wire-up
// messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <weft/transport/wireup_message.hpp>

#include "runtime/os/log.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/manager/manager_events.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/tcp/tcp_settings.hpp"

namespace weft::wireup {

/// Runs Asio on one thread of its own, which sleeps unless connections come, go or carry wire-up
/// messages: nothing on the path of a message. Events are reported on that thread.
class connection_manager {
 public:
  /// Makes the context's key pair, which its id follows from, starts listening under an abstract
  /// name with that id, with a job's key also over TCP, and starts the thread. Clients wait for
  /// start_accepting().
  /// \param self job and rank of this context; id, pid and locator are filled in
  /// \param to outlives this
  /// \param lanes how many it has; a peer that asks for another one is refused
  /// \param reports told of exceptions that leave a handler or task
  /// \throws weft::error (system) when no socket can be had
  connection_manager(identity self, manager_events& to, tcp_settings tcp = {},
                     lane_number lanes = 1,
                     runtime::log_ptr reports = runtime::log_on_standard_error());
  ~connection_manager();  ///< does what end() does

  /// From now on clients are answered, and events reported. Once, when all that they need is in
  /// place.
  void start_accepting();

  /// Closes all channels (each reports its end) and listeners, ends all that is under way
  /// (`done` is called with a failure) and joins the thread; takes a second at most, if a peer does
  /// not read. Not from an event. Later requests are dropped, and their `done` is not called.
  /// \param failed peers find the channels ended by an exception, not in good order
  void end(bool failed = false);

  /// As lane 0 speaks.
  const identity& self() const noexcept;
  lane_number lanes() const noexcept;

  /// Runs `f` on the manager's thread, in the order of the calls; drops it once the manager ends.
  /// Any thread; never blocks.
  void post(std::function<void()> f);

  /// Runs `f` on the manager's thread after that time; end() waits for it. That thread only.
  void call_after(std::chrono::microseconds time, std::function<void()> f);

  /// The same, unless the manager ends before. Only one call waits: the next one takes its place.
  void call_later(std::chrono::microseconds time, std::function<void()> f);

  /// Opens a channel to a context whose locator is known: over its Unix socket if that can be
  /// reached, else over TCP. `done` is called on the manager's thread; with errc::peer_lost
  /// when that context has ended, before or while it was asked; with errc::invalid_argument when it
  /// has no such lane.
  void connect(const std::string& locator, channel_ready done, lane_pair lanes = {});
  /// The same for a context with a key of its own. \param key empty: this side's
  void connect(const locator& where, const job_key& key, channel_ready done, lane_pair lanes = {});

  /// Opens a listener. \param address "unix://name", "any://host:port" or "tcp://host:port" (port
  /// 0: any free one;
  ///        tcp needs a key)
  /// \param actual_address set to the address with the port that the system chose
  /// \param known called on this thread with the listener's number, before a connection request can
  ///        come there. If it throws, the listener is not opened
  /// \param lane to which its clients come
  /// \param certificates by which it and its clients know each other, at a tcp:// address; null: by
  ///        the job's key
  /// \throws weft::error invalid_argument (bad address) or system (taken; says by whom if known)
  std::uint64_t open_listener(const std::string& address, std::string& actual_address,
                              const std::function<void(std::uint64_t)>& known = {},
                              lane_number lane = 0,
                              std::shared_ptr<renewable_certificates> certificates = {});
  /// The number of a listener that every context has, without an address of its own:
  /// on_connection_request decides.
  static constexpr std::uint64_t coordinator_listener = ~std::uint64_t{0};

  /// Requests a connection at that listener of the context with that locator.
  void connect_to_coordinator(const std::string& locator, const std::string& private_data,
                              channel_ready done);

  /// Closes a listener, at once or a moment later. Requests that on_connection_request has stay
  /// valid.
  void close_listener(std::uint64_t listener_number);

  /// Requests a connection. `done` gets errc::refused if the listener rejected it, or there is
  /// none. \param private_data at most 1024 bytes, or it is told errc::invalid_argument
  /// \param lane of this context, that the connection is for
  /// \param certificates as open_listener
  void request_connection(const std::string& address, const std::string& private_data,
                          channel_ready done, lane_number lane = 0,
                          std::shared_ptr<const net::tls::settings> certificates = {});

  /// VIA's peer-to-peer form: both sides call it. Opens the listener `own`, requests a connection
  /// at `other`, and ends when either request has met a peer with an equal discriminator; one
  /// channel results, the same on both sides. Waits for the other side without limit; `cancel_meet`
  /// ends the wait (`done` is then called with a failure, unless its call was on its way already).
  /// At tcp:// addresses with tcp_settings::certificates, if there are some.
  /// \param own, other two addresses: `done` is told what is wrong with them, or with opening a
  ///   listener, as open_listener throws it
  /// \param discriminator at most 1024 bytes
  /// \param lane as request_connection
  std::uint64_t meet(const std::string& own, const std::string& other,
                     const std::string& discriminator, channel_ready done, lane_number lane = 0);
  void cancel_meet(std::uint64_t meeting);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace weft::wireup
