// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "proto/frames/call_wire.hpp"
#include "proto/groups/group_table.hpp"
#include "support/hostile_lists.hpp"

namespace weft::tests {

using namespace hostile;

temper throw_temper(dice& d) {
  static constexpr std::array<unsigned, 5> rarely{0, 0, 2, 20, 200};
  return {d.one_of(rarely), d.percent(20) ? d.one_of(rarely) : 0,
          d.percent(30) ? d.one_of(rarely) : 0, d.percent(50) ? 50u : 0u};
}

std::span<const hostile_frames::move> hostile_frames::all_moves() noexcept {
  using me = hostile_frames;
  static constexpr std::array<move, 35> all{&me::eager,
                                            &me::eager,
                                            &me::begin_eager,
                                            &me::begin_rendezvous,
                                            &me::more,
                                            &me::more,
                                            &me::cancel,
                                            &me::data,
                                            &me::data,
                                            &me::last_data,
                                            &me::fin,
                                            &me::answer_message,
                                            &me::enough,
                                            &me::answer_cancel,
                                            &me::answer_message,
                                            &me::credit,
                                            &me::signal,
                                            &me::barrier,
                                            &me::revoke,
                                            &me::call,
                                            &me::call,
                                            &me::reply,
                                            &me::reply,
                                            &me::stop_call,
                                            &me::arrived,
                                            &me::arrived,
                                            &me::put,
                                            &me::get,
                                            &me::continue_put,
                                            &me::update,
                                            &me::answer_access,
                                            &me::bye,
                                            &me::answer_access,
                                            &me::released,
                                            &me::begin_rendezvous};
  return all;
}

hostile_frame hostile_frames::next(dice& d, const temper& t) {
  hostile_frame f;
  const std::uint64_t roll = d.below(1000);
  if (const maybe m = beat()) {
    f = *m;
  } else if (roll < t.made_up) {
    f = anything(d);
  } else if (roll < t.made_up + t.replayed && !past_.empty()) {
    f = replay(d);
  } else {
    if (roll >= 1000 - t.drums) {
      drum_.moves.clear();
      for (std::uint64_t n = d.between(1, 3); n != 0; --n)
        drum_.moves.push_back(d.one_of(all_moves()));
      drum_.seed = d.throw_one();
      drum_.at = 0;
      drum_.left = d.between(10, d.percent(20) ? 10'000 : 300);
    }
    f = plausible(d);
  }
  if (d.below(1000) < t.bent) bend(f, d);
  keep(past_, f);
  return f;
}

/// The move that it repeats; nothing: there is none, or it cannot go on.
hostile_frames::maybe hostile_frames::beat() {
  for (std::size_t tried = 0; drum_.left != 0 && tried != drum_.moves.size(); ++tried) {
    const std::size_t n = drum_.at++ % drum_.moves.size();
    dice same = dice(drum_.seed).part(n);
    maybe f = (this->*drum_.moves[n])(same);
    if (!f) continue;
    --drum_.left;
    return f;
  }
  drum_.left = 0;
  return {};
}

hostile_frame hostile_frames::plausible(dice& d) {
  for (int tries = 0; tries != 20; ++tries)
    if (const maybe f = (this->*d.one_of(all_moves()))(d)) return *f;
  return {proto::header_of(frame_kind::credit)};
}

hostile_frame hostile_frames::anything(dice& d) {
  hostile_frame f;
  f.header.kind = static_cast<std::uint8_t>(d.below(last_kind + 3u));
  f.header.flags = static_cast<std::uint8_t>(d.throw_one());
  if (d.percent(80)) f.header.flags |= has_extension;
  f.header.size = d.percent(50) ? 0 : some_size(d);
  f.header.credit = d.percent(90) ? 0 : static_cast<std::uint16_t>(d.throw_one());
  f.header.tag =
      is_access(f.header.kind) && !regions.empty() ? d.one_of(regions).key : d.one_of(tags);
  f.extension = {word(d), word(d), word(d)};
  return f;
}

hostile_frame hostile_frames::replay(dice& d) { return any_of(past_, d); }

/// Makes one field wrong, often by one.
void hostile_frames::bend(hostile_frame& f, dice& d) {
  frame_header& h = f.header;
  frame_extension& x = f.extension;
  const auto nearly = [&d](std::uint64_t n) {
    static constexpr std::array<std::uint64_t, 6> offs{1,    ~std::uint64_t{0},     63, 64,
                                                       4096, std::uint64_t{1} << 40};
    return n + d.one_of(offs);
  };
  switch (d.below(9)) {
    case 0:
      h.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(nearly(h.size), max_payload_));
      break;
    case 1:
      x.a = nearly(x.a);
      break;
    case 2:
      x.b = nearly(x.b);
      break;
    case 3:
      h.flags ^= static_cast<std::uint8_t>(1u << d.below(8));
      break;
    case 4:
      h.kind = static_cast<std::uint8_t>(d.below(last_kind + 1u));
      if (!is_access(h.kind)) h.tag = d.one_of(tags);
      break;
    case 5:
      // The lower half of a key does not depend on the seed.
      h.tag ^= std::uint64_t{1} << (32 + d.below(32));
      break;
    case 6:
      h.credit = static_cast<std::uint16_t>(d.throw_one());
      break;
    case 7:
      x.a = (x.a & proto::size_mask) | word(d) << 48;
      break;
    default:
      x = {word(d), word(d), d.percent(50) ? x.immediate : word(d)};
  }
}

std::uint64_t hostile_frames::word(dice& d) {
  static constexpr std::array<std::uint64_t, 8> edges{
      0, 1, 0xffff, 0x10000, proto::max_message, proto::size_mask, ~std::uint64_t{0}, 1u << 20};
  const std::uint64_t roll = d.below(10);
  if (roll < 4 && !words_.empty()) return any_of(words_, d);
  if (roll < 6) return d.one_of(edges);
  if (roll < 8) return std::uint64_t{d.below(64)} << 48 | d.below(100'000);
  return d.below(64);
}

std::uint32_t hostile_frames::some_size(dice& d) const noexcept {
  static constexpr std::array<std::uint32_t, 6> sizes{0, 1, 64, 100, 4096, ~0u};
  return std::min(d.percent(50) ? static_cast<std::uint32_t>(d.below(200)) : d.one_of(sizes),
                  max_payload_);
}

/// Mostly of a message; else of a call, a reply, or a collective.
std::uint64_t hostile_frames::any_tag(dice& d) {
  if (d.percent(70)) return d.one_of(tags);
  if (!groups.empty() && d.percent(40))
    return proto::message_tag(d.one_of(groups), d.percent(80) ? d.below(8) : d.throw_one());
  return call_tag_of(d);
}

std::uint64_t hostile_frames::call_tag_of(dice& d) {
  using proto::call_kind;
  proto::call_tag t{call_kind::request, 0, 0};
  if (d.percent(40)) {
    t.kind = call_kind::reply;
    t.number = static_cast<std::uint32_t>(d.percent(90) ? d.below(3) : d.throw_one());
    t.id = calls_of_theirs_.empty() || d.percent(20) ? static_cast<std::uint16_t>(d.below(20))
                                                     : take(calls_of_theirs_, d);
    return t.packed();
  }
  if (d.percent(30)) t.kind = call_kind::post;
  t.number = handlers.empty() || d.percent(20) ? static_cast<std::uint32_t>(d.below(40))
                                               : d.one_of(handlers);
  if (t.kind == call_kind::request || d.percent(5)) {
    t.id = new_id(d);
    keep(calls_, t.id);
  }
  return d.percent(97) ? t.packed() : t.packed() ^ std::uint64_t{1} << d.below(56);
}

std::uint16_t hostile_frames::new_id(dice& d) noexcept {
  if (d.percent(5) && last_id_ != 0) return last_id_;  // again
  return ++last_id_ == 0 ? ++last_id_ : last_id_;
}

}  // namespace weft::tests
