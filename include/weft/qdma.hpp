// SPDX-License-Identifier: Apache-2.0
// qdma: a network card in software for the processes of one host. It has queues of small messages
// that any process may post to, copies between regions, counted events, and chains of these that
// run without the application. Modelled on the Elan4 of Quadrics, as in Yu, Woodall, Graham and
// Panda, "Design and Implementation of Open MPI over Quadrics/Elan4" (2005).
#pragma once

#ifdef WEFT_WITHOUT_QDMA
#error "this weft was built without qdma; build it with -DWEFT_WITH_QDMA=ON"
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/coro/detail/request.hpp>
#include <weft/coro/operation.hpp>
#include <weft/coro/task.hpp>
#include <weft/message.hpp>
#include <weft/remote_region.hpp>

namespace weft {
class context;
}

namespace weft::qdma {

namespace detail {
class port;  // a context's state of its device (src/api/qdma/qdma_port.hpp)
}

/// A virtual process id: the owner of a queue, region or event. Not a rank. An id is never used
/// twice, so an operation with an outdated id is refused. 0: no process.
enum class process : std::uint32_t { nobody = 0 };

/// The address of a device, for processes that do not have its node's table of contexts yet. Opaque
/// bytes, which travel in an ordinary message. A value.
struct device_address {
  std::array<std::byte, 32> bytes{};
};

using weft::rights;

// Names of regions, events and queues, which travel in ordinary messages. Plain values.

struct remote_region {
  process owner = process::nobody;
  std::uint64_t key = 0;
  std::uint64_t size = 0;  ///< bytes
};

struct remote_event {
  process owner = process::nobody;
  std::uint64_t key = 0;
};

struct remote_queue {
  process owner = process::nobody;
  std::uint32_t number = 0;
};

/// The most bytes of a message in a queue.
inline constexpr std::size_t max_post = 2048;

/// One descriptor. Applications make chains of descriptors by the functions below.
struct descriptor {
  enum class what : std::uint8_t { post, write, read, signal };
  what kind = what::signal;
  process to = process::nobody;
  std::uint32_t queue = 0;          ///< post
  std::uint64_t event = 0;          ///< signal
  std::uint64_t local_key = 0;      ///< write, read: the region of this process
  std::uint64_t local_offset = 0;   ///< bytes
  std::uint64_t remote_key = 0;     ///< write, read: the region of the other process
  std::uint64_t remote_offset = 0;  ///< bytes
  std::uint64_t size = 0;           ///< bytes
  std::vector<std::byte> payload;   ///< post
};

/// Descriptors in order: each begins when the one before it has ended well. When one fails, the
/// device skips the later ones, but fails the events that they would signal: the coroutine that
/// waits for such an event gets the error. A value; keeps nothing alive.
class chain {
 public:
  explicit chain(descriptor only) { steps_.push_back(std::move(only)); }

  chain then(const chain& next) const {
    chain both = *this;
    both.steps_.insert(both.steps_.end(), next.steps_.begin(), next.steps_.end());
    return both;
  }
  const std::vector<descriptor>& steps() const noexcept { return steps_; }

 private:
  std::vector<descriptor> steps_;
};

class region;

/// Posts a message to a queue of this process, or of a process that was met.
/// \param to      the queue
/// \param message at most max_post bytes, copied now \throws weft::error (invalid_argument)
chain post(remote_queue to, const_buffer message);

/// Copies from this process's memory to another process's.
/// \param from        a region of this process
/// \param from_offset bytes from its beginning
/// \param to          a region of the other process
/// \param to_offset   bytes from its beginning
/// \param size        bytes
chain rdma_write(const region& from, std::uint64_t from_offset, remote_region to,
                 std::uint64_t to_offset, std::uint64_t size);

/// Copies from another process's memory to this process's.
chain rdma_read(const region& into, std::uint64_t into_offset, remote_region from,
                std::uint64_t from_offset, std::uint64_t size);

/// Counts an event of this process, or of a process that was met.
chain signal(remote_event e);

namespace detail {

/// An operation that waits for an event or a message. Progress lock held, except for start and
/// cancel.
class waiting : public operation {
 public:
  waiting(port* p, complete_fn f) noexcept : operation(f), at(p) {}
  std::string explain() const { return why.empty() ? sentence_of(status) : why; }

  port* const at;
  std::string why;
  bool queued = false;
  bool cancel_requested = false;

 protected:
  ~waiting() = default;
};

}  // namespace detail

class trigger_operation;
class receive_operation;

/// What `event::triggered` returns.
struct [[nodiscard]] trigger_request {
  using value_type = void;
  using operation_type = trigger_operation;
  detail::port* at;
  std::uint64_t event;
};

/// A wait for an event.
class trigger_operation : public detail::waiting {
 public:
  trigger_operation(const trigger_request& r, complete_fn f) noexcept
      : detail::waiting(r.at, f), event(r.event) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  const std::uint64_t event;
};

/// The result of a receive from a queue.
struct posted_message {
  process from = process::nobody;  ///< as the sender says
  std::size_t size = 0;            ///< bytes
};

/// What `queue::receive` returns.
struct [[nodiscard]] receive_request {
  using value_type = posted_message;
  using operation_type = receive_operation;
  detail::port* at;
  std::uint32_t queue;
  mutable_buffer into;
};

/// A receive in flight; the buffer is the caller's again at the end.
class receive_operation : public detail::waiting {
 public:
  receive_operation(const receive_request& r, complete_fn f) noexcept
      : detail::waiting(r.at, f), queue(r.queue), into(r.into) {}
  bool start() noexcept;
  void cancel() noexcept;
  posted_message take() const noexcept { return got; }
  const std::uint32_t queue;
  const mutable_buffer into;
  posted_message got;
};

/// A counted event. It triggers after the number of completions that it was armed for: its chains
/// start, and a waiting coroutine resumes. Completions that come before it is armed (again) count
/// then, so none is lost between a trigger and the next arming. The destructor ends it. Move-only.
/// Any thread.
class event {
 public:
  event(event&&) noexcept;
  event& operator=(event&&) noexcept;
  ~event();  ///< no coroutine may wait for the event

