// SPDX-License-Identifier: Apache-2.0
// context: a process's weft state. Two in one process do not know of each other; in a job one of
// them, at a time, has the process's rank.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/endpoint.hpp>
#include <weft/listener.hpp>
#include <weft/metrics.hpp>
#include <weft/options.hpp>

namespace weft {

namespace detail {
class core;
}

class context;
class group;

/// All of a process's weft state: endpoints, transports, the completion queue and the engine that
/// moves them. Construction starts the progress thread (in modes `dedicated` and `two_threads`) and
/// joins the job that a launcher started this process in, if any; nothing is allocated for peers
/// never spoken to. A rank of weft-run's is one context at a time: while it lives a second one is
/// refused with errc::invalid_argument, unless options::standalone is set. When it has ended, the
/// next one takes its place.
///
/// Member functions may be called from any thread. The destructor ends what is still in flight
/// with errc::closed, waits until spawned tasks have ended, and must not run inside `run()`. Where
/// `exit` calls it there, out of a coroutine, it does nothing, and peers find the process gone.
///
/// A context belongs to the process that made it. In a child that fork() made its destructor, and
/// those of its handles, do nothing: peers hear nothing, and the memory is freed by the child's
/// end. Nothing else may be done with them there; `run`, `listen`, `connect` and `meet` say so with
/// errc::invalid_argument. The child may make a context of its own, with options::standalone in a
/// job.
class context {
 public:
  explicit context(options chosen = options::from_environment());
  ~context();
  context(context&&) noexcept;
  context& operator=(context&&) noexcept;

  /// The job that this process belongs to; a group of one when no launcher started it.
  group world();

  /// Opens a listener for peers that come by address.
  /// \param address "unix://name" (a name in the abstract socket namespace) or "any://host:port"
  ///        (TCP for finding each other; the data takes the best transport that both can use)
  /// \throws weft::error  invalid_argument, or system when the address is taken
  task<listener> listen(std::string address);

  /// Connects to another process's listener.
  /// \param address what the other side passed to `listen`
  /// \param private_data up to 1 KiB that the listener sees before it accepts or rejects
  /// \return an endpoint with the next number; while there is one to that context, that one
  /// \throws weft::error  refused (rejected, or no listener there), unreachable, peer_lost,
  ///         invalid_argument
  task<endpoint> connect(std::string address, std::string private_data = {});

  /// Meets a peer that does the same: both call `meet` with an address of their own and the
  /// other's, in any order and at any time, and both get an endpoint.
  /// \param own   an address as for `listen`; the listener is closed again when the two have met
  /// \param other what the other side passes as its own
  /// \param discriminator up to 1 KiB that must be equal on both sides
  /// \throws weft::error  invalid_argument (no such address, both are one, or a discriminator that
  ///         is too long or that this context uses for another meeting), system (`own` is
  ///         taken), stopped, closed
  task<endpoint> meet(std::string own, std::string other, std::string discriminator);

  /// Receives from any source: the first matching message. As `endpoint::recv` otherwise, but no
  /// peer's death ends it: peers that come later, and this process, can still send. Only that of
  /// the sender of a message that it has met already does, with peer_lost.
  detail::recv_request recv(mutable_buffer into, tag_mask t);
  detail::recv_request recv(std::span<const mutable_buffer> list, tag_mask t);

  /// As `endpoint::probe`, `try_probe` and `try_claim`, for any source.
  detail::probe_request probe(tag_mask t);
  std::optional<received> try_probe(tag_mask t);
  std::optional<claimed_message> try_claim(tag_mask t);

  /// The endpoint with that number: a rank, or the `source` of something received.
  /// \throws weft::error (invalid_argument) for a number from 2^31 on that no peer has had here
  endpoint peer(peer_id id);

  /// That memory is about to be unmapped, or to stand for something else (another mapping over it).
  /// What transports keep about it, registrations with devices, is not used any more. Call it
  /// before, with no operation in flight there; also before free(), where that gives memory back to
  /// the kernel. Any thread.
  /// \param memory any range; nothing needs to be known about it
  void invalidate_registrations(std::span<const std::byte> memory) noexcept;

  /// Counters since construction. A snapshot; cheap enough to call every second.
  metrics snapshot() const;

  /// What this context chose and why, for people: wait set, transports, fall-backs.
  std::string describe() const;

  /// Whether fork() made this process after its parent had made the context.
  bool is_inherited() const noexcept;

  /// For the layers below.
  detail::core& core() const noexcept { return *core_; }
  explicit context(std::unique_ptr<detail::core> core) noexcept;

 private:
  proto::messenger* where(tag_mask t) const noexcept;

  std::unique_ptr<detail::core> core_;
};

}  // namespace weft
