// SPDX-License-Identifier: Apache-2.0
// Messages with the tags of topics, to and from one peer. Each `co_await` of one is as of the
// endpoint's own functions.
#pragma once

#include <cstdint>

#include <weft/detail/topic_ops.hpp>
#include <weft/operations/loans.hpp>

#include "api/topics/topic_wire.hpp"

namespace weft::detail {

inline peer_name name_of_peer(const endpoint& e) noexcept {
  return {internals::peer_of(e), e.id()};
}

/// \throws weft::error (refused): a request that is too long
void check_request_size(std::size_t size);

/// The arguments of a call of weft's own. \throws weft::error (refused)
template <class Request>
task<Request> request_of(call c) {
  check_request_size(c.size());
  call_bytes body(c.size());
  const mutable_buffer into(body.data(), c.size());
  co_await c.recv(into);
  co_return std::get<0>(unpack_values<Request>(body.bytes()));
}

/// \param value lives until the end
inline loan_send_request lend_to(const endpoint& e, tag t, const published& value) {
  return {name_of_peer(e), t, value.sequence, value.lent.share()};
}
inline send_request copy_to(const endpoint& e, tag t, const_buffer bytes, std::uint64_t word) {
  return {name_of_peer(e), t, bytes, send_mode::standard, word};
}
inline lent_recv_request<std::byte> receive_from(const endpoint& e, tag t, at_most limit) {
  return {{nullptr, name_of_peer(e), t, mutable_buffer{}}, limit};
}

/// The messages of a caller, which have a word each.
inline send_request send_word(const endpoint& e, std::uint32_t number, const std::uint64_t& word) {
  return copy_to(e, tag_to_called(number), std::as_bytes(std::span(&word, 1)), 0);
}
inline recv_request recv_word(const endpoint& e, std::uint32_t number, std::uint64_t& word) {
  return {nullptr, name_of_peer(e), tag_to_called(number),
          std::as_writable_bytes(std::span(&word, 1))};
}

}  // namespace weft::detail
