// SPDX-License-Identifier: Apache-2.0
// context: a process's weft state. Two in one process do not know of each other; in a job one of
// them, at a time, has the process's rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/endpoint.hpp>
#include <weft/metrics.hpp>
#include <weft/registration_cache.hpp>
#include <weft/rendezvous.hpp>

namespace weft {

namespace detail {
class core;
}

class context;
class group;
class listener;
struct options;

/// Who moves messages while the application computes.
enum class progress_mode {
  dedicated,  ///< a thread of the context, asleep until it is needed (the default)
  polling,    ///< no thread: messages move only inside `run()`, which spins
  interrupt,  ///< no thread, and `run()` sleeps at once instead of spinning
  /// As `dedicated`; and what ends for coroutines on other executors (`resume_on`) is handed to
  /// them by a second thread. Slower: of use to repeat an experiment (docs/adr/0014-two-threads.md,
  /// `weft-bench progress`).
  two_threads
};

/// How a thread that polls shares its looks among transports. Of use to measure (`weft-bench
/// policy`); the default has the least to do.
enum class poll_policy {
  in_order,  ///< each once in every round, in the order of `options::transports` (the default)
  adaptive,  ///< more often those that brought something in the last round that brought anything
  toggle     ///< each once, and first those that were not the first to bring something last time
};

/// How much a thread that polls takes out of one peer's ring in shared memory before it looks
/// elsewhere. For what arrives here; the peers may choose otherwise. Of use to measure (`weft-bench
/// policy`). All but the first are of the SHIBA device (docs/adr/0011-reading-a-ring.md).
enum class ring_read_policy {
  burst,       ///< what is there, up to 64 frames (the default)
  single,      ///< one frame
  contiguous,  ///< one frame; all that is there of a message, if it had begun before this look
  post,  ///< as contiguous; of a message longer than the ring also when all rings were looked at
  immediate  ///< as contiguous; of a message longer than the ring also when it has just begun
};

/// Everything that can be chosen, with the defaults that suit most. `from_environment` applies the
/// WEFT_* variables on top (docs/environment.md lists them; `weft-info` prints them).
struct options {
  progress_mode progress = progress_mode::dedicated;

  /// How long a waiting thread polls before it sleeps. Shortened by itself where there are more
  /// runnable threads than cores.
  std::chrono::microseconds spin{200};

  /// How threads that poll share their looks among transports.
  poll_policy polling = poll_policy::in_order;

  /// How threads that poll read the rings of shared memory.
  ring_read_policy reading = ring_read_policy::burst;

  /// Memory for messages that arrive before their receive, over all peers, in bytes. Beyond it only
  /// headers travel and the data stays with the sender.
  std::size_t unexpected_budget = std::size_t{64} << 20;

  /// Messages up to this many bytes are sent at once; longer ones after a handshake that hides
  /// behind their first bytes.
  std::size_t eager_limit = std::size_t{64} << 10;

  /// How the rest of a message above that limit crosses, and whether its beginning goes along with
  /// the handshake. docs/adr/0018-one-sided-rendezvous.md
  rendezvous_scheme rendezvous = rendezvous_scheme::automatic;
  rendezvous_eager_data inlined = rendezvous_eager_data::automatic;

  /// How the end of a read or write is told, to the peer and here. docs/adr/0023-chained-fin.md
  chained_fin chained = chained_fin::automatic;
  copy_completion qdma_copy_completion = copy_completion::direct;

  /// Memory that transports register with devices. docs/adr/0019-registration-cache.md
  registration_cache_settings regions;

  /// Bits of a tag by which receives from one source are found without a search. A receive that
  /// ignores one of these is looked for among all that do, in the order of posting. A program with
  /// bits that every receive ignores takes them out here; the top seven always count.
  std::uint64_t hashed_tag_bits = ~std::uint64_t{0};

  /// No job, whatever started this process: a second context besides that which has the process's
  /// rank, which only one has at a time; or a libfabric endpoint inside a process whose launcher is
  /// another context's. Rank 0 of 1.
  bool standalone = false;

  /// How many processes that use weft share this host, where no launcher of weft's tells; 0: not
  /// known. With more than there are cores, waiting threads give way to each other sooner.
  unsigned processes_per_host = 0;

  /// Which transports, in order of preference: any of "self", "shm", "qdma", "verbs", "tcp".
  std::vector<std::string> transports = {"self", "shm", "verbs", "tcp"};

  /// The RDMA device that verbs uses, as ibv_devices shows it, and which of its port's addresses;
  /// empty and nothing: the first that work, found by trying.
  std::string verbs_device;
  std::optional<unsigned> verbs_gid_index;

  /// Where weft listens over TCP: names of network interfaces; none: all that are up.
  std::vector<std::string> tcp_interfaces;

  /// Connections to each peer over TCP, 1 to 8, each to another of its addresses where it has
  /// several; all processes that talk to each other say the same. Large messages are striped over
  /// them, and as long as one of them holds nothing is lost. docs/adr/0010-several-links.md
  unsigned tcp_links = 1;

  /// After how much silence a host that should answer is lost, with all peers on it. Whole seconds,
  /// 2 or more. A process that dies is noticed at once; this is for cables and machines.
  std::chrono::seconds peer_timeout{10};

  /// "auto", "uring" or "epoll": where the engine sleeps.
  std::string wait_set = "auto";

  /// "auto", "pipeline", "cma" or "direct": how large messages cross shared memory.
  std::string shm_copy = "auto";

  /// The secret by which processes of a job know each other over TCP: 32 to 128 hexadecimal digits.
  /// Empty: `job_key_file` names a file that holds them and that only its owner may read; empty
  /// too: the launcher's key, or none, and then no process on another host finds this context.
  std::string job_key;
  std::string job_key_file;

  /// Where a trace for Perfetto is written when the context ends; empty: nowhere. In a job, the
  /// rank is put in front of the extension. A second context with the same file replaces it.
  std::string trace_file;

  /// The defaults, changed by the WEFT_* variables of the environment.
  /// \throws weft::error (invalid_argument) naming the variable, its value and what is allowed.
  static options from_environment();
};

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

/// A listener. Move-only; closing it (or its destructor) rejects requests that still wait in front
/// of it.
class listener {
 public:
  /// A connection request at the listener, neither accepted nor rejected yet. Dropping it rejects.
  class connection_request {
   public:
    struct state;
    explicit connection_request(std::unique_ptr<state> s) noexcept;
    connection_request(connection_request&&) noexcept;
    connection_request& operator=(connection_request&&) noexcept;
    ~connection_request();

    const std::string& private_data() const noexcept;  ///< what the peer passed to `connect`
    task<endpoint> accept();                           ///< \throws weft::error if it left meanwhile
    void reject(std::string reason);  ///< the peer's `connect` ends with errc::refused

   private:
    std::unique_ptr<state> state_;
  };

  struct state;
  explicit listener(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

  task<connection_request> next();  ///< waits for a connection request
  task<endpoint> accept();          ///< waits for a connection request and accepts it
  std::string address() const;      ///< where it listens, with the port that the system chose
  void close();

 private:
  std::shared_ptr<state> state_;
};

}  // namespace weft
