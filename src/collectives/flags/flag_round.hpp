// SPDX-License-Identifier: Apache-2.0
// One round of a collective by flags, and the steps that it consists of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/algorithm.hpp"
#include "collectives/flags/flag_rounds.hpp"

namespace weft::collectives {

class flag_call;
class flag_round;

/// Bytes of a buffer.
struct extent {
  std::size_t at = 0, size = 0;
};

/// The ranks whose arrival a member waits for.
struct rank_range {
  peer_id first = 0, count = 0;
};

/// A collective by flags: what a member does in each round. Functions of the round; they wait for
/// nothing.
struct flag_steps {
  /// Each member gives bytes for each rank: they share its slot.
  bool for_each_rank;
  /// Puts this member's bytes where `place` says. \return whether it arrives: false, if no member
  /// waits for it
  bool (*give)(const flag_round& r);
  rank_range (*awaits)(const flag_round& r);
  /// Once those have arrived.
  void (*take)(const flag_round& r);
  /// Once all members have done that, in a second half of the round; null: there is none.
  void (*finish)(const flag_round& r) = nullptr;
  /// Whether this member has something to do in that half.
  bool (*has_finish)(const flag_round& r) = nullptr;
};

/// One round of a call at one member.
class flag_round {
 public:
  /// \param bytes of one rank's part
  flag_round(flag_rounds& of, std::uint64_t bytes, const arguments& with,
             const flag_steps& steps) noexcept
      : with(with),
        rounds_(of),
        rank_(of.rank()),
        n_(of.members()),
        bytes_(bytes),
        blocks_(steps.for_each_rank ? n_ : 1),
        in_line_(!steps.finish && blocks_ * bytes_ <= flag_rounds::inline_bytes),
        slots_(blocks_ * bytes_ <= flag_rounds::short_slots.bytes ? flag_rounds::short_slots
                                                                  : flag_rounds::long_slots),
        chunk_(chunk_of()) {}

  peer_id rank() const noexcept { return rank_; }
  peer_id size() const noexcept { return n_; }
  bool is_root() const noexcept { return with.root == rank_; }

  /// How much of each rank's part crosses in this round, and where it is in that part.
  std::size_t bytes() const noexcept { return std::min(chunk_, bytes_ - at_); }
  /// That of this round, of rank `part` in a buffer that has a part of each.
  template <class Buffer>
  Buffer piece(Buffer of, peer_id part = 0) const noexcept {
    return of.subspan(part * bytes_ + at_, bytes());
  }
  /// Where the bytes of a rank are in shared memory. \param to for that rank, if for_each_rank
  mutable_buffer place(peer_id from, peer_id to = 0) const noexcept {
    std::byte* const at = in_line_ ? rounds_.line(number_, from).with + flag_words
                                   : rounds_.slot(number_, from, slots_);
    return {at + to * chunk_, bytes()};
  }
  /// As long as a slot, for the second half: each member writes its part of it.
  mutable_buffer common() const noexcept { return {rounds_.common_slot(number_, slots_), bytes()}; }

  const arguments& with;

  // --- for the frame -----------------------------------------------------------------------------

  std::uint64_t rounds() const noexcept {
    return bytes_ <= chunk_ ? 1 : (bytes_ + chunk_ - 1) / chunk_;
  }
  std::uint64_t depth() const noexcept { return in_line_ ? flag_rounds::window : slots_.count; }
  std::uint64_t number() const noexcept { return number_; }
  void begin(std::uint64_t number) noexcept { number_ = number; }
  void next() noexcept {
    ++number_;
    at_ += chunk_;
  }
  /// In a flag: the call (call.hpp), and 8 bytes so that elements are aligned.
  static constexpr std::size_t flag_words = 24;
  static_assert(flag_words + flag_rounds::inline_bytes == sizeof(runtime::flag::with));

 private:
  std::size_t chunk_of() const noexcept {
    const std::size_t element = std::max<std::size_t>(1, with.how.element);
    if (in_line_) return std::max<std::size_t>(1, bytes_);
    const std::size_t room = slots_.bytes / blocks_ / line * line;
    return room / element * element;
  }

  static constexpr std::size_t line = 64;  // of the cache

  flag_rounds& rounds_;
  const peer_id rank_, n_;
  const std::size_t bytes_;
  const std::size_t blocks_;  // in a slot
  const bool in_line_;        // bytes travel with the flag
  const flag_rounds::slots& slots_;
  const std::size_t chunk_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

// Whom a member awaits.
inline rank_range all_members(const flag_round& r) noexcept { return {0, r.size()}; }
inline rank_range all_if_root(const flag_round& r) noexcept {
  return r.is_root() ? all_members(r) : rank_range{};
}
inline rank_range root_if_not_root(const flag_round& r) noexcept {
  return r.is_root() ? rank_range{} : rank_range{r.with.root, 1};
}

/// The collective by those steps, from its beginning to its end; by messages while the group has no
/// flags, or if it can have none.
task<void> run_by_flags(detail::communicator_ptr of, collective_call made, arguments with,
                        const flag_steps& steps);

/// A part of a collective, among the members of a host. \param part, call live until the end
/// \return false: nothing has happened, because these members have no flags
task<bool> go_by_flags(const collective& part, flag_call& call);

/// `algorithm::body` of steps.
template <const flag_steps& steps>
task<void> by_flags(detail::communicator_ptr&& of, const collective_call& made, arguments&& with) {
  return run_by_flags(std::move(of), made, std::move(with), steps);
}

/// `algorithm::unfit` of all of them.
const char* unfit_for_flags(const collective_size& c, const group_shape& g);

}  // namespace weft::collectives
