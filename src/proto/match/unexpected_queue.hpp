// SPDX-License-Identifier: Apache-2.0
// Messages that wait for their receives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/message.hpp>

#include "proto/frames/inbound_message.hpp"

namespace weft::proto {

/// A list whose links are in its nodes. Some are in order of arrival.
template <class Node, auto Previous, auto Next>
struct linked {
  Node* first = nullptr;
  Node* last = nullptr;

  void add(Node& n) noexcept {
    n.*Previous = last;
    n.*Next = nullptr;
    (last ? last->*Next : first) = &n;
    last = &n;
  }
  /// Adds a node to a list in order of arrival. Looks from both ends: a new message is the last
  /// one, and one that comes back is mostly among the first.
  void add_in_order(Node& n) noexcept {
    Node *before = last, *after = first;
    while (before && before->arrived_as > n.arrived_as) {
      if (after->arrived_as > n.arrived_as) {
        before = after->*Previous;
        break;
      }
      before = before->*Previous;
      after = after->*Next;
    }
    n.*Previous = before;
    n.*Next = before ? before->*Next : first;
    (before ? before->*Next : first) = &n;
    (n.*Next ? n.*Next->*Previous : last) = &n;
  }
  void remove(Node& n) noexcept {
    (n.*Previous ? n.*Previous->*Next : first) = n.*Next;
    (n.*Next ? n.*Next->*Previous : last) = n.*Previous;
  }
};

/// The unexpected messages of one peer. Part of the peer, for `unexpected_queue` only.
struct unexpected_of_peer {
  struct line
      : linked<inbound_message, &inbound_message::of_peer_before, &inbound_message::of_peer_after> {
    inbound_message* next_swept = nullptr;
  };
  line ordinary;                         // in order of arrival
  line own;                              // messages with reserved tags
  unexpected_of_peer* before = nullptr;  // among peers that have any
  unexpected_of_peer* after = nullptr;
  const peer* whose = nullptr;

  bool none() const noexcept { return !ordinary.first && !own.first; }
  line& of(std::uint64_t tag) noexcept { return tag < first_reserved_tag ? ordinary : own; }
};

/// Unexpected messages. Peers choose how many there are and with which tags, so no search walks
/// over messages, except for a receive that ignores hashed bits of the tag, and not all of it.
///
/// Messages of one peer with one tag are a ring, of which the oldest is in a bucket. The number of
/// buckets grows, one at a time, with the number of rings (linear hashing), and the choice of the
/// bucket depends on a secret: peers can neither make buckets long nor choose one. Progress lock
/// held only.
class unexpected_queue {
 public:
  /// \param hashed bits of a tag that the hash uses \throws std::bad_alloc
  unexpected_queue(std::uint64_t hashed, std::uint64_t secret);

  /// Gives a message its place in the order of arrival.
  void stamp(inbound_message& m) noexcept { m.arrived_as = ++came_; }
  /// Adds a message that has come.
  void add(inbound_message& m) noexcept {
    stamp(m);
    add_again(m);
  }
  /// Adds a stamped message, where it belongs by the order of arrival.
  void add_again(inbound_message& m) noexcept;
  void remove(inbound_message& m) noexcept;
  bool none() const noexcept { return count_ == 0; }

  /// The first message for a receive or probe; null: none. It stays in the queue.
  inbound_message* find(const peer* from, tag_mask tag) const noexcept;
  /// The oldest message of a peer or, null, of any source; messages with reserved tags come after
  /// all others.
  inbound_message* any(const peer* from) const noexcept;

  /// The next message of a peer since begin_sweep, as long as no more come. Null: that was the last
  /// one.
  static inbound_message* sweep(unexpected_of_peer& of) noexcept;
  static void begin_sweep(unexpected_of_peer& of) noexcept;

 private:
  using bucket_list =
      linked<inbound_message, &inbound_message::bucket_before, &inbound_message::bucket_after>;
  static constexpr std::size_t per_chunk = 1024;
  using chunk = std::array<bucket_list, per_chunk>;

  bool is_hashed(tag_mask tag) const noexcept { return (tag.mask & hashed_) == hashed_; }
  std::uint64_t hash(const peer* from, std::uint64_t tag) const noexcept;
  std::size_t size() const noexcept { return (per_chunk << doublings_) + split_; }
  bucket_list& bucket(std::size_t n) const noexcept {
    return (*chunks_[n / per_chunk])[n % per_chunk];
  }
  bucket_list& home(const peer* from, std::uint64_t tag) const noexcept;
  inbound_message* ring(const peer* from, std::uint64_t tag) const noexcept;
  void enter_ring(inbound_message& m) noexcept;
  inbound_message* find_exact(const peer* from, tag_mask tag) const noexcept;
  inbound_message* find_from_any(tag_mask tag) const noexcept;
  void grow() noexcept;
  void shrink() noexcept;

  const std::uint64_t hashed_;
  const std::uint64_t secret_;
  std::vector<std::unique_ptr<chunk>> chunks_;
  unsigned doublings_ = 0;
  std::size_t split_ = 0;  // how many buckets have been split since the last doubling
  std::size_t rings_ = 0;
  std::size_t count_ = 0;  // messages
  std::uint64_t came_ = 0;
  linked<inbound_message, &inbound_message::earlier, &inbound_message::later>
      all_;  // ordinary ones
  linked<unexpected_of_peer, &unexpected_of_peer::before, &unexpected_of_peer::after> peers_;
};

}  // namespace weft::proto
