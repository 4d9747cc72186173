// SPDX-License-Identifier: Apache-2.0
// A communicator and its flags: what members tell each other of them, and members that end, or call
// something else, while others wait for their flags.
#include <memory>
#include <string>
#include <utility>

#include "collectives/communicator.hpp"

namespace weft::collectives {

using proto::statement_use;

std::unique_ptr<group_segment> communicator::make_segment(
    const std::optional<runtime::flag_layout>& flags) {
  if (flags) return std::make_unique<group_segment>(*this, *flags);
  if (!shape_.flags) return nullptr;
  auto made = std::make_unique<group_flags>(*this);
  flags_ = made.get();
  return made;
}

void communicator::pass(peer_id rank, unique_fd file) noexcept {
  try {
    messenger_.groups().pass(know(rank), number_, std::move(file));
  } catch (const std::bad_alloc&) {
    on_not_passed(member(rank));
  }
}

void communicator::say_no_segment(peer_id rank) noexcept {
  try {
    say(know(rank), statement_use::no_segment, {rank_, 0, {}});
  } catch (const std::bad_alloc&) {
    // That member waits until this one, or its own call, ends.
  }
}

void communicator::on_descriptor(peer_id from, const unique_fd& file) noexcept {
  if (const auto rank = rank_of(from); segment_ && rank) segment_->on_descriptor(*rank, file);
}

void communicator::on_not_passed(peer_id) noexcept {
  if (segment_) segment_->on_not_passed();
}

/// A member that has died may be one whose flags others wait for: they need not have met it. One
/// that has left has arrived in all calls that it was to make, unless a wait lacks its flag; of
/// shared_flags that is not known.
void communicator::on_member_ended(peer_id who, errc why) noexcept {
  const auto rank = rank_of(who);
  if (!segment_ || !rank || !segment_->has(*rank) || revoked_ || !segment_->is_wanted()) return;
  if (why == errc::closed && !segment_->lacks(*rank)) return;
  messenger_.groups().revoke(number_,
                             {why == errc::closed ? errc::closed : errc::peer_lost, *rank});
}

void communicator::on_closed() noexcept {
  if (segment_) segment_->fail(errc::closed);
}

void communicator::end_waits(const proto::revocation& what) noexcept {
  if (!segment_) return;
  std::shared_ptr<const std::string> text;
  try {
    text = std::make_shared<const std::string>(explain(what));
  } catch (const std::bad_alloc&) {
    // The sentence of the error has to do.
  }
  segment_->fail(what.why, std::move(text));
}

/// Then the end of that member is noticed. \return null: it has ended, or there is no memory
proto::peer* communicator::meet(peer_id rank) noexcept {
  try {
    proto::peer& late = know(rank);
    if (!late.has_ended()) {
      late.connection().want_link();
      return &late;
    }
    on_member_ended(late.id(), late.why());
  } catch (const std::bad_alloc&) {
    // The next look may have memory.
  }
  return nullptr;
}

/// Asks the member whose flag a wait lacks, if it lacked it at the last look already; so a member
/// that this one had not met is met, and its end noticed. \return whether there is a wait
bool communicator::watch_flags() noexcept {
  if (!segment_ || revoked_) return false;
  if (const auto absent = segment_->awaits_member()) {
    meet(*absent);
    return true;
  }
  const auto lacks = segment_->missing();
  const bool for_long = lacks && lacks == missed_;
  missed_ = lacks;
  if (!for_long) return segment_->has_waits();
  proto::peer* const late = meet(lacks->rank);
  if (const auto own = calls_.find(lacks->call); own && late)
    say(*late, statement_use::asks, {rank_, lacks->call, *own});
  return true;
}

void communicator::disagree(peer_id rank, const proto::group_statement& theirs) {
  const runtime::engine::holder hold(engine());
  statement s = statement::unpack(theirs);
  s.rank = rank;
  if (!revoked_) revoke_for(s, calls_.find(s.sequence));
  throw error(errc::invalid_argument, explain_calls());
}

}  // namespace weft::collectives
