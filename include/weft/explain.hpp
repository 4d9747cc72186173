// SPDX-License-Identifier: Apache-2.0
// Which way a message takes, and why, in words for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weft/context.hpp>

namespace weft {

/// One way that messages of a size take, and when they take it.
struct route {
  std::string when;  ///< "always", or what must hold
  std::string way;   ///< what happens to the bytes
  std::string why;   ///< the rule that chose it, with its numbers
};

/// The ways of a message to another process of this host over shared memory, as this context is set
/// up, with a connection that is open and has credit left. The same functions answer that decide
/// when a message is sent. Any thread. \param bytes the message's size \param cma whether
/// process_vm_readv works between the two (endpoint::describe tells of a peer) \throws weft::error
/// (unsupported) if the context has no shared memory
std::vector<route> explain_routes(const context& ctx, std::size_t bytes, bool cma);

/// What came of one transport on the way to a peer.
struct candidate {
  enum class outcome {
    chosen,     ///< it carries what is sent there
    refused,    ///< it was tried
    not_tried,  ///< one that is preferred works
    not_used    ///< this context does without it
  };
  std::string transport;  ///< "shm"
  outcome result;
  std::string why;  ///< for people
};

/// Which transports were tried for messages to a peer, and what came of each: what happened, not
/// what might. Connects to the peer if nothing was sent there yet, but sends no message. Messages
/// from there to here are that peer's choice.
/// \param ctx the endpoint's context
/// \return all transports of this library, the preferred ones first
/// \throws weft::error (peer_lost, closed, unreachable) if none could be tried, because the peer
///         itself is gone or was not found
task<std::vector<candidate>> explain_peer(context& ctx, endpoint to);

}  // namespace weft
