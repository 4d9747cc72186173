// SPDX-License-Identifier: Apache-2.0
// context: all weft state of a process, or one lane of it. Two contexts in one process are
// independent; in a job, one context at a time has the process's rank.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/call.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/call_code.hpp>
#include <weft/dump.hpp>
#include <weft/endpoint.hpp>
#include <weft/listener.hpp>
#include <weft/metrics.hpp>
#include <weft/options.hpp>
#include <weft/tls_files.hpp>

namespace weft {

class group;

/// All weft state of a process: endpoints, transports, the completion queue and the engine. The
/// constructor starts the progress thread (in modes `dedicated` and `two_threads`) and joins the
/// job that a launcher started this process in, if any. A peer costs no memory before its first
/// use. Under weft-run, one context at a time has the process's rank: while that context lives, a
/// second one fails with errc::invalid_argument, unless options::standalone is set. After that
/// context has ended, the next one gets the rank.
///
/// Member functions may be called from any thread. The destructor waits, for options::linger at
/// most, until what was sent and what is owed to peers has left; ends operations in flight with
/// errc::closed; waits until spawned tasks have ended; and must not run inside `run()`. If a
/// coroutine calls `exit`, the destructor does nothing, and peers find the process gone. A context
/// that an exception ends (the exception leaves its scope) says so to its peers: what they await
/// from it ends with errc::peer_lost, as if the process had died, and not with errc::closed.
///
/// A context belongs to the process that made it. In a child made by fork(), the destructors of the
/// context and of its handles do nothing: peers receive nothing, and the memory is freed when the
/// child ends. The child must not use them otherwise; `run`, `listen`, `connect` and `meet` fail
/// with errc::invalid_argument. The child may make its own context, in a job with
/// options::standalone.
class context {
 public:
  explicit context(options chosen = options::from_environment());
  ~context();
  context(context&&) noexcept;
  context& operator=(context&&) noexcept;

  /// A lane: a context of its own for a thread of this process, with the same rank. It has its own
  /// engine, matching and wildcards, so threads with a lane each share no lock; endpoint::lane
  /// reaches the lanes of peers. Everything that is made from it (endpoints, regions, streams,
  /// tasks) belongs to it. docs/threading.md has an example.
  /// \param number below lanes(); 0: this context itself
  /// \return owned by this context, and ends with it; not to be moved from
  /// \throws weft::error (invalid_argument) if there is no such lane; or on a lane, for another
  ///        lane: only the context itself knows them
  context& lane(unsigned number);
  unsigned lanes() const noexcept;        ///< how many it has: options::lanes
  unsigned lane_number() const noexcept;  ///< 0: a context itself, which is its first lane

  /// The job that this process belongs to; a group of one when no launcher started it. Of a lane:
  /// the lanes of all ranks with the same number.
  group world();

  /// Opens a listener for peers that connect by address.
  /// \param address "unix://name" (a name in the abstract socket namespace), "any://host:port"
  ///        (TCP for the connection request; data uses the best transport that both sides have), or
  ///        "tcp://host:port" (TCP for processes that know the job's key, or have certificates)
  /// \param by certificates, for an address tcp://; none: options::tls. A listener with
  ///        certificates lets in only those that show one; connection_request::certificate tells
  ///        which. Its files are read again for each client if they have changed
  /// \throws weft::error  invalid_argument, also when a file cannot be used, or system when the
  ///         address is taken or a file cannot be read
  task<listener> listen(std::string address, tls_files by = {});

  /// Connects to another process's listener.
  /// \param address what the other side passed to `listen`
  /// \param private_data up to 1 KiB that the listener sees before it accepts or rejects
  /// \param by certificates, for an address tcp://, whose host the listener's certificate has to
  ///        name; none: options::tls
  /// \return an endpoint with the next number; the existing endpoint, if there is one to that
  ///        context
  /// \throws weft::error  refused (rejected, or no listener there), unreachable, peer_lost,
  ///         invalid_argument, system (a file of `by` cannot be read)
  task<endpoint> connect(std::string address, std::string private_data = {}, tls_files by = {});

  /// Connects to a peer that calls `meet`, too (simultaneous connect). Both sides pass their own
  /// address and the other side's, in any order and at any time, and both get an endpoint. At
  /// addresses tcp:// they know each other by options::tls, else by the job's key.
  /// \param own   an address as for `listen`; the listener is closed when both sides have connected
  /// \param other what the other side passes as its own
  /// \param discriminator up to 1 KiB that must be equal on both sides
  /// \throws weft::error  invalid_argument (an address is not valid, both addresses are equal, the
  ///        discriminator is too long, or this context uses it for another `meet`), system (`own`
  ///        is taken), stopped, closed
  task<endpoint> meet(std::string own, std::string other, std::string discriminator);

  /// Receives the first matching message from any source. Otherwise as `endpoint::recv`, but the
  /// loss of a peer does not end the receive: peers that connect later, and this process, can still
  /// send. The receive ends with peer_lost only if the sender of a message that it has already
  /// matched is lost.
  recv_request recv(mutable_buffer into, tag_mask t);
  recv_request recv(std::span<const mutable_buffer> list, tag_mask t);

  // Values in place of bytes, from any source: <weft/value.hpp> documents and defines these.
  template <class T>
  auto recv_value(tag_mask t, at_most limit = {});
  template <class T>
  auto recv_value(tag_mask t, T&& into, at_most limit = {});
  template <class T>
  auto recv_value_from(tag_mask t, at_most limit = {});

