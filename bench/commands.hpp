// SPDX-License-Identifier: Apache-2.0
// The subcommands for weft alone and for no library, each in its own namespace: all have a
// `request`, and several are compiled as one file. Each runs in the callback that CLI11 calls at
// the end of parsing; exceptions of the measurement pass through. Most fork, so no context may
// exist yet.
#pragma once

#include <CLI/CLI.hpp>

// clang-format off
namespace weft::bench {

namespace latency_command { void add(CLI::App& app); }      ///< there and back
namespace window_commands {
void add_rate(CLI::App& app);                               ///< small messages, many in flight
void add_bandwidth(CLI::App& app);                          ///< large messages, one or many in flight
}
namespace sendrecv_command { void add(CLI::App& app); }     ///< both processes send and receive at once
namespace overlap_command { void add(CLI::App& app); }      ///< messages while the application computes
namespace alltoall_command { void add(CLI::App& app); }     ///< many ranks, each with all others
namespace barrier_command { void add(CLI::App& app); }      ///< barriers of whole jobs
namespace collective_command { void add(CLI::App& app); }   ///< a collective call, also while the application computes
namespace idle_command { void add(CLI::App& app); }         ///< CPU time of a context that has nothing to do
namespace scale_command { void add(CLI::App& app); }        ///< what connected but idle peers cost
namespace connections_command { void add(CLI::App& app); }  ///< what many connections hold
namespace tax_command { void add(CLI::App& app); }          ///< what other transports cost shared memory
namespace eager_command { void add(CLI::App& app); }        ///< limits of eager messages over each transport
namespace kinds_command { void add(CLI::App& app); }        ///< kinds of transfers beside each other
namespace rdma_command { void add(CLI::App& app); }         ///< long messages by frames, reads and writes
namespace tree_command { void add(CLI::App& app); }         ///< broadcasts by chains and by messages
namespace regcache_command { void add(CLI::App& app); }     ///< registered memory that is kept
namespace frames_command { void add(CLI::App& app); }       ///< eager messages over verbs, sent and written
namespace device_command { void add(CLI::App& app); }       ///< the bare RDMA device
namespace ladder_command { void add(CLI::App& app); }       ///< the rungs of the RDMA channel
namespace progress_command { void add(CLI::App& app); }     ///< what asynchronous progress costs
namespace layers_command { void add(CLI::App& app); }       ///< what each layer adds to a message
namespace instructions_command { void add(CLI::App& app); } ///< instructions of each step of a message
namespace bad_clients_command { void add(CLI::App& app); }    ///< what bad connections cost
namespace access_command { void add(CLI::App& app); }       ///< one-sided access to a peer's memory
namespace calls_command { void add(CLI::App& app); }        ///< calls beside messages there and back
namespace stream_command { void add(CLI::App& app); }       ///< a stream against messages and a Unix socket
namespace policy_command { void add(CLI::App& app); }       ///< orders of looking at several transports
namespace stripe_command { void add(CLI::App& app); }       ///< large messages over two links against one
namespace threads_command { void add(CLI::App& app); }      ///< threads with a lane each, and with one lane
namespace loans_command { void add(CLI::App& app); }        ///< messages that are read in place
namespace values_command { void add(CLI::App& app); }       ///< typed values beside the same bytes
namespace pieces_command { void add(CLI::App& app); }       ///< lists of pieces beside one buffer
namespace large_command { void add(CLI::App& app); }        ///< a long message, value, argument and result
namespace asio_command { void add(CLI::App& app); }         ///< inside an io_context of Asio
namespace serve_command { void add(CLI::App& app); }        ///< the other side, for clients on other hosts
namespace vipl_command { void add(CLI::App& app); }         ///< the VI Provider Library
namespace raw_command { void add(CLI::App& app); }          ///< the limits of this machine, without any library

/// Adds all of them, and those that compare with other libraries.
/// \param exit_code set by a comparison that fails; must outlive the parsing
void add_commands(CLI::App& app, int& exit_code);

}  // namespace weft::bench
// clang-format on
