// SPDX-License-Identifier: Apache-2.0
// qdma: a network card in software, between the processes of one host: queues of small messages
// that any process may post to, copies between registered memory, counted events, and chains of all
// these that run without the application. After the Elan4 of Quadrics, as in Yu, Woodall, Graham
// and Panda, "Design and Implementation of Open MPI over Quadrics/Elan4" (2005).
#pragma once

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
class port;  // what a context keeps for its device (src/api/qdma_port.hpp)
}

/// A virtual process id: whose queue, region or event something is. Not a rank. An id that was
/// given back is never given again, so one that is out of date is refused. 0: no process.
enum class process : std::uint32_t { nobody = 0 };

/// How a device is reached by those that do not know its node's table of contexts yet. Bytes to be
/// handed on by an ordinary message. A value.
struct device_address {
  std::array<std::byte, 32> bytes{};
};

using weft::rights;

// Names of what belongs to some process, to be handed on by ordinary messages. Plain values.

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

/// Bytes of a message in a queue, at most.
inline constexpr std::size_t max_post = 2048;

/// One descriptor. Applications make chains of them by the functions below.
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

/// Descriptors that follow each other: each begins when the one before it has ended well. When one
/// fails, those after it are left out, except that events that they would signal are told of the
/// failure: the coroutine that waits there gets the error. A value; keeps nothing alive.
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

/// A message to a queue, of this process or of another one that was met.
/// \param message at most max_post bytes, copied now \throws weft::error (invalid_argument)
chain post(remote_queue to, const_buffer message);

/// Copies out of this process's memory into another's.
/// \param size bytes; both offsets are in bytes from the beginning of their region
chain rdma_write(const region& from, std::uint64_t from_offset, remote_region to,
                 std::uint64_t to_offset, std::uint64_t size);

/// Copies out of another process's memory into this one's.
chain rdma_read(const region& into, std::uint64_t into_offset, remote_region from,
                std::uint64_t from_offset, std::uint64_t size);

/// Counts an event, of this process or of another one that was met.
chain signal(remote_event e);

namespace detail {

/// What waits for an event or a message. Progress lock held only, but for start and cancel.
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

class trigger_operation;
class receive_operation;

struct trigger_request {
  using value_type = void;
  using operation_type = trigger_operation;
  port* at;
  std::uint64_t event;
};

class trigger_operation : public waiting {
 public:
  trigger_operation(const trigger_request& r, complete_fn f) noexcept
      : waiting(r.at, f), event(r.event) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  const std::uint64_t event;
};

}  // namespace detail

/// What came out of a queue.
struct posted_message {
  process from = process::nobody;  ///< as its sender says
  std::size_t size = 0;            ///< bytes
};

namespace detail {

struct receive_request {
  using value_type = posted_message;
  using operation_type = receive_operation;
  port* at;
  std::uint32_t queue;
  mutable_buffer into;
};

class receive_operation : public waiting {
 public:
  receive_operation(const receive_request& r, complete_fn f) noexcept
      : waiting(r.at, f), queue(r.queue), into(r.into) {}
  bool start() noexcept;
  void cancel() noexcept;
  posted_message take() const noexcept { return got; }
  const std::uint32_t queue;
  const mutable_buffer into;
  posted_message got;
};

}  // namespace detail

/// A counted event: when as many completions have come as it was armed for, it triggers: chains
/// that hang on it start, and one that waits resumes. Completions that come before it is armed
/// (again) are kept and count then, so none can fall between a trigger and the next arming. Owned
/// by its maker; ends with its destructor. Move-only. Any thread.
class event {
 public:
  event(event&&) noexcept;
  event& operator=(event&&) noexcept;
  ~event();  ///< no coroutine may wait for it

  remote_event id() const noexcept;

  /// It triggers after that many more completions. Adds up while it is armed already.
  void arm(std::uint64_t completions);

