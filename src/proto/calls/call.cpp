// SPDX-License-Identifier: Apache-2.0
// What a handler sees of its call.
#include <weft/call.hpp>
#include <weft/detail/call_code.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "proto/calls/served_call.hpp"

namespace weft {

am call::number() const noexcept { return {self_->about().tag.number}; }
endpoint call::from() const { return detail::internals::endpoint_of(self_->from()); }
std::size_t call::size() const noexcept { return static_cast<std::size_t>(self_->about().size); }
bool call::wants_reply() const noexcept { return self_->wants_reply(); }
const_buffer call::data() const noexcept { return self_->data(); }
const_buffer call::beginning() { return self_->beginning(); }
void call::discard() noexcept { self_->discard(); }
std::chrono::steady_clock::time_point call::deadline() const noexcept {
  return self_->about().deadline;
}
bool call::wants_stream() const noexcept { return self_->wants_stream(); }
bool call::stop_requested() const noexcept { return self_->stop_requested(); }

claimed_request call::recv(mutable_buffer into) noexcept {
  return {&self_->message(), self_->from().get(), into};
}
claimed_request call::recv(std::span<const mutable_buffer> list) noexcept {
  return {&self_->message(), self_->from().get(), list};
}
claimed_request call::recv(const detail::buffer_list<mutable_buffer>& memory) noexcept {
  return {&self_->message(), self_->from().get(), memory};
}

void detail::check_size(std::size_t size, call_sizes taken) {
  if (size > longest_typed_call)
    throw error(errc::refused, fmt::format("a call of {} bytes; a typed handler takes at most {}",
                                           size, longest_typed_call));
  if (size < taken.least || size > taken.most)
    throw error(errc::refused,
                fmt::format("{} bytes came, and the types take {}{}", size,
                            taken.least == taken.most ? "" : "at least ", taken.least));
}

mutable_buffer detail::flat_sink::next_room() {
  throw error(errc::invalid_argument, "the put of a wire<T> wrote more than it did the first time");
}

void detail::require_full(std::uint64_t written, std::size_t counted) {
  if (written != counted)
    throw error(errc::invalid_argument,
                fmt::format("the put of a wire<T> wrote {} bytes, and {} the first time", written,
                            counted));
}

void detail::require_taken(std::size_t size, std::size_t left) {
  if (left != 0)
    throw error(errc::refused,
                fmt::format("{} bytes came, and the types take {}", size, size - left));
}

void detail::landed_source::refuse_changed_row() {
  throw error(errc::refused, "its bytes changed while they came");
}

void detail::refuse_bytes(std::size_t size, const error& why) {
  if (why.kind() == errc::refused) throw error(why);
  throw error(errc::refused, fmt::format("{} bytes came: {}", size, why.what()));
}

void detail::check_kind(const call& c, bool gives_stream) {
  if (c.wants_stream() == gives_stream) return;
  throw error(errc::refused, gives_stream ? "it gives a stream of values: call it by call_stream"
                                          : "it gives no stream of values: call it by call");
}

std::size_t detail::put_inline_reply(const inline_call& c, const call_bytes& packed) {
  if (packed.size() > c.room.size())
    throw error(errc::refused, fmt::format("a reply of {} bytes; an inline handler has room for {}",
                                           packed.size(), c.room.size()));
  const const_buffer bytes = packed.bytes();
  std::copy(bytes.begin(), bytes.end(), c.room.begin());
  return packed.size();
}

}  // namespace weft
