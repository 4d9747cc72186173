// SPDX-License-Identifier: Apache-2.0
#include "proto/rendezvous/early_receives.hpp"

#include <algorithm>

#include "proto/match/match.hpp"

namespace weft::proto {

using detail::match_operation;

void early_receives::posted(recv_operation& op) noexcept {
  // A peer without its first credit could not tell what `a` says.
  if (!connection_->is_open() || connection_->several() || writer_->flow().window() == 0 ||
      waiting_ == most_early)
    return;
  const std::size_t eager = services_->settings.eager_limit_over(connection_->link()->traits());
  const std::size_t room = op.into.size();
  if (!op.tag.exact() || op.tag.value >= first_reserved_tag || op.stays() || room <= eager ||
      !services_->matcher.is_foreseen(op))
    return;
  if (gathered_ == early_in_frame) flush();
  if (gathered_ == early_in_frame) return;  // the link has no room
  op.early_number = ++last_;
  op.special |= match_operation::is_early;
  next_[gathered_++] = {op.tag.value, room, op.early_number};
  ++waiting_;
  if (gathered_ == early_in_frame) flush();
}

void early_receives::forget(match_operation& op, bool take_back) noexcept {
  op.special &= static_cast<std::uint8_t>(~match_operation::is_early);
  --waiting_;
  early_receive* const end = next_.data() + gathered_;
  early_receive* const one = std::find_if(
      next_.data(), end, [&](const early_receive& e) { return e.number == op.early_number; });
  if (one != end) {
    std::copy(one + 1, end, one);
    --gathered_;
  } else if (take_back) {
    writer_->send_control(frame_kind::early_end, op.early_number);
  }
}

/// The peer learns by `a` which of its messages had not been taken in when the frame left: those
/// may meet a receive that the frame announces. The credit in the frame itself is counted.
void early_receives::flush() noexcept {
  while (gathered_ != 0 && connection_->is_open()) {
    const flow_control& flow = writer_->flow();
    const std::size_t most = connection_->link()->traits().max_payload / sizeof(early_receive);
    const std::size_t n = std::min(gathered_, most);
    const const_buffer block(reinterpret_cast<const std::byte*>(next_.data()),
                             n * sizeof(early_receive));
    const frame_header h = header_of(frame_kind::early, 0, static_cast<std::uint32_t>(block.size()),
                                     transports::has_extension);
    const frame_extension x{std::uint64_t{flow.usable()} + flow.for_next_frame(), 0, 0};
    transports::gather data(std::span<const const_buffer>(&block, 1));
    if (n == 0 || writer_->post(h, &x, data) != transports::post::done) return;
    sent_ = next_[n - 1].number;
    std::copy(next_.begin() + static_cast<std::ptrdiff_t>(n),
              next_.begin() + static_cast<std::ptrdiff_t>(gathered_), next_.begin());
    gathered_ -= n;
  }
}

}  // namespace weft::proto
