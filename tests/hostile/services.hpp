// SPDX-License-Identifier: Apache-2.0
// The victim's services for requesters, so that it has operations of every kind with the attacker.
// No service relies on an answer of the other side.
#pragma once

#include <vector>

#include <weft/weft.hpp>

namespace hostile {

/// The private data that ask for the services.
inline constexpr const char* service_names[] = {"echo",   "push",  "memory", "stream",
                                                "rights", "call",  "loans",  "topics",
                                                "ignore", "close", "reject"};

/// Serves one requester as its private data says. Ends when the service has ended, well or not;
/// never throws.
weft::task<void> serve_requester(weft::context& ctx, weft::endpoint who, std::string private_data);

/// Receives from any source, and answers as the immediate word asks.
/// \param views in place, if they can be read there
weft::task<void> receive_from_anybody(weft::context& ctx, std::size_t size, bool views,
                                      weft::peer_id& numbered_source, std::uint64_t& numbered);

/// Handlers that every peer may call: 1 to 5. They must be ended inside `run`.
std::vector<weft::handler> handlers_for_all(weft::context& ctx);
/// Adds one to a number.
inline constexpr weft::am number_of_adder{1};

/// The topic that the victim publishes, and subscribes to.
inline constexpr const char* name_of_topic = "t";

/// The size of the memory that every peer may write.
inline constexpr std::size_t open_region_bytes = 256 * 1024;

}  // namespace hostile
