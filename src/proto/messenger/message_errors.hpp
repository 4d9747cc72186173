// SPDX-License-Identifier: Apache-2.0
// Failures of messages, in words for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/error.hpp>
#include <weft/message.hpp>
#include <weft/operations/access.hpp>
#include <weft/operations/calls.hpp>
#include <weft/operations/messages.hpp>

namespace weft::proto {

struct inbound_message;

/// The reason of operations that end with the context.
inline constexpr const char* context_ended = "the context has ended";

/// Why an operation that names no peer could not begin. \param tag of the operation
const char* explain_no_peer(std::uint64_t tag) noexcept;

/// Returns the mask. \param one_peer the operation names its peer
/// \throws weft::error (invalid_argument) if it names a reserved tag that cannot be used so
tag_mask checked(tag_mask t, bool one_peer);

/// A peer, as people know it: "rank 3", "rank 3, lane 1"; "connected peer 5" for the number 2^31
/// + 5.
std::string name_of(peer_id number);

/// What an operation does, for its error and for a dump: "send to rank 3, tag 7". A tag of weft's
/// own is left out.
std::string describe(const send_operation& op);
std::string describe(const detail::match_operation& op);
std::string describe(const detail::rma_operation& op);
std::string describe(const detail::call_operation& op);
/// "message from rank 3, tag 7".
std::string describe(const inbound_message& m);

/// Whether that peer has ended with that status, so that operations end with it for no fault of
/// their own. Any thread.
bool has_ended_so(detail::peer_name with, errc status);

/// One sentence about an operation with that peer (null: any) that failed. Any thread.
/// \param what the operation, from `describe`
/// \param got of a receive; else null
/// \param room bytes that the receive had room for
std::string explain(const std::string& what, errc status, detail::peer_name with,
                    const received* got, std::size_t room);

}  // namespace weft::proto
