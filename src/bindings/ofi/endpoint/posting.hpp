// SPDX-License-Identifier: Apache-2.0
// How operations of all kinds begin and end. For the files with the endpoint's operations.
#pragma once

#include <numeric>
#include <span>
#include <type_traits>

#include "bindings/ofi/endpoint/endpoint.hpp"

namespace weft::ofi {

inline std::size_t size_of(std::span<const iovec> pieces) noexcept {
  return std::accumulate(pieces.begin(), pieces.end(), std::size_t{0},
                         [](std::size_t n, const iovec& p) { return n + p.iov_len; });
}

inline std::size_t size_of(std::span<const fi_rma_iov> places) noexcept {
  return std::accumulate(places.begin(), places.end(), std::size_t{0},
                         [](std::size_t n, const fi_rma_iov& p) { return n + p.len; });
}

inline const_buffer buffer_of(const iovec& piece) noexcept {
  return {static_cast<const std::byte*>(piece.iov_base), piece.iov_len};
}

/// Immediate words of this provider are remote CQ data; those of other senders are ignored.
inline void tell_data(record& r, std::uint64_t immediate) noexcept {
  if ((immediate & has_cq_data) == 0) return;
  r.flags |= FI_REMOTE_CQ_DATA;
  r.data = immediate & (has_cq_data - 1);
}

inline void tell_message(record& r, const received& got) noexcept {
  r.source = got.source;
  r.tag = got.tag.value;
  r.size = got.size;
  tell_data(r, got.immediate);
}

/// All words of notifications are remote CQ data.
inline void tell_message(record& r, const notification& got) noexcept {
  r.source = got.source;
  r.data = got.value;
}

/// Whether the application may rely on it to leave.
inline bool is_sent(const record& r) noexcept {
  return r.what == record::kind::send || r.what == record::kind::read ||
         r.what == record::kind::write;
}

/// A code of fi_errno.h.
int error_of(errc status, detail::rma_refusal why) noexcept;

template <class Operation>
int error_of(const Operation& o) noexcept {
  if constexpr (std::is_base_of_v<detail::rma_operation, Operation>)
    return error_of(o.status, o.refusal);
  else
    return errno_of(o.status);
}

template <class Operation>
void in_flight<Operation>::settle() noexcept {
  ended = true;
  record::status = Operation::status;
  error = error_of(static_cast<const Operation&>(*this));
  if constexpr (requires { this->got; }) tell_message(*this, this->got);
}

template <class Operation>
void in_flight<Operation>::has_ended(operation& o) noexcept {
  auto& self = static_cast<in_flight&>(o);
  self.settle();
  self.owner->note_end(self);
}

template <class Record, class Request>
void endpoint::post(external_loop::progress_guard& hold, slot& memory, const record& its,
                    const Request& r, detail::rma_operation::step_fn next) noexcept {
  Record& made = *::new (static_cast<void*>(memory.memory.data())) Record(its, r);
  if constexpr (std::is_base_of_v<detail::rma_operation, Record>) made.next_step = next;
  if constexpr (std::is_same_v<Record, receive_record>) in_flight_.push(made);
  if (is_sent(made)) ++sending_;
  if (!hold.start(made)) return;
  made.settle();
  note_end(made);
}

}  // namespace weft::ofi
