// SPDX-License-Identifier: Apache-2.0
// The control plane of a context: finds other contexts, checks who they are, carries wire-up
// messages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/fd.hpp"
#include "transports/wireup_message.hpp"
#include "wireup/failure.hpp"
#include "wireup/identity.hpp"
#include "wireup/job_key.hpp"
#include "wireup/locator.hpp"

namespace weft::wireup {

/// An authenticated connection to another context: over a Unix socket, so that wire-up messages
/// carry descriptors, or over TCP, where they carry bytes only. It stays open as long as the two
/// have to do with each other, which is how each learns that the other is gone. Shared by the
/// connection manager and whoever uses it.
class channel {
 public:
  virtual ~channel() = default;

  /// The other side. Its id is proven; job, rank and locator are what the context with that id
  /// says. Over a Unix socket pid and user were checked with the kernel (pid 0: of a process in
  /// another container, which has no number here); over TCP it knows the job's key, and its pid
  /// is 0.
  virtual const identity& peer() const noexcept = 0;

  /// Whether it is a Unix socket: then both run on one kernel and can share memory.
  virtual bool carries_descriptors() const noexcept = 0;

  /// Over TCP: numeric addresses of where the other side is, that of this connection and those that
  /// it named when it connected. Over a Unix socket none: it is on this host.
  virtual std::vector<std::string> hosts() const { return {}; }

  /// Queues a wire-up message. Any thread; never blocks; lost silently if the channel is already
  /// gone (on_gone tells). Wire-up messages arrive in order. \throws weft::error (invalid_argument)
  /// if the wire-up message is larger than a wire-up message may be, or has descriptors that this
  /// channel cannot carry
  virtual void send(transports::wireup_message p) = 0;

  /// Authenticates bytes to the other end, and to nobody else: where the two meet beside this
  /// channel. Any thread.
  virtual digest sign(std::span<const std::byte> bytes) const noexcept = 0;

  /// Closes in good order after what is queued. Any thread.
  virtual void close() = 0;

  /// A pidfd of the peer's process, also where that has no number here; none: it runs on another
  /// host, or cannot be told. The manager's thread.
  virtual runtime::unique_fd process() const { return {}; }

  /// The caller knows that the peer's process is gone. What it sent before, a good-bye too, is
  /// delivered, and then the channel ends, also if a forked child keeps the socket open. Any
  /// thread.
  virtual void process_died() = 0;

  /// Whether it has ended because the peer did what no correct peer does. Any thread.
  virtual bool misbehaved() const noexcept = 0;
};

using channel_ptr = std::shared_ptr<channel>;

/// Somebody who came through a listener and waits to be let in.
class incoming_request {
 public:
  virtual ~incoming_request() = default;  ///< neither accepted nor rejected: rejects
  virtual const identity& peer() const noexcept = 0;
  virtual const std::string& private_data() const noexcept = 0;
  /// Lets the visitor in; the channel is live from now on. Null if it left meanwhile. Any thread.
  virtual channel_ptr accept() = 0;
  virtual void reject(const std::string& reason) = 0;
  /// The visitor is not there any more. Any thread.
  virtual bool left() const noexcept = 0;
};

/// How contexts on other hosts reach this one, and it them.
struct tcp_settings {
  job_key key = {};                          ///< empty: no TCP at all, neither in nor out
  std::vector<std::string> interfaces = {};  ///< whose addresses others are told; none: all
  std::chrono::seconds peer_timeout{10};     ///< silence after which a TCP channel is broken
  bool listens = true;                       ///< false: out only
};

/// Runs Asio on one thread of its own, which sleeps unless connections come, go or carry wire-up
/// messages: nothing on the path of a message. Handlers are called on that thread, one at a time,
/// without any lock held; they may call back into the manager.
class connection_manager {
 public:
  struct handlers {
    /// There was no memory for something that was under way: what was asked of the manager and has
    /// not been answered may never be. May throw std::bad_alloc, and is called again then.
    std::function<void()> on_exhausted;
    /// A wire-up message arrived on a channel, ours or the peer's. The channel can be kept.
    std::function<void(const channel_ptr&, transports::wireup_message)> on_wireup_message;
    /// A channel ended: `orderly` if the peer closed it, else it broke or the peer died. Once per
    /// channel that was live, and also after our own close().
    std::function<void(const channel_ptr&, bool orderly)> on_gone;
    /// Somebody stands at the listener `listener_number` (the number that open_listener returned).
    std::function<void(std::uint64_t listener_number, std::unique_ptr<incoming_request>)>
        on_connection_request;
    /// Something that people should know and nobody else is told: a stranger was turned away, a
    /// peer sent nonsense. One sentence. Without it, a line on stderr.
    std::function<void(const std::string&)> on_notice;
  };

