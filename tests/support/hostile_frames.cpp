// SPDX-License-Identifier: Apache-2.0
#include "support/hostile_frames.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proto/call_wire.hpp"
#include "proto/group_table.hpp"

namespace weft::tests {

using proto::frame_extension;
using proto::frame_header;
using proto::frame_kind;
using transports::has_extension;
using transports::has_immediate;

namespace {

constexpr std::size_t most_kept = 256;
constexpr auto last_kind = static_cast<std::uint8_t>(frame_kind::early_end);

template <class Thing>
void keep(std::deque<Thing>& where, const Thing& what) {
  if (where.size() == most_kept) where.pop_front();
  where.push_back(what);
}

template <class Thing>
Thing& any_of(std::deque<Thing>& where, dice& d) {
  const std::size_t newest = d.percent(70) ? 4 : most_kept;
  return where[where.size() - 1 - d.below(std::min(where.size(), newest))];
}

/// Takes most requests out, so that they are answered once.
template <class Thing>
Thing take(std::deque<Thing>& where, dice& d) {
  const std::size_t n = where.size() - 1 - d.below(std::min<std::size_t>(where.size(), 4));
  const Thing taken = where[n];
  if (d.percent(95)) where.erase(where.begin() + static_cast<std::ptrdiff_t>(n));
  return taken;
}

hostile_frame plain(frame_kind kind, std::uint64_t a, std::uint64_t b = 0,
                    std::uint64_t third = 0) {
  const std::uint8_t flags = third == 0 ? has_extension : has_extension | has_immediate;
  return {proto::header_of(kind, 0, 0, flags), {a, b, third}};
}

bool is_access(std::uint8_t kind) noexcept {
  return kind >= static_cast<std::uint8_t>(frame_kind::put) &&
         kind <= static_cast<std::uint8_t>(frame_kind::update);
}

}  // namespace

temper throw_temper(dice& d) {
  static constexpr std::array<unsigned, 5> rarely{0, 0, 2, 20, 200};
  return {d.one_of(rarely), d.percent(20) ? d.one_of(rarely) : 0,
          d.percent(30) ? d.one_of(rarely) : 0, d.percent(50) ? 50u : 0u};
}

std::span<const hostile_frames::move> hostile_frames::all_moves() noexcept {
  using me = hostile_frames;
  static constexpr std::array<move, 39> all{&me::eager,
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
                                            &me::begin_rendezvous,
                                            &me::begin_unasked,
                                            &me::unasked_data,
                                            &me::unasked_data,
                                            &me::announce_early};
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
  f.header.kind = static_cast<std::uint8_t>(d.below(last_kind + 2u));
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

// --- what it hears ------------------------------------------------------------------------------

void hostile_frames::heard(const frame_header& h, const frame_extension* x) {
  credit_ += h.credit;
  const auto kind = static_cast<frame_kind>(h.kind);
  keep(past_, {h, x ? *x : frame_extension{}});
  if (kind == frame_kind::eager || kind == frame_kind::rts) owed_ += proto::units_of(h.size);
  if (kind == frame_kind::more) owed_ += proto::payload_units(h.size);
  if (kind == frame_kind::bye) heard_bye_ = true;
  if (kind == frame_kind::early) ++early_heard_;
  if ((kind == frame_kind::eager || kind == frame_kind::rts) && proto::is_call(h.tag))
    if (const proto::call_tag t = proto::unpack_call(h.tag); t.kind == proto::call_kind::request)
      keep(calls_of_theirs_, t.id);
  if (!x) return;
  keep(words_, x->a);
  keep(words_, x->b);
  const auto mine = [&] {
    return std::find_if(messages_.begin(), messages_.end(),
                        [&](const message& m) { return m.id == x->a; });
  };
  switch (kind) {
    case frame_kind::eager:
      if (x->b != 0) keep(messages_of_theirs_, {kind, static_cast<std::uint16_t>(x->b), x->a});
      break;
    case frame_kind::rts:
      keep(messages_of_theirs_,
           {kind, static_cast<std::uint16_t>(x->a >> 48), x->a & proto::size_mask});
      if (x->b != 0) keep(shown_, x->b);
      break;
    case frame_kind::cts:
      if (const auto m = mine(); m != messages_.end()) m->theirs = static_cast<std::uint16_t>(x->b);
      if (x->immediate != 0) keep(shown_, x->immediate);
      break;
    case frame_kind::fin_ack:
    case frame_kind::matched:
    case frame_kind::cancelled:
      if (const auto m = mine(); m != messages_.end()) messages_.erase(m);
      break;
    case frame_kind::cancel:
      keep(cancels_, x->a);
      break;
    default:
      heard_access(kind, h, *x);
  }
}

void hostile_frames::heard_access(frame_kind kind, const frame_header& h,
                                  const frame_extension& x) {
  const auto id = static_cast<std::uint16_t>(x.a >> 48);
  const bool asks = (h.flags & proto::access_asks) != 0;
  const bool ends = (h.flags & proto::access_ends) != 0;
  // The count that its sender has reached by its end.
  const std::uint64_t so_far = kind == frame_kind::put ? put_heard_ += h.size : 0;
  if (kind == frame_kind::put && (asks || ends)) {
    put_heard_ = 0;
    keep(accesses_of_theirs_, {kind, id, asks ? x.b : so_far, asks});
  } else if (kind == frame_kind::get)
    keep(accesses_of_theirs_, {kind, id, x.b, asks});
  else if (kind == frame_kind::update)
    keep(accesses_of_theirs_, {kind, id, 8, false});
  else if (kind == frame_kind::granted && x.b != 0) {
    keep(given_, {x.a, x.b});
    keep(shown_, x.b);
  }
}

// --- moves: messages ----------------------------------------------------------------------------

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

/// The payload follows without an answer: the victim may have announced a receive, or not.
hostile_frames::maybe hostile_frames::begin_unasked(dice& d) {
  if (early_heard_ == 0 && d.percent(95)) return {};
  maybe f = begin_rendezvous(d);
  if (!f) return f;
  message& m = messages_.back();
  if (d.percent(90)) {
    f->header.size = 0;
    f->header.flags |= proto::eager_ends;
    current_.reset();
    m.sent = 0;
  }
  m.unasked = true;
  f->header.flags |= proto::payload_follows;
  f->extension.b = d.percent(90) ? d.between(1, early_heard_ + 1) : word(d);
  return f;
}

hostile_frames::maybe hostile_frames::unasked_data(dice& d) {
  if (messages_.empty()) return {};
  message& m = any_of(messages_, d);
  if ((!m.unasked && d.percent(95)) || m.sent == m.total) return {};
  const auto size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(d.percent(50) ? max_payload_ : some_size(d), m.total - m.sent));
  hostile_frame f = plain(frame_kind::data, proto::unasked_bit | m.id, m.sent);
  f.header.size = size;
  m.sent += size;
  return f;
}

/// It announces any bytes; so most such frames are refused by a victim that reads them.
hostile_frames::maybe hostile_frames::announce_early(dice& d) {
  if (d.percent(90)) return {};
  if (d.percent(50)) return plain(frame_kind::early_end, d.between(1, 40));
  hostile_frame f = plain(frame_kind::early, word(d));
  f.header.size = std::min<std::uint32_t>(
      static_cast<std::uint32_t>(d.between(1, 33) * sizeof(proto::early_receive)), max_payload_);
  return f;
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

/// As if the victim had told it to stop.
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

/// As a member that has failed says it.
hostile_frames::maybe hostile_frames::revoke(dice& d) {
  if (groups.empty()) return {};
  const std::uint64_t group = d.percent(70) ? d.one_of(groups) : d.throw_one();
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
