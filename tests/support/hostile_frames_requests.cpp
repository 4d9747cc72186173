// SPDX-License-Identifier: Apache-2.0
// The other moves: credit, signals, groups, calls, ends, and accesses to memory.
#include <algorithm>
#include <array>

#include "proto/frames/call_wire.hpp"
#include "proto/groups/group_table.hpp"
#include "support/hostile_lists.hpp"

namespace weft::tests {

using namespace hostile;

hostile_frames::maybe hostile_frames::credit(dice& d) {
  hostile_frame f{proto::header_of(frame_kind::credit)};
  const std::uint32_t n = std::min<std::uint32_t>(owed_, 0xffff);
  owed_ -= n;
  f.header.credit = static_cast<std::uint16_t>(d.percent(90) ? n : d.throw_one());
  return f;
}

hostile_frames::maybe hostile_frames::signal(dice& d) {
  return plain(frame_kind::signal, proto::first_signal_tag | d.below(1000), d.throw_one());
}

hostile_frames::maybe hostile_frames::barrier(dice& d) {
  if (groups.empty()) return {};
  const auto step = static_cast<unsigned>(d.percent(80) ? d.below(3) : d.below(1024));
  return plain(frame_kind::signal, proto::barrier_tag(d.one_of(groups), step), word(d));
}

/// As a member that has failed says it, or one that says what it has called.
hostile_frames::maybe hostile_frames::revoke(dice& d) {
  if (groups.empty()) return {};
  const std::uint64_t group = d.percent(70) ? d.one_of(groups) : d.throw_one();
  if (d.percent(50))
    return plain(frame_kind::signal, proto::revoke_tag(group) - d.between(1, 4), word(d));
  return plain(frame_kind::signal, proto::revoke_tag(group), d.below(40) << 32 | d.below(9));
}

/// Small ones; any_tag makes others.
hostile_frames::maybe hostile_frames::call(dice& d) {
  const auto size = static_cast<std::uint32_t>(d.below(std::min<std::uint32_t>(64, max_payload_)));
  if (current_ || proto::units_of(size) > credit_) return {};
  credit_ -= proto::units_of(size);
  hostile_frame f{proto::header_of(frame_kind::eager, call_tag_of(d), size, proto::eager_ends)};
  if (d.percent(40)) {
    f.header.flags |= has_extension | has_immediate;
    f.extension = {size, 0, d.percent(80) ? d.below(200) : word(d)};  // its deadline
  }
  return f;
}

hostile_frames::maybe hostile_frames::reply(dice& d) {
  const std::uint32_t size = some_size(d);
  if (calls_of_theirs_.empty() || current_ || proto::units_of(size) > credit_) return {};
  credit_ -= proto::units_of(size);
  const proto::call_tag t{proto::call_kind::reply, take(calls_of_theirs_, d),
                          static_cast<std::uint32_t>(d.below(3))};
  return hostile_frame{proto::header_of(frame_kind::eager, t.packed(), size, proto::eager_ends)};
}

hostile_frames::maybe hostile_frames::stop_call(dice& d) {
  if (calls_.empty()) return {};
  return plain(frame_kind::call_stop, d.percent(90) ? any_of(calls_, d) : word(d));
}

hostile_frames::maybe hostile_frames::bye(dice& d) {
  if (d.percent(97)) return {};
  return plain(frame_kind::bye, heard_bye_ ? proto::bye_answer : proto::good_bye);
}

hostile_frames::maybe hostile_frames::arrived(dice& d) {
  if (received.empty()) return {};
  const std::size_t link = d.below(received.size());
  return plain(frame_kind::arrived, link, received[link], d.percent(3) ? proto::link_given_up : 0);
}

// --- moves: access to memory --------------------------------------------------------------------

hostile_frames::maybe hostile_frames::put(dice& d) {
  if (regions.empty()) return {};
  const region& r = d.one_of(regions);
  const std::uint64_t id = std::uint64_t{d.between(1, 2000)} << 48;
  const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(some_size(d), r.size));
  const std::uint64_t offset = r.first + d.below(r.size - size + 1);
  hostile_frame f{proto::header_of(frame_kind::put, r.key, size, has_extension),
                  {id | offset, 0, 0}};
  if (d.percent(20)) {
    f.header.size = 0;
    f.header.flags |= proto::access_asks;
    f.extension.b = size;
  } else if (d.percent(60) || long_put_) {
    f.header.flags |= proto::access_ends;
    if (d.percent(20)) {
      f.header.flags |= proto::access_notifies | has_immediate;
      f.extension.immediate = d.throw_one();
    }
  } else {
    put_left_ = f.extension.b = d.below(r.first + r.size - offset - size + 1);
    long_put_ = f;
  }
  return f;
}

