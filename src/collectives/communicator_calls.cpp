// SPDX-License-Identifier: Apache-2.0
// Members that make different calls.
//
//   MEMBER, in call 5: barrier               PEER, in call 5: broadcast
//   a message of another call 5
//   came, or none came for long:
//   statement (barrier) -------------------> compares it with its own call 5: revokes the group,
//                                            and tells its neighbours
//                     <--------------------- statements of both, revocation
#include <fmt/format.h>

#include "collectives/communicator.hpp"
#include "proto/groups/group_watch.hpp"

namespace weft::collectives {

using proto::statement_use;

void communicator::watch() noexcept {
  if (size() == 1 || watched_.exchange(true)) return;
  try {
    proto::group_watch::begin(messenger_.services(), messenger_.groups(), number_);
  } catch (const std::bad_alloc&) {
    watched_ = false;
  }
}

/// Tells every peer for which receives wait since then what this member has called. Messages of
/// other calls may have come before this member made its own.
bool communicator::on_watch(std::uint64_t posted, bool last) noexcept {
  bool waiting = watch_flags(), for_long = false;
  messenger_.table().for_each_posted([&](const detail::match_operation& m) {
    if (!m.tag.exact() || !proto::is_of_group(m.tag.value, number_)) return;
    waiting = true;
    if (m.posted_at > posted || !m.from || m.from->id() != m.from_id) return;
    for_long = true;
    const std::uint64_t number = calls_.last(m.tag.value);
    if (const std::optional<collective_call> own = calls_.find(number))
      say(*m.from, statement_use::asks, {rank_, number, *own});
  });
  if (for_long)
    messenger_.peers().for_each([this](proto::peer& p) {
      for (const proto::inbound_message* m = p.unexpected.own.first; m; m = m->of_peer_after)
        if (proto::is_of_group(m->tag, number_) && compare(p, m->tag)) break;
    });
  // A member says that it waits before it posts the receive: only the second look in a row that
  // finds none is the last.
  const bool ends = last || (!waiting && idle_);
  idle_ = !waiting && !ends;
  if (ends) watched_ = false;
  return !ends;
}

void communicator::on_unexpected(proto::peer& from, std::uint64_t tag) noexcept {
  compare(from, tag);
  calls_.hear(tag, from.id());
}

/// A message of another call than this member's, as far as its tag tells: the peer knows. It may be
/// 1024 calls ahead. \return whether it is
bool communicator::compare(proto::peer& from, std::uint64_t tag) noexcept {
  const std::optional<collective_call> own = calls_.find(calls_.last(tag));
  if (!own || fingerprint(*own) == proto::call_of(tag)) return false;
  contradict(from, tag);
  return true;
}

void communicator::contradict(proto::peer& who, std::uint64_t tag) noexcept {
  const std::uint64_t number = calls_.last(tag);
  const std::optional<collective_call> own = calls_.find(number);
  if (own && has_member(who.id())) say(who, statement_use::contradicts, {rank_, number, *own});
}

void communicator::contradict(peer_id who, std::uint64_t tag) noexcept {
  const runtime::engine::holder hold(engine());
  messenger_.peers().for_each([&](proto::peer& p) {
    if (p.id() == who) contradict(p, tag);
  });
}

/// A peer may send anything.
void communicator::on_statement(peer_id from, const proto::group_statement& what) noexcept {
  statement theirs = statement::unpack(what);
  if (what.use == statement_use::lost) {
    try {
      if (theirs.rank < size()) lose(member(theirs.rank));
    } catch (const std::bad_alloc&) {
      // It will be found to be lost.
    }
    return;
  }
  if (what.use == statement_use::no_segment) {
    if (const auto rank = rank_of(from); segment_ && rank) segment_->on_no_segment(*rank);
    return;
  }
  if (revoked_) return;
  if (what.use == statement_use::tells) {
    if (theirs.rank < size()) note(theirs);
    return;
  }
  theirs.rank = rank_of(from).value_or(no_peer);
  const std::uint64_t behind = calls_.begun() - theirs.sequence;  // huge: the call is to come
  const std::optional<collective_call> own = calls_.find(theirs.sequence);
  if (own ? *own != theirs.made
          : what.use == statement_use::contradicts && behind - 1 < proto::sequence_mask)
    revoke_for(theirs, own);
}

/// Two different calls with one number.
void communicator::note(const statement& s) noexcept {
  statement& first = disagreement_[0];
  if (first.rank == no_peer || ((first.sequence ^ s.sequence) & proto::sequence_mask) != 0)
    disagreement_ = {s, {}};
  else if (first.made != s.made)
    disagreement_[1] = s;
}

void communicator::revoke_for(const statement& theirs,
                              const std::optional<collective_call>& own) noexcept {
  disagreement_ = {theirs, {}};
  if (own) disagreement_[1] = {rank_, theirs.sequence, *own};
  messenger_.groups().revoke(number_, {errc::invalid_argument, theirs.rank});
}

/// Progress lock held.
void communicator::say(proto::peer& to, statement_use use, const statement& what) noexcept {
  if (to.has_ended() || to.connection().closing()) return;
  const proto::group_statement words = what.packed(use);
  to.writer().send_control(proto::frame_kind::signal, proto::statement_tag(number_, use),
                           words.first, words.second);
}

void communicator::disagree(peer_id from, std::uint64_t tag, std::size_t came,
                            std::size_t expected) {
  const runtime::engine::holder hold(engine());
  const std::uint64_t number = calls_.last(tag);
  const std::optional<collective_call> made = calls_.find(number);
  if (!made || revoked_) throw error(errc::invalid_argument, explain_calls());
  const peer_id rank = rank_of(from).value_or(no_peer);
  if (made->bytes != of_parts) {
    // The fingerprints of two sizes are equal by chance. The other side revokes the group, too.
    if (proto::peer* const who = rank != no_peer ? known(rank) : nullptr)
      say(*who, statement_use::contradicts, {rank_, number, *made});
    disagreement_ = {statement{rank_, number, *made}, {}};
    throw error(errc::invalid_argument,
                fmt::format("{}: rank {} sent {} bytes where this rank expects {}", explain_calls(),
                            rank, came, expected));
  }
  disagreement_ = {statement{rank, number, *made}, statement{rank_, number, *made}};
  disagreement_[0].made.bytes = came;
  disagreement_[1].made.bytes = expected;
  throw error(errc::invalid_argument, explain_calls());
}

/// For all members alike, but for the words "this rank".
std::string communicator::explain_calls() const {
  const auto name = [this](peer_id rank) {
    return rank == rank_ ? std::string("this rank") : fmt::format("rank {}", rank);
  };
  const statement &one = disagreement_[0], &other = disagreement_[1];
  std::string text;
  collective_call as_one = other.made;
  as_one.how = one.made.how;
  if (one.rank != no_peer && other.rank != no_peer && as_one == one.made)
    return fmt::format(
        "{} called {} by the algorithm {}, {} by {}: WEFT_COLLECTIVES has to be the same in all "
        "processes of a group. No collective of this group works any more",
        name(one.rank), describe(one.made), algorithm_of(one.made), name(other.rank),
        algorithm_of(other.made));
  if (one.rank == no_peer)
    text = "members of the group made different calls";
  else if (other.rank == no_peer)
    text = fmt::format("{} called {}, and another member something else", name(one.rank),
                       describe(one.made));
  else
    text = fmt::format("{} called {}, {} {}", name(one.rank), describe(one.made), name(other.rank),
                       describe(other.made));
  return text +
         ": members call the collectives of a group in one order, with the same sizes, roots and "
         "operations. No collective of this group works any more";
}

}  // namespace weft::collectives
