// SPDX-License-Identifier: Apache-2.0
// What the victim does for whoever comes and asks: so that it has operations of every kind with
// the attacker. None of it trusts that the other side answers.
#pragma once

#include <weft/weft.hpp>

namespace hostile {

/// Greetings by which they are asked for.
inline constexpr const char* service_names[] = {"echo",   "push",   "memory", "stream",
                                                "rights", "ignore", "close",  "reject"};

/// Serves one visitor as its private data says. Ends when that has ended, well or not; never
/// throws.
weft::task<void> serve_visitor(weft::context& ctx, weft::endpoint who, std::string private_data);

/// Receives from anybody, and answers as the immediate word asks.
weft::task<void> receive_from_anybody(weft::context& ctx, std::size_t size,
                                      weft::peer_id& numbered_source, std::uint64_t& numbered);

/// Memory that everybody may write.
inline constexpr std::size_t open_region_bytes = 256 * 1024;

}  // namespace hostile
