// SPDX-License-Identifier: Apache-2.0
// options: what can be chosen when a context is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/poll_policy.hpp>
#include <weft/progress_mode.hpp>
#include <weft/registration_cache.hpp>
#include <weft/rendezvous.hpp>
#include <weft/ring_read_policy.hpp>

namespace weft {

/// Everything that can be chosen, with the defaults that suit most. `from_environment` applies a
/// configuration file and the WEFT_* variables on top (docs/environment.md lists them; `weft-info`
/// prints them).
struct options {
  progress_mode progress = progress_mode::dedicated;

  /// How long a waiting thread polls before it sleeps. Shortened by itself where there are more
  /// runnable threads than cores.
  std::chrono::microseconds spin{200};

  /// Memory for messages that arrive before their receive, over all peers, in bytes. Beyond it only
  /// headers travel and the data stays with the sender.
  std::size_t unexpected_budget = std::size_t{64} << 20;

  /// Messages up to this many bytes are sent at once; longer ones after a handshake that hides
  /// behind their first bytes.
  std::size_t eager_limit = std::size_t{64} << 10;

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

  /// Choices to measure by and to repeat experiments with. Any version may change them.
  struct experiments {
    /// How threads that poll share their looks among transports.
    poll_policy polling = poll_policy::in_order;

    /// How threads that poll read the rings of shared memory.
    ring_read_policy reading = ring_read_policy::burst;

    /// How the rest of a message above eager_limit crosses, and whether its beginning goes along
    /// with the handshake. docs/adr/0018-one-sided-rendezvous.md
    rendezvous_scheme rendezvous = rendezvous_scheme::automatic;
    rendezvous_eager_data eager_data = rendezvous_eager_data::automatic;

    /// How the end of a read or write is told, to the peer and here. docs/adr/0023-chained-fin.md
    chained_fin chained = chained_fin::automatic;
    copy_completion qdma_copy_completion = copy_completion::direct;
  };
  experiments experimental;

  /// The defaults, changed by the file that WEFT_CONFIG names, if any, and then by the WEFT_*
  /// variables of the environment.
  /// \throws weft::error (invalid_argument) naming the variable (and the line of the file), its
  ///         value and what is allowed; system: the file cannot be read
  static options from_environment();
  /// The same, on top of other defaults.
  static options from_environment(options defaults);

  /// Applies one setting, "WEFT_NAME=value", as a variable of the environment would.
  /// \throws weft::error (invalid_argument)
  void apply(std::string_view setting);
  /// Applies a file of settings, one in a line. Blanks around names and values do not count, nor
  /// do empty lines and those that begin with '#'. A later line wins.
  /// \throws weft::error  system: the file cannot be read; invalid_argument: names file and line
  void apply_file(const std::string& path);
};

}  // namespace weft