  // Messages that are not copied: <weft/loan.hpp> documents and defines these.
  template <class T>
  loan<T> make_loan(std::size_t count);
  template <class T>
  lent_recv_request<T> recv_loan(tag_mask t, at_most limit = {});

  /// As `endpoint::probe`, `try_probe` and `try_claim`, for any source.
  probe_request probe(tag_mask t);
  std::optional<received> try_probe(tag_mask t);
  std::optional<claimed_message> try_claim(tag_mask t);

  /// Registers a handler for calls (endpoint::call, endpoint::post) of that number, on this lane. A
  /// coroutine starts for each call, as if spawned; options::calls_at_once bounds how many run. The
  /// function lives as long as the handler's calls, so that a lambda may capture.
  ///
  /// Calls that come before the first handler is registered wait. Afterwards, a call of a number
  /// without a handler is refused, but not before the thread inside `run()` has gone back to
  /// polling: handlers that are registered one after the other, without `co_await` between them,
  /// are there together.
  /// \param number below first_reserved_am
  /// \param f      task<void>(call); its exception refuses the call
  /// \param how    where its calls run
  /// \throws weft::error (invalid_argument) if the number has a handler, or is reserved; (closed);
  ///        std::bad_alloc
  template <class F>
    requires std::is_invocable_r_v<task<void>, F&, call>
  [[nodiscard]] handler on(am number, F f, handler_options how = {}) {
    return add_handler(number, std::make_unique<detail::raw_code<F>>(std::move(f)), how);
  }

  /// The same, by values: `ctx.on<double(int, std::string)>(am{7}, f)`. Calls of other types are
  /// refused before f runs; calls with bytes are refused if these do not fit the types.
  /// \param number, how as above
  ///
  /// A signature whose result is async_generator<T> is for `call_stream`: f is a generator, or
  /// returns one. It is destroyed when the caller has left.
  /// \param f callable with the arguments; returns the result, or a task of it. A span or
  ///        string_view among the arguments is valid until the task, or the generator, has ended
  template <class Signature, class F>
  [[nodiscard]] handler on(am number, F f, handler_options how = {}) {
    return add_handler(
        number, std::make_unique<detail::typed_code<Signature, F>>(std::move(f), how.keeps_memory),
        how);
  }

  /// Registers a handler for small calls, which runs at once where the message arrives: inside a
  /// pass, on any thread that makes progress, with the progress lock held. It must be short, must
  /// not wait, and must not call weft. Longer calls than 8 KiB are refused.
  /// \param number below first_reserved_am
  /// \param f      std::size_t(const inline_call&), or void: returns the bytes of the reply
  template <class F>
    requires std::is_invocable_v<F&, const inline_call&>
  [[nodiscard]] handler on_inline(am number, F f) {
    return add_handler(number, std::make_unique<detail::raw_inline_code<F>>(std::move(f)), {});
  }
  /// The same, by values.
  template <class Signature, class F>
  [[nodiscard]] handler on_inline(am number, F f) {
    return add_handler(number,
                       std::make_unique<detail::typed_inline_code<Signature, F>>(std::move(f)), {});
  }

  /// The endpoint with that number: a rank, or the `source` of a received message.
  /// \throws weft::error (invalid_argument) for a number that no rank and no lane can have, and for
  ///        one of 2^31 or more that no peer of this context has had
  endpoint peer(peer_id id);

  /// Says that `memory` is about to be unmapped or remapped. Transports stop using their
  /// registrations of this memory with devices. Call this function before the unmapping, with no
  /// operation in flight on the memory; also before free(), if free() gives the memory back to the
  /// kernel. Any thread; reaches all lanes.
  /// \param memory any range, registered or not
  void invalidate_registrations(std::span<const std::byte> memory) noexcept;

  /// Counters since construction, of this lane. A snapshot; cheap enough to call every second.
  metrics snapshot() const;
  /// What all lanes wait for at this moment: pending operations, messages that no receive has met,
  /// connections, and the state of progress; at most 50 of each kind. The same that a signal prints
  /// (options::dump), and `weft-info --attach` in another process. Blocks for 20 ms, in which
  /// passes are counted, and a second more for each lane whose progress lock another thread does
  /// not release. Any thread; not while it holds the progress lock of an external loop. \param as
  /// text for people, or JSON for programs \throws std::bad_alloc
  std::string dump(dump_format as = dump_format::text) const;

  /// All counters of all lanes, with those of each transport and of each peer. Takes microseconds,
  /// and a system call for each TCP connection. Any thread. \throws std::bad_alloc
  /// to_openmetrics (weft/openmetrics.hpp) makes text of it.
  std::vector<lane_metrics> snapshot_lanes() const;

  /// The choices of this context and their reasons, as text: wait set, transports, fall-backs.
  std::string describe() const;

  /// Whether fork() made this process after its parent had made the context.
  bool is_inherited() const noexcept;

 private:
  friend struct detail::internals;
  explicit context(std::unique_ptr<detail::core> core) noexcept;
  proto::messenger* where(tag_mask t) const noexcept;
  handler add_handler(am number, std::unique_ptr<detail::call_code> code, handler_options how);

  std::unique_ptr<detail::core> core_;
};

/// \cond
inline detail::core& detail::internals::core_of(const context& of) noexcept { return *of.core_; }
/// \endcond

}  // namespace weft
