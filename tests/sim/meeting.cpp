// SPDX-License-Identifier: Apache-2.0
#include "sim/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include <weft/reduction.hpp>

namespace sim {

using weft::peer_id;
using weft::collectives::kind;

namespace {

/// x -> factor x + offset, in one word: composing such functions is associative, and not
/// commutative.
struct affine {
  std::uint32_t factor, offset;
};
struct compose {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    affine first{}, then{};
    std::memcpy(&first, &a, sizeof a);
    std::memcpy(&then, &b, sizeof b);
    const affine both{first.factor * then.factor, first.offset * then.factor + then.offset};
    std::uint64_t word = 0;
    std::memcpy(&word, &both, sizeof word);
    return word;
  }
};

bool is_reduction(kind k) { return k == kind::reduce || k == kind::all_reduce || k == kind::scan; }

}  // namespace

step mistaken(step s, dice d) {
  const bool has_root = s.what == kind::broadcast || s.what == kind::reduce ||
                        s.what == kind::gather || s.what == kind::scatter;
  switch (d.below(4)) {
    case 0:
      if (!has_root) break;
      ++s.chance;
      return s;
    case 1:
      if (!is_reduction(s.what)) break;
      s.composed = !s.composed;
      return s;
    case 2:
      if (s.what == kind::barrier) break;
      s.words += d.percent(50) ? 1 : 3'000;
      return s;
    default:
      break;
  }
  s.what = static_cast<kind>(
      (static_cast<std::size_t>(s.what) + d.between(1, weft::collectives::kinds - 1)) %
      weft::collectives::kinds);
  return s;
}

part_of_step::part_of_step(const step& s, peer_id rank, peer_id size)
    : step_(s), rank_(rank), size_(size) {
  const std::size_t all = s.words * size;
  const bool is_root = root() == rank;
  const auto fill = [this](std::vector<word>& v, std::size_t n) {
    v.resize(n);
    for (std::size_t i = 0; i != n; ++i) v[i] = value(rank_, i);
  };
  switch (s.what) {
    case kind::barrier:
      break;
    case kind::broadcast:
    case kind::all_reduce:
    case kind::scan:
      fill(in_, s.words);
      break;
    case kind::reduce:
      fill(out_, s.words);
      in_.resize(is_root ? s.words : 0);
      break;
    case kind::gather:
      fill(out_, s.words);
      in_.resize(is_root ? all : 0);
      break;
    case kind::scatter:
      fill(out_, is_root ? all : 0);
      in_.resize(s.words);
      break;
    case kind::all_gather:
      fill(out_, s.words);
      in_.resize(all);
      break;
    case kind::all_to_all:
      fill(out_, all);
      in_.resize(all);
      break;
  }
}

weft::task<void> part_of_step::perform(const weft::detail::communicator_ptr& of) {
  namespace d = weft::detail;
  const weft::const_buffer out = std::as_bytes(std::span(out_));
  const weft::mutable_buffer in = std::as_writable_bytes(std::span(in_));
  const auto how =
      step_.composed ? d::make_reduction<word>(compose{}) : d::make_reduction<word>(std::plus<>{});
  switch (step_.what) {
    case kind::broadcast:
      return d::broadcast(of, in, root());
    case kind::all_reduce:
      return d::all_reduce(of, in, how);
    case kind::scan:
      return d::scan(of, in, how);
    case kind::reduce:
      return d::reduce(of, out, in, how, root());
    case kind::gather:
      return d::gather(of, out, in, root());
    case kind::scatter:
      return d::scatter(of, out, in, root());
    case kind::all_gather:
      return d::all_gather(of, out, in);
    case kind::all_to_all:
      return d::all_to_all(of, out, in);
    default:
      return d::barrier(of);
  }
}

part_of_step::word part_of_step::value(peer_id from, std::size_t i) const {
  return dice(step_.salt).part(from).part(i).throw_one();
}

part_of_step::word part_of_step::reduced(peer_id last, std::size_t i) const {
  word sum = value(0, i);
  for (peer_id r = 1; r <= last; ++r)
    sum = step_.composed ? compose{}(sum, value(r, i)) : sum + value(r, i);
  return sum;
}

std::optional<part_of_step::word> part_of_step::expected(std::size_t i) const {
  const std::size_t n = step_.words;
  switch (step_.what) {
    case kind::broadcast:
      return value(root(), i);
    case kind::all_reduce:
    case kind::reduce:
      return reduced(size_ - 1, i);
    case kind::scan:
      return reduced(rank_, i);
    case kind::gather:
    case kind::all_gather:
      return value(static_cast<peer_id>(i / n), i % n);
    case kind::scatter:
      return value(root(), rank_ * n + i);
    case kind::all_to_all:
      return value(static_cast<peer_id>(i / n), rank_ * n + i % n);
    default:
      return {};
  }
}