  remote_event id() const noexcept;

  /// Arms the event for `completions` more completions. Adds up if it is armed already.
  void arm(std::uint64_t completions);

  /// From now on the device starts `c` at every trigger, after the chains that were added before.
  void on_trigger(const chain& c);

  /// The event fails with errc::peer_lost when that process is lost.
  void depends_on(process peer);

  /// Waits for the next trigger that no coroutine has waited for. `co_await e` is the same.
  /// \throws weft::error the error of a descriptor that failed, or peer_lost, stopped, closed
  trigger_request triggered() const noexcept;

 private:
  friend class device;
  event(detail::port& p, std::uint64_t key) noexcept : port_(&p), key_(key) {}
  detail::port* port_;
  std::uint64_t key_;
};

inline auto operator co_await(const event& e) {
  return weft::detail::request_awaiter<trigger_request>(e.triggered());
}

/// A queue of up to 256 messages that any process may post to. Messages stay until the owner
/// receives them; a post to a full queue waits; nothing is overwritten. Move-only.
class queue {
 public:
  queue(queue&&) noexcept;
  queue& operator=(queue&&) noexcept;
  ~queue();  ///< no coroutine may wait for a message of it

  remote_queue id() const noexcept;

  /// Takes the oldest message. Messages of one process come in the order of their posts.
  /// \param into the buffer; max_post bytes are always enough. A longer message ends the receive
  ///        with errc::truncated and is lost; the buffer holds its beginning
  receive_request receive(mutable_buffer into) const noexcept;

 private:
  friend class device;
  queue(detail::port& p, std::uint32_t number) noexcept : port_(&p), number_(number) {}
  detail::port* port_;
  std::uint32_t number_;
};

/// Memory that other processes may read or write by descriptors, as its rights allow. Move-only.
class region {
 public:
  region(region&&) noexcept;
  region& operator=(region&&) noexcept;

  /// Ends the region: later descriptors fail. Waits at most a second for processes that copy at
  /// this moment; each copies a slice of at most 64 KiB.
  ~region();

  remote_region id() const noexcept;
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  friend class device;
  region(detail::port& p, std::uint64_t key, std::span<std::byte> bytes, bool owned) noexcept
      : port_(&p), key_(key), bytes_(bytes), owned_(owned) {}
  detail::port* port_;
  std::uint64_t key_;
  std::span<std::byte> bytes_;
  bool owned_;  // the region allocated the memory
};

/// The device of a context. A context has at most one, from open or join until the context ends. A
/// handle; must not outlive the context. The context's engine runs the descriptors: in mode
/// `dedicated` the progress thread while the application computes, otherwise the thread inside
/// run().
class device {
 public:
  /// Makes the node's table of contexts and takes the first entry. Not inside a coroutine of
  /// another context.
  /// \throws weft::error (invalid_argument) when the context has a device already; (system)
  static device open(context& of);

  /// Joins the table of the device at address `who`, and meets that device.
  /// \throws weft::error  invalid_argument, unreachable, refused, peer_lost
  static task<device> join(context& of, device_address who);

  process self() const noexcept;
  device_address where() const;

  /// From now on the descriptors of each side can name the other side. Meeting again does nothing.
  /// \throws weft::error  peer_lost (no process has that id now), unreachable, refused
  task<void> meet(process who);

  /// \param completions the event is armed for that many; 0: not armed
  /// \param repeat armed again for the same number at each trigger
  event make_event(std::uint64_t completions = 1, bool repeat = false);

  /// \throws weft::error (out_of_memory) when three queues are open
  queue open_queue();

  /// \param memory must live as long as the region. Other processes reach it if the kernel permits
  ///        CMA
  /// \param permissions what other processes may do with it
  /// \throws weft::error (out_of_memory) after 1024 regions
  region register_memory(std::span<std::byte> memory, rights permissions);

  /// Allocates memory of the device, which other processes have mapped: copies need no system call.
  /// \param size bytes, not 0; all regions of a device together at most 64 MiB
  /// \param permissions what other processes may do with it
  /// \throws weft::error (invalid_argument, out_of_memory)
  region allocate(std::size_t size, rights permissions);

  /// Starts a chain. Never blocks; copies the descriptors.
  void start(const chain& c);

  /// Whether that process was met and has not been lost.
  bool knows(process who) const;

  /// As text: the number of processes met, the way to their memory, the last failure.
  std::string describe() const;

 private:
  explicit device(detail::port& p) noexcept : port_(&p) {}
  detail::port* port_;
};

}  // namespace weft::qdma
