// SPDX-License-Identifier: Apache-2.0
// The moves of messages: their frames, and the answers to those of the victim.
#include <algorithm>

#include "support/hostile_lists.hpp"

namespace weft::tests {

using namespace hostile;

hostile_frames::maybe hostile_frames::eager(dice& d) {
  const std::uint32_t size = some_size(d);
  if (current_ || proto::units_of(size) > credit_) return {};
  credit_ -= proto::units_of(size);
  hostile_frame f{proto::header_of(frame_kind::eager, any_tag(d), size, proto::eager_ends)};
  if (d.percent(40)) {
    f.header.flags |= has_extension;
    f.extension = {size, d.percent(50) ? new_id(d) : std::uint64_t{0}, 0};
    if (f.extension.b != 0)
      keep(messages_, {static_cast<std::uint16_t>(f.extension.b), size, size, false});
  }
  return f;
}

hostile_frames::maybe hostile_frames::begin_eager(dice& d) {
  const std::uint32_t size = some_size(d) / proto::credit_unit * proto::credit_unit;
  if (current_ || proto::units_of(size) + 1 > credit_) return {};
  const std::uint64_t most = static_cast<std::uint64_t>(credit_ - 1) * proto::credit_unit;
  const std::uint64_t total =
      d.percent(30) ? most : d.between(size, std::min<std::uint64_t>(most, size + 9000));
  credit_ -= proto::units_of(size);
  const std::uint16_t id = d.percent(50) ? new_id(d) : std::uint16_t{0};
  current_ = message{id, total, size, false};
  if (id != 0) keep(messages_, *current_);
  return hostile_frame{proto::header_of(frame_kind::eager, any_tag(d), size, has_extension),
                       {total, id, 0}};
}

hostile_frames::maybe hostile_frames::begin_rendezvous(dice& d) {
  static constexpr std::array<std::uint64_t, 6> totals{
      0, 1, 5000, 90'000, std::uint64_t{1} << 40, proto::max_message};
  const std::uint32_t size = d.percent(60) ? 0 : some_size(d);
  if (current_ || proto::units_of(size) > credit_) return {};
  credit_ -= proto::units_of(size);
  const std::uint64_t total = std::max<std::uint64_t>(size, d.one_of(totals));
  const message m{new_id(d), total, size, true};
  std::uint8_t flags = has_extension;
  if (d.percent(30)) flags |= proto::starved;
  if (d.percent(60))
    flags |= proto::eager_ends;
  else
    current_ = m;
  keep(messages_, m);
  const std::uint64_t at = addresses.empty() || d.percent(60) ? 0 : d.one_of(addresses);
  return hostile_frame{proto::header_of(frame_kind::rts, any_tag(d), size, flags),
                       {std::uint64_t{m.id} << 48 | total, at, 0}};
}

hostile_frames::maybe hostile_frames::more(dice& d) {
  if (!current_) return {};
  const std::uint64_t rest = current_->total - current_->sent;
  const auto size =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(d.percent(20) ? 0 : some_size(d), rest));
  if (proto::payload_units(size) > credit_) return {};
  credit_ -= proto::payload_units(size);
  current_->sent += size;
  const bool ends = current_->sent == current_->total || (current_->rendezvous && d.percent(40));
  for (message& m : messages_)
    if (m.id == current_->id) m.sent = current_->sent;
  if (ends) current_.reset();
  return hostile_frame{
      proto::header_of(frame_kind::more, 0, size, ends ? proto::eager_ends : std::uint8_t{0})};
}

hostile_frames::maybe hostile_frames::cancel(dice& d) {
  if (messages_.empty()) return {};
  if (d.percent(50)) ++credit_;  // as if the victim had already acknowledged it
  return plain(frame_kind::cancel, any_of(messages_, d).id);
}

hostile_frames::maybe hostile_frames::data(dice& d) {
  if (messages_.empty()) return {};
  message& m = any_of(messages_, d);
  if (m.theirs == 0 || m.sent == m.total) return {};
  const auto size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(d.percent(50) ? max_payload_ : some_size(d), m.total - m.sent));
  hostile_frame f = plain(frame_kind::data, m.theirs, m.sent);
  f.header.size = size;
  m.sent += size;
  return f;
}

/// As if the victim had asked it to stop.
hostile_frames::maybe hostile_frames::last_data(dice& d) {
  if (messages_.empty()) return {};
  const message& m = any_of(messages_, d);
  if (m.theirs == 0 || d.percent(80)) return {};
  return plain(frame_kind::data, m.theirs, m.total);
}

hostile_frames::maybe hostile_frames::fin(dice& d) {
  if (messages_.empty()) return {};
  const message& m = any_of(messages_, d);
  if (m.theirs == 0) return {};
  return plain(frame_kind::fin, m.theirs);
}

hostile_frames::maybe hostile_frames::answer_message(dice& d) {
  if (messages_of_theirs_.empty()) return {};
  const question q = take(messages_of_theirs_, d);
  if (q.kind == frame_kind::eager) return plain(frame_kind::matched, q.id);
  if (d.percent(30)) return plain(frame_kind::fin_ack, q.id);
  const std::uint16_t id = new_id(d);
  keep(asked_, {q.id, id});
  return plain(frame_kind::cts, q.id, id,
               addresses.empty() || d.percent(60) ? 0 : d.one_of(addresses));
}

hostile_frames::maybe hostile_frames::answer_cancel(dice& d) {
  if (cancels_.empty()) return {};
  return plain(frame_kind::cancelled, take(cancels_, d));
}

hostile_frames::maybe hostile_frames::enough(dice& d) {
  if (asked_.empty()) return {};
  const pair p = take(asked_, d);
  return plain(frame_kind::stop_data, p.a, p.b);
}

}  // namespace weft::tests