std::string part_of_step::judge() const {
  for (std::size_t i = 0; i != in_.size(); ++i)
    if (const auto e = expected(i); in_[i] != e.value_or(in_[i]))
      return fmt::format("{} of {} words{}: rank {} of {} has the wrong word {}",
                         weft::collectives::name_of(step_.what), step_.words,
                         is_reduction(step_.what) && step_.composed ? ", in order" : "", rank_,
                         size_, i);
  return {};
}

std::string part_of_step::describe() const {
  return fmt::format("{} of {} words{}, root {}, by member {} of {}",
                     weft::collectives::name_of(step_.what), step_.words,
                     is_reduction(step_.what) && step_.composed ? ", in order" : "", root(), rank_,
                     size_);
}

bool part_of_step::may_only_send() const {
  switch (step_.what) {
    case kind::broadcast:
    case kind::scatter:
      return rank_ == root();
    case kind::gather:
    case kind::reduce:
      return rank_ != root();
    case kind::scan:
      return rank_ == 0;
    default:
      return false;
  }
}

bool part_of_step::may_go_unmissed() const {
  switch (step_.what) {
    case kind::broadcast:
    case kind::scatter:
      return rank_ != root();
    case kind::gather:
    case kind::reduce:
      return rank_ == root();
    case kind::scan:
      return rank_ + 1 == size_;
    default:
      return false;
  }
}

// --- the members --------------------------------------------------------------------------------

void meeting::failed(node n, std::uint64_t group, const weft::error& why) {
  failures_[group].push_back({n, why.kind(), why.what()});
}

std::pair<unsigned, unsigned> meeting::losses() const {
  unsigned ended = 0, pairs = 0;
  for (const node a : members) {
    if (!lives(a)) ++ended;
    for (const node b : members)
      if (a < b && job_.parted(a, b)) ++pairs;
  }
  return {ended, pairs};
}

void meeting::did_not_notice(std::uint64_t group, peer_id size, bool by_mistake) {
  unnoticed& u = unnoticed_[group];
  u.size = size;
  u.has_mistaken_one = u.has_mistaken_one || by_mistake;
  ++u.ended_well;
}

bool meeting::excuses(errc status) const {
  const auto [ended, pairs] = losses();
  if (status == errc::invalid_argument) return mistaken_one.has_value();
  if (status == errc::stopped || status == errc::timed_out || status == errc::refused)
    return stopping.has_value() || ended != 0;
  return ended + pairs != 0;
}

/// A member that has had all its rounds takes part no more; messages of other acts may use up all
/// credit.
bool meeting::may_wait() const {
  for (const node a : members) {
    if (!lives(a)) continue;
    if (left_.contains(a)) return true;
    for (const node b : members)
      if (a != b && lives(b) && (job_.parted(a, b) || job_.book().starved(a, b))) return true;
  }
  return false;
}

std::string meeting::judge() const {
  const auto [ended, pairs] = losses();
  const bool a_member_stops = stopping || job_.everybody_stops();
  // In a later step, as a rule.
  for (const auto& [group, u] : unnoticed_)
    if (u.has_mistaken_one && u.ended_well == u.size && !failures_.contains(group) && !at_once &&
        mistake + 1 != steps.size())
      return fmt::format("no member of group {} notices that one makes another call", group);
  if (mistaken_one && ended == 0 && pairs == 0 && !a_member_stops)
    for (const auto& [group, all] : failures_)
      for (const outcome& o : all)
        if (o.status != errc::invalid_argument || o.text.find(" called ") == std::string::npos)
          return fmt::format("rank {} has the error \"{}\" where members make different calls",
                             o.at, o.text);
  if (ended != 1 || pairs != 0 || a_member_stops || mistaken_one) return {};
  // One cause, so one error everywhere.
  for (const auto& [group, all] : failures_) {
    const outcome* first = nullptr;
    for (const outcome& o : all) {
      if (!lives(o.at)) continue;
      if (!first) first = &o;
      if (o.status != first->status || o.text != first->text)
        return fmt::format("rank {} has the error \"{}\", and rank {} \"{}\"", o.at, o.text,
                           first->at, first->text);
    }
  }
  return {};
}

}  // namespace sim
