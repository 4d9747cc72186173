// SPDX-License-Identifier: Apache-2.0
// The way of a call through its rounds.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "collectives/flags/flag_round.hpp"

namespace weft::collectives {

/// A call by flags at one member, as a list of things to wait for. How to wait is the caller's: a
/// coroutine of a group suspends itself, an MPI process polls.
///
///     while (const auto lacking = call.next(check)) wait(*lacking);
///
/// One thread at a time.
class flag_call {
 public:
  /// What a member has called, as it writes it with its flag: equal at all members.
  struct words {
    std::uint64_t first, second;
    friend bool operator==(const words&, const words&) = default;
  };

  /// The call begins: calls of a member do so in one order.
  /// \param bytes of one rank's part \param with, steps live as long as the call
  flag_call(flag_rounds& rounds, const words& own, std::uint64_t bytes, const arguments& with,
            const flag_steps& steps) noexcept
      : rounds_(rounds), own_(own), steps_(steps), round_(rounds, bytes, with, steps) {
    left_ = round_.rounds();
    round_.begin(rounds.begin(left_));
  }

  /// Goes on as far as it can. Before the next call of it, what it returned has come.
  /// \param disagree called with the rank of a member that has called something else, and with its
  ///                 words; must throw
  /// \return what this member waits for; nothing: the call is over
  /// \throws what an operation of a reduction throws
  template <class Disagree>
  std::optional<flag_rounds::awaited> next(Disagree disagree) {
    for (;;) switch (part_) {
        case part::begin:
          part_ = part::give;
          if (!rounds_.has_room(number(), round_.depth()))
            return rounds_.room(number(), round_.depth());
          [[fallthrough]];
        case part::give:
          if (steps_.give(round_)) arrive();
          part_ = part::take;
          from_ = steps_.awaits(round_);
          if (from_.count != 0) return rounds_.arrived(number(), from_.first, from_.count);
          [[fallthrough]];
        case part::take:
          compare(disagree);
          steps_.take(round_);
          part_ = part::finish;
          if (!steps_.finish) break;
          rounds_.arrive(number(), true);
          if (steps_.has_finish(round_)) return rounds_.arrived(number(), 0, round_.size(), true);
          break;
        case part::finish:
          if (steps_.finish && steps_.has_finish(round_)) steps_.finish(round_);
          rounds_.leave(number());
          if (--left_ == 0) return std::nullopt;
          round_.next();
          part_ = part::begin;
      }
  }

  /// The present round.
  std::uint64_t number() const noexcept { return round_.number(); }
  /// Before the first one: whether members may wait for what this one does after one of its waits.
  bool moves_others() const noexcept {
    return left_ != 1 || steps_.finish || !rounds_.has_known_room(number(), round_.depth());
  }
  /// Whether the present wait is the last one.
  bool is_last_wait() const noexcept { return left_ == 1 && !steps_.finish && part_ == part::take; }

 private:
  enum class part : std::uint8_t { begin, give, take, finish };

  void arrive() noexcept {
    std::memcpy(rounds_.line(number(), rounds_.rank()).with, &own_, sizeof own_);
    rounds_.arrive(number());
  }
  template <class Disagree>
  void compare(Disagree& disagree) {
    for (peer_id m = from_.first; m != from_.first + from_.count; ++m) {
      words theirs;
      std::memcpy(&theirs, rounds_.line(number(), m).with, sizeof theirs);
      if (!(theirs == own_)) [[unlikely]]
        disagree(m, theirs);
    }
  }

  flag_rounds& rounds_;
  const words own_;
  const flag_steps& steps_;
  flag_round round_;
  std::uint64_t left_;  // rounds
  part part_ = part::begin;
  rank_range from_{};
};

/// What a member has called is written as in this kind of statement.
inline constexpr auto flag_words_use = proto::statement_use::asks;

inline flag_call::words words_of(const statement& s) noexcept {
  const auto packed = s.packed(flag_words_use);
  return {packed.first, packed.second};
}

}  // namespace weft::collectives