  /// From now on this starts at every trigger, after those that were hung on it before.
  void on_trigger(const chain& c);

  /// When that process is lost, the event fails with errc::peer_lost.
  void depends_on(process peer);

  /// Waits for a trigger that has not been waited for yet. `co_await e` is the same.
  /// \throws weft::error what a descriptor failed with, or peer_lost, stopped, closed
  detail::trigger_request triggered() const noexcept;

 private:
  friend class device;
  event(detail::port& p, std::uint64_t key) noexcept : port_(&p), key_(key) {}
  detail::port* port_;
  std::uint64_t key_;
};

inline auto operator co_await(const event& e) {
  return weft::detail::request_awaiter<detail::trigger_request>(e.triggered());
}

/// A queue of up to 256 messages that any process may post to. What its owner does not receive
/// stays there, and a process that posts to a full queue waits; nothing is overwritten. Move-only.
class queue {
 public:
  queue(queue&&) noexcept;
  queue& operator=(queue&&) noexcept;
  ~queue();  ///< no coroutine may receive from it

  remote_queue id() const noexcept;

  /// Takes the oldest message. Messages of one process come in the order of their posting.
  /// \param into at most max_post bytes are needed. A longer message ends it with errc::truncated
  ///        and is gone; the buffer holds its beginning
  detail::receive_request receive(mutable_buffer into) const noexcept;

 private:
  friend class device;
  queue(detail::port& p, std::uint32_t number) noexcept : port_(&p), number_(number) {}
  detail::port* port_;
  std::uint32_t number_;
};

/// Memory that others may read or write by descriptors, as far as its rights go. Move-only.
class region {
 public:
  region(region&&) noexcept;
  region& operator=(region&&) noexcept;

  /// Takes it back: descriptors that come later fail. Waits for a process that copies at this
  /// moment, a slice of at most 64 KiB each, unless it does not end within a second.
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
  bool owned_;  // it was allocated with the region
};

/// A context's card: the context has one at most, from open or join until its end. A handle; must
/// not outlive the context. The context's engine runs its descriptors: the progress thread in
/// `dedicated` mode while the application does something else, otherwise the thread that is inside
/// run().
class device {
 public:
  /// Makes the node's table of contexts and claims the first entry. Not inside a coroutine of
  /// another context.
  /// \throws weft::error (invalid_argument) when the context has a device; (system)
  static device open(context& of);

  /// Takes part in the table of the one that handed that contact on, and meets it.
  /// \throws weft::error  invalid_argument, unreachable, refused, peer_lost
  static task<device> join(context& of, device_address who);

  process self() const noexcept;
  device_address where() const;

  /// From now on descriptors of either side can name the other. Meeting again does nothing.
  /// \throws weft::error  peer_lost (no process has that id now), unreachable, refused
  task<void> meet(process who);

  /// \param completions armed for that many; 0: not armed
  /// \param repeat armed again for as many at each trigger
  event make_event(std::uint64_t completions = 1, bool repeat = false);

  /// \throws weft::error (out_of_memory) when three are open
  queue open_queue();

  /// \param memory must live as long as the region. Others reach it if the kernel lets them (CMA)
  /// \throws weft::error (out_of_memory) after 1024 regions
  region register_memory(std::span<std::byte> memory, rights permissions);

  /// Memory of the device's own, which others have mapped: needs no help of the kernel to copy.
  /// \param size bytes, not 0; all regions of a device together at most 64 MiB
  /// \throws weft::error (invalid_argument, out_of_memory)
  region allocate(std::size_t size, rights permissions);

  /// Begins a chain. Never blocks; what it needs is copied.
  void start(const chain& c);

  /// Whether that process was met and is not lost.
  bool knows(process who) const;

  /// For people: how many it has met, how memory is reached, what failed last.
  std::string describe() const;

 private:
  explicit device(detail::port& p) noexcept : port_(&p) {}
  detail::port* port_;
};

}  // namespace weft::qdma
