// SPDX-License-Identifier: Apache-2.0
// For scenarios of calls by flags: members of a segment, threads of them that wait as those of an
// engine do, and calls that see whether they find the bytes of their round. Before all headers of
// weft.
#pragma once

#include "flag_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shared {

using namespace weft::collectives;
namespace runtime = weft::runtime;

/// The doorbells outlive a run, as the memory does.
inline runtime::doorbell& bell_of(std::uint32_t member) {
  static std::array<runtime::doorbell, most_members> bells{runtime::doorbell{false},
                                                           runtime::doorbell{false}};
  addresses[member] = bells[member].caller_wakeup().address();
  return bells[member];
}

/// The memory as the first member makes it. \return in place of its descriptor
inline const weft::unique_fd& fresh_memory() {
  static const weft::unique_fd none;
  std::memset(memory, 0, sizeof memory);
  rung = {};
  runtime::flag_segment::make(flag_rounds::layout_of(most_members));
  return none;
}

/// One member. Where a call waits, the thread that runs the engine sleeps, and others poll.
class member final : runtime::flag_wait_service {
 public:
  member(const weft::unique_fd& file, weft::peer_id rank)
      : bell_(bell_of(rank)),
        segment_(file, flag_rounds::layout_of(most_members), rank, &bell_),
        group_(*this, segment_) {}

  flag_rounds& rounds() noexcept { return group_.flags()->rounds(); }
  std::uint64_t published() const noexcept { return segment_.at(segment_.self()).value.load(); }

  /// To the end of the call, by the thread that runs the engine.
  void sleeping(flag_call& call) {
    while (const auto wait = next_wait(collective(group_), call)) sleep(*wait);
  }
  /// By another thread.
  void polling(flag_call& call) {
    while (const auto wait = next_wait(collective(group_), call))
      while (!wait->try_now()) interleave::wait_until([&] { return wait->try_now(); });
  }

 private:
  bool start(weft::flag_operation& op) noexcept override { return !waits_.add(op); }
  void cancel(weft::flag_operation& op) noexcept override { waits_.cancel(op); }

  void sleep(const weft::flag_request& r) {
    weft::flag_operation op(r, [](weft::operation&) noexcept {});
    if (op.start()) return;
    bool& rings = rung[segment_.self()];
    ended_.add_pending(op);
    while (waits_.poll() == 0) {
      waits_.announce(true);
      bell_.arm_asleep();
      if (!waits_.any_has_come()) interleave::wait_until([&] { return rings; });
      rings = false;
      bell_.disarm_asleep();
      waits_.withdraw();
    }
    waits_.forget(segment_);
    ended_.take_home();
  }

  runtime::doorbell& bell_;
  runtime::flag_segment segment_;
  runtime::completion_queue ended_;
  runtime::flag_waits waits_{ended_};
  communicator group_;
};

// --- calls ---------------------------------------------------------------------------------------

/// What a rank gives in a round: a word at the beginning of its place.
inline std::uint64_t word_of(const flag_round& r, weft::peer_id rank) {
  return (r.number() + 1) << 8 | rank;
}
inline void put(std::byte* at, std::uint64_t word) { interleave::store(at, &word, sizeof word); }
inline void check(const std::byte* at, std::uint64_t word, const char* what) {
  std::uint64_t found;
  interleave::load(at, &found, sizeof found);
  interleave::expect(found == word, what);
}
inline void check_given(const flag_round& r, weft::peer_id from) {
  check(r.place(from).data(), word_of(r, from), "a slot has not the bytes of its round");
}
inline std::byte* part(const flag_round& r, weft::peer_id of) {
  return r.common().data() + of * sizeof(std::uint64_t);
}

/// A call of one member.
struct made {
  /// \param number of the call \param bytes of each rank
  made(member& of, std::uint64_t number, std::uint64_t bytes, weft::peer_id root,
       const flag_steps& steps)
      : with{.root = root}, call(of.rounds(), {number, bytes}, bytes, with, steps) {}

  const arguments with;
  flag_call call;
};

/// From the root to the others: the root waits for none of them.
constexpr flag_steps from_root{false,
                               [](const flag_round& r) {
                                 if (r.is_root())
                                   put(r.place(r.rank()).data(), word_of(r, r.rank()));
                                 return r.is_root();
                               },
                               root_if_not_root,
                               [](const flag_round& r) {
                                 if (!r.is_root()) check_given(r, r.with.root);
                               }};

/// From all to all.
constexpr flag_steps all_to_all{false,
                                [](const flag_round& r) {
                                  put(r.place(r.rank()).data(), word_of(r, r.rank()));
                                  return true;
                                },
                                all_members,
                                [](const flag_round& r) {
                                  for (weft::peer_id m = 0; m != r.size(); ++m) check_given(r, m);
                                }};

/// The same, and then each member writes its part of the common slot.
constexpr flag_steps in_halves{false,
                               all_to_all.give,
                               all_members,
                               [](const flag_round& r) {
                                 all_to_all.take(r);
                                 put(part(r, r.rank()), word_of(r, r.rank()));
                               },
                               [](const flag_round& r) {
                                 for (weft::peer_id m = 0; m != r.size(); ++m)
                                   check(part(r, m), word_of(r, m),
                                         "the common slot has not the bytes of its round");
                               },
                               [](const flag_round&) { return true; }};

}  // namespace shared
