// SPDX-License-Identifier: Apache-2.0
// options: the settings of a context, chosen when it is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/detail/options_fwd.hpp>
#include <weft/dump_on.hpp>
#include <weft/eager_operation.hpp>
#include <weft/log.hpp>
#include <weft/poll_policy.hpp>
#include <weft/progress_mode.hpp>
#include <weft/registration_cache.hpp>
#include <weft/rendezvous.hpp>
#include <weft/ring_read_policy.hpp>
#include <weft/ring_stores.hpp>
#include <weft/tcp_encryption.hpp>
#include <weft/tls_files.hpp>
#include <weft/transport/factory.hpp>

namespace weft {

// As in options_fwd.hpp, which has the reason. clang 14 names a class that is defined elsewhere
// without the inline namespace.
#ifdef _LIBCPP_VERSION
inline namespace with_libcxx {
#endif
#ifdef _GLIBCXX_DEBUG
inline namespace with_GLIBCXX_DEBUG {
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
inline namespace without_GLIBCXX_USE_CXX11_ABI {
#endif

/// All settings, with defaults that suit most programs. `from_environment` applies a configuration
/// file and the WEFT_* variables on top (docs/environment.md lists them; `weft-info` prints them).
struct options {
  progress_mode progress = progress_mode::dedicated;

  /// The cores that progress threads run on: "auto", "inherit", or a list such as "8-15,20".
  /// "inherit": those of the thread that makes the context. "auto": for a rank that its launcher
  /// has bound, cores that no rank of its job on this host is bound to, where there are any; else
  /// as "inherit". With a list of which the process may use no core, a context throws
  /// invalid_argument. docs/adr/0049-progress-cores.md
  std::string progress_cpus = "auto";

  /// The number of lanes, 1 to 32: engines of this context that share nothing on a message's path,
  /// for as many threads (context::lane). Each has memory and threads of its own. Ranks may differ
  /// in this number. docs/adr/0028-lanes.md
  unsigned lanes = 1;

  /// How long a waiting thread polls before it sleeps. On a crowded host it yields its core between
  /// polls, and sleeps after 2 ms.
  std::chrono::microseconds spin{200};

  /// Memory for unexpected messages of all peers of a lane together, in bytes. When it is used up,
  /// only headers are sent, and the data stays with the sender.
  std::size_t unexpected_budget = std::size_t{64} << 20;

  /// Memory for the loans of a lane (context::make_loan), in bytes: those that are held, under way,
  /// and read by peers. Address space at first; pages that loans have used stay until the end.
  std::size_t loan_budget = std::size_t{256} << 20;

  /// Messages of up to this many bytes are sent at once. Longer messages need a handshake, which
  /// overlaps with their first bytes, and their sends end when the receiver has matched them.
  /// Empty: each transport's own limit, 48 KiB over shared memory and 64 KiB over others.
  std::optional<std::size_t> eager_limit;

  /// The same for single transports, by their names in `transports`: {{"shm", 256 << 10}, {"verbs",
  /// 8 << 10}}. These do not use `eager_limit`. Transports that are joined by + have a limit
  /// together, by their joined name.
  std::map<std::string, std::size_t, std::less<>> eager_limits;

  /// Of transports that share memory and are joined with others, as in "shm+tcp": messages of more
  /// bytes leave by the others while one of them works, and shorter ones by shared memory. A longer
  /// message's request still goes first, through memory, so that messages keep their order. Empty:
  /// long messages are striped over all. docs/adr/0010-several-links.md
  std::optional<std::size_t> shm_limit;

  /// How many calls of peers (context::on) run at once on a lane, 1 to 65,536. Further calls wait,
  /// and cost their callers credit meanwhile. One peer gets at most three quarters of these, and
  /// less while others have some: the last one is for a peer that has none.
  unsigned calls_at_once = 256;

  /// The registration cache. docs/adr/0019-registration-cache.md
  registration_cache_settings regions;

  /// The tag bits by which matching hashes receives from one source. Receives that ignore one of
  /// these bits are in one list, which is searched in the order of posting. A program in which
  /// every receive ignores some bits clears them here; the top seven bits always count.
  std::uint64_t hashed_tag_bits = ~std::uint64_t{0};

  /// The context belongs to no job and is rank 0 of 1, even if a launcher started this process. For
  /// a second context in a process (only one context at a time has the process's rank), or a
  /// libfabric endpoint in a process with a launcher for another context.
  bool standalone = false;

  /// The number of processes on this host that use weft, if no launcher of weft's tells; 0: not
  /// known. With more processes than cores, waiting threads yield sooner.
  unsigned processes_per_host = 0;

  /// The transports, in order of preference: any of "self", "shm", "qdma", "verbs", "tcp", and the
  /// names in `transport_factories`. All processes that exchange messages need the same list.
  std::vector<std::string> transports = {"self", "shm", "verbs", "tcp"};

  /// Transports of other libraries, which `transports` may name besides weft's own. Each name once,
  /// and none of weft's. docs/transports.md
  std::vector<transports::factory> transport_factories;

  /// The RDMA device of the verbs transport, as ibv_devices shows it, and the index of its port's
  /// address; empty and nothing: the first ones that work, found by trying.
  std::string verbs_device;
  std::optional<unsigned> verbs_gid_index;

  /// The network interfaces on which weft listens over TCP; empty: all that are up.
  std::vector<std::string> tcp_interfaces;

  /// Connections to each peer over TCP, 1 to 8, to different addresses of the peer if it has
  /// several. All processes that exchange messages need the same value. Large messages are striped
  /// over the connections, and nothing is lost while one of them works.
  /// docs/adr/0010-several-links.md
  unsigned tcp_links = 1;

  /// Which connections over TCP are encrypted. Both ends have to agree.
  tcp_encryption tcp_tls = tcp_encryption::automatic;

  /// The time without an answer after which a host counts as lost, with all peers on it. Whole
  /// seconds, 2 or more. The death of a process is noticed at once; this is for failures of
  /// machines and networks.
  std::chrono::seconds peer_timeout{10};

  /// How long a context waits for the other ranks of its job, where nothing but the environment
  /// tells of them (docs/hosts.md): for rank 0 to listen, and there for all others. Whole seconds,
  /// 1 or more.
  std::chrono::seconds start_timeout{300};

  /// How long a stopped operation waits for its peer. A stop (a deadline, a stop token) in the
  /// middle of a message is a question to the peer, which may have taken the message already, or to
  /// its device, which may be writing. A peer that leaves it open for so long is lost, and the
  /// operation ends with that; so is a peer that keeps a region from its end. Seconds, 1 or more;
  /// more than a peer computes without progress, where peers make it by calls only.
  std::chrono::seconds stop_timeout{10};

  /// How long the end of a context waits, at most, until what it has accepted and what it owes has
  /// left: sends and accesses to memory that have begun, replies, answers to peers' messages. Peers
  /// that have not taken theirs by then are lost, and learn why. 0: the end does not wait.
  /// docs/lifetimes.md, "The end of a context"
  std::chrono::milliseconds linger{5000};

  /// "auto", "uring" or "epoll": the kind of wait set.
  std::string wait_set = "auto";

  /// A folder for the names of Unix sockets, by its absolute path; empty: names in the network
  /// namespace. Processes that share the folder and the kernel share memory, whatever else their
  /// containers have in common; those of other users need the job's key. All processes that are to
  /// share memory need the same folder. docs/containers.md
  std::string socket_dir;

  /// The secret by which processes of a job authenticate each other over TCP: 32 to 128 hexadecimal
  /// digits. Empty: `job_key_file` names a file with the digits that only its owner may read. Both
  /// empty: the launcher's key, if any; without a key no process on another host can connect.
  std::string job_key;
  std::string job_key_file;

  /// The certificates by which listeners and connections at addresses tcp:// know the other side,
  /// in place of the job's key; none: the key. context::listen and context::connect may be given
  /// others. Processes of a job still know each other, and those that join it, by the job's key.
  tls_files tls;

  /// The file for the trace (Perfetto), written when the context ends; empty: none. In a job, the
  /// rank is put in front of the extension. A second context with the same name replaces the file.
  std::string trace_file;

  /// The file for the counters as OpenMetrics text, replaced at once in intervals, and at the
  /// context's end; empty: none. In a job, the rank is put in front of the extension. A name with
  /// .prom suits the textfile collector of Prometheus's node exporter. docs/operating.md
  std::string metrics_file;
  /// From 1 second to a day.
  std::chrono::seconds metrics_interval{10};

  /// The file for the call tree: the steps of messages, as text, line by line while they happen; or
  /// "stderr"; empty: none. In a job, the rank is put in front of the extension. docs/debugging.md
  std::string call_tree_file;
  /// The call tree ends after so many messages that this context has sent or received; 0: it does
  /// not.
  std::uint64_t call_tree_messages = 0;

  /// The signal for which the context prints what it waits for.
  dump_on dump = dump_on::automatic;

  /// What the context reports to people beside the errors of operations, and where to.
  log_settings log;

  /// Settings for measurements and for the repetition of experiments. Any version may change them.
  struct experiments {
    /// The order in which a pass polls the transports.
    poll_policy polling = poll_policy::in_order;

    /// How much a poll takes out of a ring in shared memory.
    ring_read_policy reading = ring_read_policy::burst;

    /// "auto", "pipeline", "cma" or "direct": the copy method for large messages in shared memory.
    std::string shm_copy = "auto";

    /// How payloads are written into a ring in shared memory. docs/adr/0042-transfer-kinds.md
    ring_stores stores = ring_stores::automatic;
    /// Of streaming stores: shorter pieces are written by ordinary ones. A long message crosses in
    /// pieces of 16 KiB. At least smallest_streamed_from.
    std::size_t streamed_from = 16 * 1024;

    /// The payload scheme of messages above eager_limit, and whether their first bytes travel with
    /// the handshake. docs/adr/0018-one-sided-rendezvous.md
    rendezvous_scheme rendezvous = rendezvous_scheme::automatic;
    rendezvous_eager_data eager_data = rendezvous_eager_data::automatic;

    /// The eager credit that this side grants to each peer, in bytes, from 3.4 KiB to 64 MiB; it
    /// does not change, and `unexpected_budget` does not bound it. Empty: as the budget allows,
    /// with more for peers that need more.
    std::optional<std::size_t> fixed_credit;

    /// How the peer, and this side, learn of the end of a get or put. docs/adr/0023-chained-fin.md
    chained_fin chained = chained_fin::automatic;
    copy_completion qdma_copy_completion = copy_completion::direct;

    /// Algorithms of collectives in place of those that weft would choose, such as
    /// "all_reduce:ring,broadcast:chain"; the same in all processes of a group. One that does not
    /// serve a call, as `weft-info --why all_reduce:8:4` shows, is not used in it.
    std::string collectives;

    /// How eager messages come to this process over verbs. docs/adr/0045-written-frames.md
    eager_operation verbs_eager = eager_operation::send;
  };
  experiments experimental;

  /// The defaults, changed by the file that WEFT_CONFIG names, if any, and then by the WEFT_*
  /// variables of the environment.
  /// \throws weft::error invalid_argument: names the variable (and the line of the file), its value
  ///        and the allowed values; system: the file cannot be read
  static options from_environment();
  /// The same, with `defaults` in place of weft's defaults.
  static options from_environment(options defaults);

  /// Applies one setting, "WEFT_NAME=value", as a variable of the environment does.
  /// \throws weft::error (invalid_argument)
  void apply(std::string_view setting);
  /// Applies a file with one setting in each line. Blanks around names and values, empty lines, and
  /// lines that begin with '#' are ignored. A later line wins.
  /// \throws weft::error  system: the file cannot be read; invalid_argument: names file and line
  void apply_file(const std::string& path);
};

#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
}  // namespace without_GLIBCXX_USE_CXX11_ABI
#endif
#ifdef _GLIBCXX_DEBUG
}  // namespace with_GLIBCXX_DEBUG
#endif
#ifdef _LIBCPP_VERSION
}  // namespace with_libcxx
#endif

}  // namespace weft