  /// A channel, or why there is none.
  using connected = std::function<void(channel_ptr, const failure& why)>;

  /// Makes the context's key pair, which its id follows from, starts listening under an abstract
  /// name with that id, with a job's key also over TCP, and starts the thread; who comes waits for
  /// start_accepting().
  /// \param self job and rank of this context; id, pid and locator are filled in
  /// \throws weft::error (system) when no socket can be had
  connection_manager(identity self, handlers h, tcp_settings tcp = {});
  ~connection_manager();  ///< does what end() does

  /// From now on who connects is answered, and handlers are called: once what they need is in
  /// place. Once.
  void start_accepting();

  /// Closes all channels (on_gone is called for each) and listeners, ends all that is under way
  /// (`done` is called with a failure) and joins the thread; takes a second at most, when a peer
  /// does not read. Not from a handler. What is asked for later is dropped, and its `done` is not
  /// called.
  void end();

  const identity& self() const noexcept;

  /// Runs `f` on the manager's thread, in the order of the calls; drops it once the manager ends.
  /// Any thread; never blocks.
  void post(std::function<void()> f);

  /// Runs `f` on the manager's thread after that time; end() waits for it. That thread only.
  void call_after(std::chrono::microseconds time, std::function<void()> f);

  /// Opens a channel to a context whose locator is known: over its Unix socket if that can be
  /// reached, else over TCP. `done` is called on the manager's thread; with errc::peer_lost
  /// when that context has ended, before or while it was asked.
  void connect(const std::string& locator, connected done);
  /// The same for a context with a key of its own. \param key empty: this side's
  void connect(const locator& where, const job_key& key, connected done);

  /// Opens a listener. \param address "unix://name", "any://host:port" or "tcp://host:port" (port
  /// 0: any free one;
  ///        tcp needs a key)
  /// \param actual_address set to the address with the port that the system chose
  /// \param known called, on this thread, with the listener's number before a connection request
  /// can come there:
  ///        for what on_connection_request has to know. What it throws ends the opening
  /// \throws weft::error invalid_argument (bad address) or system (taken; says by whom if known)
  std::uint64_t open_listener(const std::string& address, std::string& actual_address,
                              const std::function<void(std::uint64_t)>& known = {});
  /// The number of a listener that every context has, without an address of its own:
  /// on_connection_request decides.
  static constexpr std::uint64_t coordinator_listener = ~std::uint64_t{0};

  /// Knocks at that listener of the context with that locator.
  void connect_to_coordinator(const std::string& locator, const std::string& private_data,
                              connected done);

  /// Shuts a listener, at once or a moment later. Visits that were announced stay to be decided.
  void close_listener(std::uint64_t listener_number);

  /// Knocks. `done` is told errc::refused when the listener rejected or nobody listens.
  /// \param private_data at most 1024 bytes, or it is told errc::invalid_argument
  void request_connection(const std::string& address, const std::string& private_data,
                          connected done);

  /// VIA's peer-to-peer form: both sides call it. Opens the listener `own`, knocks at `other`, and
  /// ends when either way has met a peer with an equal discriminator; one channel results, the same
  /// on both sides. Waits for the other as long as it takes; `cancel_meet` ends the wait (`done` is
  /// then called with a failure, unless it was on its way already).
  /// \param own, other two addresses: `done` is told what is wrong with them, or with opening a
  ///   listener, as open_listener throws it
  /// \param discriminator at most 1024 bytes
  std::uint64_t meet(const std::string& own, const std::string& other,
                     const std::string& discriminator, connected done);
  void cancel_meet(std::uint64_t meeting);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace weft::wireup
