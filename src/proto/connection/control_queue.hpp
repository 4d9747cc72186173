// SPDX-License-Identifier: Apache-2.0
// Control frames that wait for a writable link, in order. Pure: does not use the link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <new>
#include <vector>

#include <weft/error.hpp>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// Frames without payload of one connection. Answers to messages of the peer are counted: a peer
/// that causes more answers than it reads is cut off, so that the queue is bounded
/// (docs/reliability.md, "Budgets"). Guarded by the progress lock, like the connection.
class control_queue {
 public:
  struct entry {
    frame_header header;
    frame_extension extension;

    frame_kind kind() const noexcept { return static_cast<frame_kind>(header.kind); }
    bool has_extension() const noexcept { return (header.flags & transports::has_extension) != 0; }
  };

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  const entry& front() const noexcept { return entries_.front(); }
  /// The number of frames of that kind.
  std::size_t count(frame_kind kind) const noexcept {
    return static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [kind](const entry& e) { return e.kind() == kind; }));
  }

  /// Answers to accesses to memory, but not those that grant a place: rma_target counts the grants.
  std::uint32_t access_answers() const noexcept { return access_answers_; }
  /// How many frames were added and have left so far: a frame that is added when `added()` is n has
  /// left when `left()` is more than n.
  std::uint64_t added() const noexcept { return left_ + entries_.size(); }
  std::uint64_t left() const noexcept { return left_; }

  /// \return ok; out_of_memory; protocol_error: too many answers wait, which no correct peer causes
  errc add(const entry& e) noexcept {
    const bool answer = is_answer(e.kind());
    if (answer && answers_ == most_unsent_answers) return errc::protocol_error;
    try {
      entries_.push_back(e);
    } catch (const std::bad_alloc&) {
      return errc::out_of_memory;
    }
    count_one(e, true);
    return errc::ok;
  }

  /// Updates an `arrived` frame that waits for that rail. \return false: there is none
  bool update_arrived(std::uint64_t rail, std::uint64_t frames) noexcept {
    const auto waiting = std::find_if(entries_.begin(), entries_.end(), [rail](const entry& e) {
      return e.kind() == frame_kind::arrived && e.extension.a == rail;
    });
    if (waiting == entries_.end()) return false;
    waiting->extension.b = frames;
    return true;
  }

  /// Whether a frame other than credit waits: the peer waits for it.
  bool owes() const noexcept {
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const entry& e) { return e.kind() != frame_kind::credit; });
  }

  /// The frames that tell the peer of something done: they are true also after the end of the
  /// connection. Without memory for all of them, the first ones.
  std::vector<entry> deeds() const noexcept {
    std::vector<entry> done;
    try {
      std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(done),
                   [](const entry& e) { return is_deed(e.kind()); });
    } catch (const std::bad_alloc&) {
      // The first ones, then.
    }
    return done;
  }

  /// The first frame has left.
  void pop() noexcept {
    count_one(front(), false);
    entries_.pop_front();
    ++left_;
  }
  void clear() noexcept {
    entries_.clear();
    answers_ = access_answers_ = 0;
  }

 private:
  static constexpr bool is_answer(frame_kind kind) noexcept {
    return kind == frame_kind::cts || kind == frame_kind::fin_ack || kind == frame_kind::matched ||
           kind == frame_kind::cancelled || kind == frame_kind::stop_data;
  }

  static constexpr bool is_deed(frame_kind kind) noexcept {
    return kind == frame_kind::fin_ack || kind == frame_kind::matched ||
           kind == frame_kind::cancelled || kind == frame_kind::accessed;
  }

  void count_one(const entry& e, bool comes) noexcept {
    const std::uint32_t one = comes ? 1 : ~std::uint32_t{0};
    if (is_answer(e.kind())) answers_ += one;
    if (e.kind() == frame_kind::accessed || (e.kind() == frame_kind::granted && e.extension.b == 0))
      access_answers_ += one;
  }

  std::list<entry> entries_;  // usually empty: a deque would hold memory for each peer
  std::uint32_t answers_ = 0;
  std::uint32_t access_answers_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace weft::proto
