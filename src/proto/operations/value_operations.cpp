// SPDX-License-Identifier: Apache-2.0
// Receives of values: what their messages must be like.
#include <fmt/format.h>

#include <weft/operations/loans.hpp>
#include <weft/operations/values.hpp>

#include "proto/messenger/message_errors.hpp"

namespace weft {

namespace {
std::string what_came(const received& got) {
  return fmt::format("a message of {} bytes from {}", got.size, proto::name_of(got.source));
}
}  // namespace

// --- a value of one size ------------------------------------------------------------------------

std::string exact_recv_operation::explain() const {
  const bool other_size =
      status == errc::truncated || (status == errc::protocol_error && got.source != no_peer);
  if (!other_size) return recv_operation::explain();
  return fmt::format("{} is no value of {} bytes; both sides must name the same type",
                     what_came(got), into.size());
}

using detail::sized_recv_operation;

// --- a value of any number of elements ----------------------------------------------------------

bool sized_recv_operation::start() noexcept {
  if (!recv_operation::start()) return false;
  settle();
  return true;
}

errc sized_recv_operation::refusal(std::size_t size) const noexcept {
  if (size % to_.element != 0) return errc::protocol_error;
  return size > to_.limit.bytes ? errc::truncated : errc::ok;
}

errc sized_recv_operation::make_room(std::size_t size) noexcept {
  if (const errc why = refusal(size); why != errc::ok) return why;
  mutable_buffer bytes;
  if (!to_.resize(to_.container, size / to_.element, bytes)) return errc::out_of_memory;
  into = bytes;
  return errc::ok;
}

/// A short message may have gone to the beginning of the memory that was there.
void sized_recv_operation::settle() noexcept {
  if (view && view->in_place()) return;
  if (status == errc::ok && got.size != into.size()) status = make_room(got.size);
}

void sized_recv_operation::message_ended(operation& op) noexcept {
  auto& self = static_cast<sized_recv_operation&>(op);
  self.settle();
  self.ended_(op);
}

std::string sized_recv_operation::explain() const {
  if (got.source != no_peer && status == errc::protocol_error)
    return fmt::format(
        "{} is no whole number of elements of {} bytes; both sides must name the same type",
        what_came(got), to_.element);
  if (status == errc::truncated)
    return fmt::format("{} is longer than this receive accepts, {} bytes; pass a larger at_most",
                       what_came(got), to_.limit.bytes);
  if (got.source != no_peer && status == errc::out_of_memory)
    return fmt::format("no memory for {}", what_came(got));
  return recv_operation::explain();
}

}  // namespace weft
