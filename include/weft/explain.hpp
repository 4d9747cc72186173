// SPDX-License-Identifier: Apache-2.0
// The way that a message takes, and the reasons, as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <weft/context.hpp>

namespace weft {

/// One way that messages of a size take, and when they take it.
struct route {
  std::string when;  ///< "always", or what must hold
  std::string way;   ///< what happens to the bytes
  std::string why;   ///< the rule that chose it, with its numbers
};

/// The ways of a message to another process of this host over shared memory, with this context's
/// options, an open connection and credit left. The answer comes from the functions that decide
/// when a message is sent. Any thread.
/// \param ctx   the sender's context
/// \param bytes the message's size
/// \param cma   whether process_vm_readv works between the two processes (endpoint::describe tells)
/// \throws weft::error (unsupported) if the context has no shared memory
std::vector<route> explain_routes(const context& ctx, std::size_t bytes, bool cma);

/// The result of the attempt to use one transport for a peer.
struct candidate {
  enum class outcome {
    chosen,     ///< it carries the messages to the peer
    refused,    ///< it was tried and cannot be used
    not_tried,  ///< a preferred transport works
    not_used    ///< this context does not use it
  };
  std::string transport;  ///< "shm"
  outcome result;
  std::string why;  ///< as text
};

/// The transports that were tried for messages to a peer, with the result of each attempt. Connects
/// to the peer if no message was sent to it yet, but sends none. The peer chooses the transport of
/// its own messages.
/// \param ctx the endpoint's context
/// \param to  the peer
/// \return all transports of this library, the preferred ones first
/// \throws weft::error (peer_lost, closed, unreachable) if none could be tried, because the peer
///         itself is gone or was not found
task<std::vector<candidate>> explain_peer(context& ctx, endpoint to);

/// An algorithm that a collective of a group can use, and what it costs by the model of the
/// network that all members share. Costs are for the comparison of algorithms: not measured here.
struct algorithm_cost {
  std::string algorithm;  ///< "recursive_doubling"
  double microseconds;
  std::string unfit;    ///< why it cannot be used; empty: it can
  bool forced = false;  ///< it was asked for: if it can be used, it is
};

/// The algorithms of a collective. The first one is used: the one that was asked for, or the
/// cheapest. The others follow by cost, and at last those that cannot be used. The answer comes
/// from the function that decides when the collective is called. Any thread.
/// \param collective the name of its member in `group`, such as all_reduce
/// \param bytes of one rank's part: of its buffer in a broadcast or reduction, of what it passes to
///        gather, gets from scatter, or sends to one rank in all_to_all; a barrier has none
/// \param ranks of the group
/// \param hosts with as many ranks each, next to each other; 1: all ranks are on one host; 0: they
///        are on several, of which nothing else is known
/// \param forced   the algorithms that were asked for, as options::experiments::collectives
/// \throws weft::error (invalid_argument): there is no such collective or algorithm, or
///         no ranks, or they do not divide into so many hosts
std::vector<algorithm_cost> explain_collective(std::string_view collective, std::size_t bytes,
                                               peer_id ranks, peer_id hosts,
                                               std::string_view forced = {});

}  // namespace weft
