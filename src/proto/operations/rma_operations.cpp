// SPDX-License-Identifier: Apache-2.0
// The operations of one-sided access: each is started at the peer, or at the regions of its
// context.
#include <fmt/format.h>

#include "proto/messenger/message_errors.hpp"
#include "proto/messenger/messenger.hpp"
#include "proto/rma/rma.hpp"

namespace weft::proto {

using detail::rma_kind;
using detail::rma_refusal;

std::size_t size_of(const detail::rma_request& o) noexcept {
  switch (o.kind) {
    case rma_kind::put:
      return o.data.size();
    case rma_kind::get:
      return o.into.size();
    default:
      return sizeof(std::uint64_t);
  }
}

namespace {
const char* words_for(rma_refusal why) noexcept {
  switch (why) {
    case rma_refusal::none:
      break;
    case rma_refusal::no_region:
      return "it has no region with that key; regions must live until all have ended that others "
             "do with them";
    case rma_refusal::out_of_bounds:
      return "the region ends before that";
    case rma_refusal::no_right:
      return "the region was not registered for that; see weft::rights";
    case rma_refusal::misaligned:
      return "words for atomics lie on multiples of 8 bytes";
    case rma_refusal::unheard:
      return "it has not taken the notifications that it has; let it take some by "
             "region::notified first";
  }
  return "";
}
}  // namespace

}  // namespace weft::proto

namespace weft::detail {

bool rma_operation::start() noexcept {
  if (!order.to.peer) return start_held();
  const runtime::engine::holder hold(order.to.peer->engine());
  return start_held();
}

bool rma_operation::start_held() noexcept {
  if (order.to.peer) return order.to.peer->start(*this);
  status = errc::invalid_argument;
  return true;
}

void rma_operation::cancel() noexcept {
  if (!order.to.peer) return;
  const runtime::engine::holder hold(order.to.peer->engine());
  order.to.peer->cancel(*this);
}

std::string rma_operation::explain() const {
  if (!order.to.peer) return proto::explain_no_peer(0);
  if (refusal != rma_refusal::none)
    return fmt::format("{} was refused: {}", proto::describe(*this), proto::words_for(refusal));
  if (status == errc::invalid_argument && !proto::has_ended_so(order.to, status))
    return order.where.key == 0
               ? "this remote_region names no memory; it comes from region::remote of a peer"
               : fmt::format("{} bytes, but the remote_region names {}", proto::size_of(order),
                             order.where.size);
  return proto::explain(proto::describe(*this), status, order.to, nullptr, 0);
}

}  // namespace weft::detail

namespace weft {

bool region_end_operation::start() noexcept {
  return !messenger || messenger->regions().start(*this);
}

bool notified_operation::start() noexcept {
  if (!messenger) return start_held();
  const runtime::engine::holder hold(messenger->engine());
  return start_held();
}

bool notified_operation::start_held() noexcept {
  if (messenger) return messenger->regions().start(*this);
  status = errc::invalid_argument;
  return true;
}

void notified_operation::cancel() noexcept {
  if (messenger) messenger->regions().cancel(*this);
}

std::string notified_operation::explain() const {
  if (!messenger) return "this region was moved from, and has no memory";
  if (status == errc::closed) return "the region, or its context, has ended";
  return sentence_of(status);
}

}  // namespace weft
