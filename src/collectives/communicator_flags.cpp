// SPDX-License-Identifier: Apache-2.0
// A communicator and its flags: what members tell each other of them, and members that end, or call
// something else, while others wait for their flags.
#include "collectives/communicator.hpp"

namespace weft::collectives {

using proto::statement_use;

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
  if (const auto rank = rank_of(from); flags_ && rank) flags_->on_descriptor(*rank, file);
}

void communicator::on_not_passed(peer_id to) noexcept {
  if (const auto rank = rank_of(to); flags_ && rank) flags_->on_not_passed(*rank);
}

/// A member that has died may be one whose flags others wait for: they need not have met it. One
/// that has left has arrived in all calls that it was to make, unless a wait lacks its flag.
void communicator::on_member_ended(peer_id who, errc why) noexcept {
  const auto rank = rank_of(who);
  if (!flags_ || !rank || !flags_->has(*rank) || revoked_ || !flags_->is_made()) return;
  if (why == errc::closed && !flags_->lacks(*rank)) return;
  messenger_.groups().revoke(number_,
                             {why == errc::closed ? errc::closed : errc::peer_lost, *rank});
}

void communicator::on_closed() noexcept {
  if (flags_) flags_->fail(errc::closed);
}

/// Asks the member whose flag a wait lacks, if it lacked it at the last look already; so a member
/// that this one had not met is met, and its end noticed. \return whether there is a wait
bool communicator::watch_flags() noexcept {
  const auto lacks = flags_ ? flags_->missing() : std::nullopt;
  const bool for_long = lacks && lacks == missed_;
  missed_ = lacks;
  if (!for_long || revoked_) return lacks.has_value();
  try {
    proto::peer& late = know(lacks->rank);
    if (late.has_ended())
      on_member_ended(late.id(), late.why());
    else if (const auto own = calls_.find(lacks->call))
      say(late, statement_use::asks, {rank_, lacks->call, *own});
  } catch (const std::bad_alloc&) {
    // The next look may have memory.
  }
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
