// SPDX-License-Identifier: Apache-2.0
// The last calls of a member.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/call.hpp"

namespace weft::collectives {

/// What a member has called lately, and what has come for calls that it had not made by then. The
/// caller of a collective writes its call without a lock. The thread that takes a message which
/// fits no receive reads it, with the progress lock held.
class call_log {
 public:
  static constexpr std::size_t kept = 64;

  /// Members begin collectives in one order: so two threads do not begin at once, and no locked
  /// instruction is needed.
  /// \return the call's number
  std::uint64_t begin(const collective_call& c) noexcept {
    const std::uint64_t n = begun_.load(std::memory_order_relaxed);
    const proto::group_statement words = statement{0, 0, c}.packed({});
    slot& s = slots_[n % kept];
    // A reader of a new word then reads that the slot is not valid, or is the new one.
    s.number.store(none, std::memory_order_relaxed);
    s.first.store(words.first, std::memory_order_release);
    s.second.store(words.second, std::memory_order_release);
    s.number.store(n, std::memory_order_release);
    begun_.store(n + 1, std::memory_order_release);
    return n;
  }
  /// How many calls there were.
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_acquire); }

  /// Nothing: that call was not made yet, or too many were made since.
  std::optional<collective_call> find(std::uint64_t number) const noexcept {
    const slot& s = slots_[number % kept];
    const std::uint64_t n = s.number.load(std::memory_order_acquire);
    const std::uint64_t first = s.first.load(std::memory_order_acquire);
    const std::uint64_t second = s.second.load(std::memory_order_acquire);
    if (n != number || n == none || s.number.load(std::memory_order_relaxed) != n) return {};
    return statement::unpack({{}, first, second}).made;
  }
  /// The last call with the number modulo 1024 of a tag; if there was none, that of none.
  std::uint64_t last(std::uint64_t tag) const noexcept {
    const std::uint64_t before = begun() - 1;
    return before - ((before - proto::sequence_of(tag)) & proto::sequence_mask);
  }

  /// A message, or signal, with that tag has come for a call that is not made yet. Of calls that
  /// share a place the first one counts until its end; of different ones with its number, two: one
  /// of them is not this member's. Progress lock held.
  void hear(std::uint64_t tag, peer_id from) noexcept {
    if (!is_to_come(tag)) return;
    for (std::atomic<std::uint64_t>& place : early_[proto::sequence_of(tag) % kept]) {
      const std::uint64_t e = place.load(std::memory_order_relaxed);
      if ((e & heard) == 0 || is_long_ago(e)) {
        place.store(heard | std::uint64_t{from} << proto::bits_below_group |
                        proto::sequence_of(tag) << proto::call_bits | proto::call_of(tag),
                    std::memory_order_relaxed);
        return;
      }
      if (!is_of_call(e, tag) || (e & proto::call_mask) == proto::call_of(tag)) return;
    }
  }
  /// At the end of a call. \param tag of its messages
  /// \return a peer whose message came before, of another call by its tag; no_peer: none
  peer_id take_heard(std::uint64_t tag) noexcept {
    auto& places = early_[proto::sequence_of(tag) % kept];
    if (!is_of_call(places[0].load(std::memory_order_relaxed), tag)) return no_peer;
    peer_id other = no_peer;
    for (std::atomic<std::uint64_t>& place : places) {
      const std::uint64_t e = place.load(std::memory_order_relaxed);
      if (!is_of_call(e, tag)) break;
      place.store(0, std::memory_order_relaxed);
      if ((e & proto::call_mask) != proto::call_of(tag))
        other = static_cast<peer_id>(e >> proto::bits_below_group);
    }
    return other;
  }

 private:
  static constexpr std::uint64_t heard = std::uint64_t{1} << 63;
  static bool is_of_call(std::uint64_t e, std::uint64_t tag) noexcept {
    return (e & heard) != 0 && proto::sequence_of(e) == proto::sequence_of(tag);
  }
  bool is_to_come(std::uint64_t tag) const noexcept {
    return ((proto::sequence_of(tag) - begun()) & proto::sequence_mask) <= proto::sequence_mask / 2;
  }
  /// Its call is neither to come nor under way.
  bool is_long_ago(std::uint64_t e) const noexcept {
    return ((proto::sequence_of(e) - begun() + kept) & proto::sequence_mask) >
           proto::sequence_mask / 2;
  }

  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct slot {
    std::atomic<std::uint64_t> number{none}, first{0}, second{0};
  };

  std::atomic<std::uint64_t> begun_{0};
  std::array<slot, kept> slots_{};
  std::array<std::array<std::atomic<std::uint64_t>, 2>, kept> early_{};
};

}  // namespace weft::collectives
