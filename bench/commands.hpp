// SPDX-License-Identifier: Apache-2.0
// The subcommands that measure weft. Each runs in the callback that CLI11 calls at the end of
// parsing; exceptions of measuring pass through. They fork, so no context may exist yet.
#pragma once

#include <CLI/CLI.hpp>

namespace weft::bench {

void add_latency_command(CLI::App& app);      ///< there and back
void add_rate_command(CLI::App& app);         ///< small messages, many in flight
void add_bandwidth_command(CLI::App& app);    ///< large messages, one or many in flight
void add_overlap_command(CLI::App& app);      ///< messages while the application computes
void add_alltoall_command(CLI::App& app);     ///< many ranks, each with all others
void add_barrier_command(CLI::App& app);      ///< barriers of whole jobs
void add_idle_command(CLI::App& app);         ///< CPU time of a context that has nothing to do
void add_stripe_command(CLI::App& app);       ///< large messages over two links against one
void add_scale_command(CLI::App& app);        ///< what connected but idle peers cost
void add_connections_command(CLI::App& app);  ///< what many connections hold
void add_tax_command(CLI::App& app);          ///< what other transports cost shared memory
void add_rdma_command(CLI::App& app);         ///< long messages by frames, reads and writes
void add_tree_command(CLI::App& app);         ///< broadcasts by chains and by messages
void add_regcache_command(CLI::App& app);     ///< registered memory that is kept
void add_ladder_command(CLI::App& app);       ///< the rungs of the RDMA channel
void add_progress_command(CLI::App& app);     ///< what asynchronous progress costs
void add_layers_command(CLI::App& app);       ///< what each layer adds to a message
void add_strangers_command(CLI::App& app);    ///< what bad connections cost
void add_access_command(CLI::App& app);       ///< one-sided access to a peer's memory
void add_stream_command(CLI::App& app);       ///< a stream against messages and a Unix socket
void add_policy_command(CLI::App& app);       ///< orders of looking at several transports

}  // namespace weft::bench
