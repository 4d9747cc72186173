// SPDX-License-Identifier: Apache-2.0
// The control plane of a context: finds other contexts, checks who they are, carries parcels.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/fd.hpp"
#include "transports/parcel.hpp"
#include "wireup/failure.hpp"
#include "wireup/identity.hpp"
#include "wireup/job_key.hpp"
#include "wireup/locator.hpp"

namespace weft::wireup {

/// An authenticated connection to another context: over a Unix socket, so that parcels carry
/// descriptors, or over TCP, where they carry bytes only. It stays open as long as the two have to
/// do with each other, which is how each learns that the other is gone. Shared by the connection
/// manager and whoever uses it.
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

  /// Queues a parcel. Any thread; never blocks; lost silently if the channel is already gone
  /// (on_gone tells). Parcels arrive in order.
  /// \throws weft::error (invalid_argument) if the parcel is larger than a parcel may be, or has
  /// descriptors that this channel cannot carry
  virtual void send(transports::parcel p) = 0;

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

/// Somebody who came through a door and waits to be let in.
class door_visit {
 public:
  virtual ~door_visit() = default;  ///< neither accepted nor rejected: rejects
  virtual const identity& peer() const noexcept = 0;
  virtual const std::string& greeting() const noexcept = 0;
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

/// Runs Asio on one thread of its own, which sleeps unless connections come, go or carry parcels:
/// nothing on the path of a message. Handlers are called on that thread, one at a time, without
/// any lock held; they may call back into the manager.
class connection_manager {
 public:
  struct handlers {
    /// There was no memory for something that was under way: what was asked of the manager and has
    /// not been answered may never be. May throw std::bad_alloc, and is called again then.
    std::function<void()> on_exhausted;
    /// A parcel arrived on a channel, ours or the peer's. The channel can be kept.
    std::function<void(const channel_ptr&, transports::parcel)> on_parcel;
    /// A channel ended: `orderly` if the peer closed it, else it broke or the peer died. Once per
    /// channel that was live, and also after our own close().
    std::function<void(const channel_ptr&, bool orderly)> on_gone;
    /// Somebody stands at the door `door` (the number that open_door returned).
    std::function<void(std::uint64_t door, std::unique_ptr<door_visit>)> on_visit;
    /// Something that people should know and nobody else is told: a stranger was turned away, a
    /// peer sent nonsense. One sentence. Without it, a line on stderr.
    std::function<void(const std::string&)> on_notice;
  };

  /// A channel, or why there is none.
  using connected = std::function<void(channel_ptr, const failure& why)>;

  /// Makes the context's key pair, which its id follows from, starts listening under an abstract
  /// name with that id, with a job's key also over TCP, and starts the thread; who comes waits for
  /// let_in().
  /// \param self job and rank of this context; id, pid and locator are filled in
  /// \throws weft::error (system) when no socket can be had
  connection_manager(identity self, handlers h, tcp_settings tcp = {});
  ~connection_manager();  ///< does what end() does

  /// From now on who connects is answered, and handlers are called: once what they need is in
  /// place. Once.
  void let_in();

  /// Closes all channels (on_gone is called for each) and doors, ends all that is under way (`done`
  /// is called with a failure) and joins the thread; takes a second at most, when a peer does not
  /// read. Not from a handler. What is asked for later is dropped, and its `done` is not called.
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

  /// Opens a door. \param address "unix://name", "any://host:port" or "tcp://host:port" (port 0:
  /// any free one;
  ///        tcp needs a key)
  /// \param actual_address set to the address with the port that the system chose
  /// \param known called, on this thread, with the door's number before anybody can knock there:
  ///        for what on_visit has to know. What it throws ends the opening
  /// \throws weft::error invalid_argument (bad address) or system (taken; says by whom if known)
  std::uint64_t open_door(const std::string& address, std::string& actual_address,
                          const std::function<void(std::uint64_t)>& known = {});
  /// The number of a door that every context has, without an address of its own: on_visit decides.
  static constexpr std::uint64_t registrar_door = ~std::uint64_t{0};

  /// Knocks at that door of the context with that locator.
  void knock_at_registrar(const std::string& locator, const std::string& greeting, connected done);

  /// Shuts a door, at once or a moment later. Visits that were announced stay to be decided.
  void close_door(std::uint64_t door);

  /// Knocks. `done` is told errc::refused when the listener rejected or nobody listens.
  /// \param greeting at most 1024 bytes, or it is told errc::invalid_argument
  void knock(const std::string& address, const std::string& greeting, connected done);

  /// VIA's peer-to-peer form: both sides call it. Opens the door `own`, knocks at `other`, and ends
  /// when either way has met a peer with an equal discriminator; one channel results, the same on
  /// both sides. Waits for the other as long as it takes; `cancel_meet` ends the wait (`done` is
  /// then called with a failure, unless it was on its way already).
  /// \param own, other two addresses: `done` is told what is wrong with them, or with opening a
  ///   door, as open_door throws it
  /// \param discriminator at most 1024 bytes
  std::uint64_t meet(const std::string& own, const std::string& other,
                     const std::string& discriminator, connected done);
  void cancel_meet(std::uint64_t meeting);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace weft::wireup
