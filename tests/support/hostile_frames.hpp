// SPDX-License-Identifier: Apache-2.0
// The frames of a hostile peer: those of a seeded state machine, most of them valid, some nearly
// so.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "proto/frames/frames.hpp"
#include "support/dice.hpp"

namespace weft::tests {

/// A frame to be sent. Its payload is any header.size bytes.
struct hostile_frame {
  proto::frame_header header;
  proto::frame_extension extension{};

  const proto::frame_extension* extra() const noexcept {
    return transports::extension_of(header, extension);
  }
};

/// How a hostile peer behaves for a while: so many of a thousand frames are ...
struct temper {
  unsigned bent = 0;      ///< valid but for one field
  unsigned made_up = 0;   ///< of no protocol at all
  unsigned replayed = 0;  ///< sent before, or heard from the other side
  unsigned drums = 0;     ///< the first of a few moves that are repeated many times
};

/// The temper of a peer that mostly keeps the rules, so that it gets far.
temper throw_temper(dice& d);

/// What a hostile peer knows of its connection to one victim, and its next frames. It keeps the
/// accounts of a correct peer, so that it can exceed its limits by one. Its memory is bounded.
class hostile_frames {
 public:
  struct region {
    std::uint64_t key;
    std::uint64_t first;  ///< the number of its first byte
    std::uint64_t size;
  };

  /// \param max_payload of a frame
  explicit hostile_frames(std::uint32_t max_payload) noexcept : max_payload_(max_payload) {}

  std::vector<std::uint64_t> tags{0};    ///< tags for which the victim may have a receive
  std::vector<region> regions;           ///< the victim's regions
  std::vector<std::uint32_t> handlers;   ///< numbers that the victim's handlers may have
  std::vector<std::uint64_t> groups;     ///< numbers of groups of the victim, or of none
  std::vector<std::uint64_t> addresses;  ///< of memory that it shows to the victim, packed
  std::vector<std::uint64_t> received;   ///< with several links: how many frames came by each

  /// The victim has granted that much credit.
  void granted(std::uint32_t units) noexcept { credit_ += units; }
  /// The victim has sent that frame.
  void heard(const proto::frame_header& h, const proto::frame_extension* x);
  /// The next frame, which counts as sent.
  hostile_frame next(dice& d, const temper& t);
  /// The places where the victim says that its memory may be read or written, packed; the newest
  /// last.
  const std::deque<std::uint64_t>& shown() const noexcept { return shown_; }

 private:
  using maybe = std::optional<hostile_frame>;
  using move = maybe (hostile_frames::*)(dice&);
  struct message {  // of this side
    std::uint16_t id;
    std::uint64_t total;
    std::uint64_t sent;
    bool rendezvous;
    std::uint16_t theirs = 0;  // set when the victim has asked for it
  };
  struct question {  // of the victim: a message, or an access
    proto::frame_kind kind;
    std::uint16_t id;
    std::uint64_t size;
    bool asks = false;
    std::uint64_t done = 0;
  };
  struct pair {
    std::uint64_t a, b;
  };
  struct drum {
    std::vector<move> moves;
    std::uint64_t seed = 0;
    std::size_t at = 0;
    std::size_t left = 0;
  };

  static std::span<const move> all_moves() noexcept;
  hostile_frame plausible(dice& d);
  maybe beat();
  hostile_frame anything(dice& d);
  hostile_frame replay(dice& d);
  void bend(hostile_frame& f, dice& d);
  std::uint64_t word(dice& d);
  std::uint32_t some_size(dice& d) const noexcept;
  std::uint16_t new_id(dice& d) noexcept;
  std::uint64_t any_tag(dice& d);
  std::uint64_t call_tag_of(dice& d);
  void heard_access(proto::frame_kind kind, const proto::frame_header& h,
                    const proto::frame_extension& x);

  // Moves: frames that a correct peer might send now; nothing: it could not.
  maybe eager(dice& d);
  maybe begin_eager(dice& d);
  maybe begin_rendezvous(dice& d);
  maybe more(dice& d);
  maybe cancel(dice& d);
  maybe data(dice& d);
  maybe last_data(dice& d);
  maybe fin(dice& d);
  maybe answer_message(dice& d);
  maybe answer_cancel(dice& d);
  maybe enough(dice& d);
  maybe credit(dice& d);
  maybe signal(dice& d);
  maybe barrier(dice& d);
  maybe revoke(dice& d);
  maybe call(dice& d);
  maybe reply(dice& d);
  maybe stop_call(dice& d);
  maybe bye(dice& d);
  maybe arrived(dice& d);
  maybe put(dice& d);
  maybe continue_put(dice& d);
  maybe get(dice& d);
  maybe update(dice& d);
  maybe answer_access(dice& d);
  maybe released(dice& d);

  const std::uint32_t max_payload_;
  std::int64_t credit_ = 0;
  std::uint32_t owed_ = 0;
  std::uint16_t last_id_ = 0;
  std::optional<message> current_;         // continued by `more`
  std::optional<hostile_frame> long_put_;  // its last frame; size_left_ bytes are to come
  std::uint64_t put_left_ = 0;
  std::deque<message> messages_;
  std::deque<question> messages_of_theirs_;
  std::deque<question> accesses_of_theirs_;
  std::deque<pair> asked_;  // requested by cts: the sender's id, its own id
  std::deque<pair> given_;  // granted to its own accesses: id, address
  std::deque<std::uint64_t> cancels_;
  std::deque<std::uint16_t> calls_;            // numbers of this side's
  std::deque<std::uint16_t> calls_of_theirs_;  // that wait for a reply
  std::deque<std::uint64_t> words_;
  std::deque<std::uint64_t> shown_;
  std::deque<hostile_frame> past_;  // sent and received frames
  std::uint64_t put_heard_ = 0;     // bytes of the victim's put that is under way
  bool heard_bye_ = false;
  drum drum_;
};

}  // namespace weft::tests