hostile_frames::maybe hostile_frames::continue_put(dice& d) {
  if (!long_put_) return {};
  hostile_frame& f = *long_put_;
  f.extension.a += f.header.size;
  f.header.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(some_size(d), put_left_));
  put_left_ -= f.header.size;
  f.extension.b = put_left_;
  f.header.flags |= proto::access_continues;
  const hostile_frame one = f;
  if (put_left_ != 0) return one;
  hostile_frame last = one;
  last.header.flags |= proto::access_ends;
  long_put_.reset();
  return last;
}

hostile_frames::maybe hostile_frames::get(dice& d) {
  if (regions.empty()) return {};
  const region& r = d.one_of(regions);
  const std::uint64_t size = d.below(r.size + 1);
  hostile_frame f =
      plain(frame_kind::get,
            std::uint64_t{d.between(1, 2000)} << 48 | (r.first + d.below(r.size - size + 1)), size);
  f.header.tag = r.key;
  if (d.percent(30)) f.header.flags |= proto::access_asks;
  return f;
}

hostile_frames::maybe hostile_frames::update(dice& d) {
  if (regions.empty()) return {};
  const region& r = d.one_of(regions);
  hostile_frame f =
      plain(frame_kind::update,
            std::uint64_t{d.between(1, 2000)} << 48 | (r.first + d.below(r.size / 8 + 1) * 8),
            d.throw_one());
  f.header.tag = r.key;
  if (d.percent(30)) {
    f.header.flags |= proto::access_swaps | has_immediate;
    f.extension.immediate = d.below(10);
  }
  return f;
}

/// As the kind of access demands, or as another kind would.
hostile_frames::maybe hostile_frames::answer_access(dice& d) {
  if (accesses_of_theirs_.empty()) return {};
  question& q = any_of(accesses_of_theirs_, d);
  const std::uint64_t id = q.id;
  const bool reads = (q.kind == frame_kind::get) != d.percent(10);
  if (q.asks && d.percent(60)) {
    q.asks = false;
    return plain(frame_kind::granted, id,
                 addresses.empty() || d.percent(40) ? 0 : d.one_of(addresses));
  }
  if (!reads || q.size == 0 || d.percent(10)) {
    const std::uint64_t why = d.percent(70) ? 0 : d.below(7);
    return plain(frame_kind::accessed, why << 16 | take(accesses_of_theirs_, d).id, d.throw_one());
  }
  const std::uint64_t rest = q.size - std::min(q.done, q.size);
  const auto size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(d.percent(50) ? max_payload_ : some_size(d), rest));
  const std::uint64_t from = q.kind == frame_kind::get || d.percent(50) ? q.done : q.size;
  hostile_frame f = plain(frame_kind::got, id << 48 | from);
  f.header.size = size;
  q.done += size;
  if (q.done >= q.size) f.header.flags |= proto::access_ends;
  return f;
}

hostile_frames::maybe hostile_frames::released(dice& d) {
  if (given_.empty()) return {};
  return plain(frame_kind::released, take(given_, d).a);
}

}  // namespace weft::tests
