// SPDX-License-Identifier: Apache-2.0
// The roster: the members of a job that grows and shrinks, and the messages between rank 0 and the
// members.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <weft/transport/wireup_message.hpp>

#include "wireup/base/identity.hpp"

namespace weft::wireup {

enum class change_kind : std::uint8_t { joined = 1, left = 2, died = 3, returned = 4 };

constexpr bool ends_membership(change_kind k) noexcept {
  return k == change_kind::left || k == change_kind::died;
}

struct change {
  change_kind what{};
  peer_id rank = no_peer;
  peer_id place = no_peer;  ///< of `returned`: the lost rank whose place the joining rank takes
  friend bool operator==(const change&, const change&) = default;
};

/// Changes in the order of rank 0. A value.
struct changes {
  static constexpr std::size_t most = 1024;  ///< in one wire-up message

  std::uint64_t epoch = 0;  ///< after the last of these changes
  std::vector<change> all;
};

/// The members of a job: the ranks from the start, and the changes since. The epoch is the number
/// of changes; two rosters at the same epoch have the same members. Rank 0 decides the order of the
/// changes. A process that takes the place of a lost rank has a new rank, so that no message of the
/// lost one is taken for one of its own. A value.
class roster {
 public:
  /// \param size ranks 0 to size - 1 are there from the start
  explicit roster(peer_id size);

  /// The most ranks that joined and are members at the same time.
  static constexpr std::size_t most_joined = std::size_t{1} << 20;

  /// False, and nothing happens, if the change changes nothing (the rank left before) or makes no
  /// sense.
  bool apply(const change& c);

  /// Whether another process may join.
  bool has_room() const noexcept { return members_.size() < first_size_ + most_joined; }

  /// So many changes have happened. Some were not told, because later ones have undone them.
  void advance_to(std::uint64_t epoch) noexcept { epoch_ = std::max(epoch_, epoch); }

  /// What a process that knows only the first size must be told, in wire-up messages. Ranks that
  /// joined and are gone are left out, so the size depends on the current members and not on the
  /// history.
  std::vector<changes> digest() const;

  peer_id first_size() const noexcept { return first_size_; }
  std::uint64_t epoch() const noexcept { return epoch_; }
  const std::set<peer_id>& members() const noexcept { return members_; }
  /// As membership_view::places.
  const std::vector<peer_id>& places() const noexcept { return places_; }
  /// Whether the rank that had this place was lost, so that another may take it.
  bool is_vacant(peer_id place) const noexcept {
    return place < places_.size() && places_[place] == no_peer;
  }

 private:
  bool take_in(const change& c);
  bool let_go(const change& c);
  /// no_peer: none
  peer_id place_of(peer_id joined) const noexcept;

  peer_id first_size_;
  std::set<peer_id> members_;
  // The ends of ranks that were there at the start, or else of the last ones in their places.
  std::map<peer_id, change_kind> gone_;
  std::vector<peer_id> places_;
  std::uint64_t epoch_ = 0;
};

// The wire-up messages of a coordinator connection. The channel carries no others.
// docs/wire-format.md has the tables.
enum class roster_message : std::uint8_t {
  welcome = 1,  ///< rank 0: the member's rank, and how many ranks there were at the start
  changes = 2,  ///< rank 0: the changes
  found = 3,    ///< rank 0: where a rank is; an empty locator: gone, or not known
  publish = 4,  ///< a joiner tells where it is; from now on all may know that it joined
  find = 5,     ///< a member asks where a rank is
  leave = 6     ///< a member leaves
};

struct roster_welcome {
  context_id job;
  peer_id rank = no_peer;
  peer_id first_size = 0;
};
struct roster_found {
  peer_id rank = no_peer;
  std::string locator;
};

transports::wireup_message encode(const roster_welcome& w);
/// \param c at most changes::most changes
transports::wireup_message encode(const changes& c);
transports::wireup_message encode(const roster_found& f);
transports::wireup_message encode_roster_publish(const std::string& locator);
transports::wireup_message encode_roster_find(peer_id rank);
transports::wireup_message encode_roster_leave();

/// Each of these is empty when the wire-up message is of another kind or its bytes are malformed.
std::optional<roster_welcome> decode_roster_welcome(const transports::wireup_message& p);
std::optional<changes> decode_changes(const transports::wireup_message& p);
std::optional<roster_found> decode_roster_found(const transports::wireup_message& p);
std::optional<std::string> decode_roster_publish(const transports::wireup_message& p);
std::optional<peer_id> decode_roster_find(const transports::wireup_message& p);
bool is_roster_leave(const transports::wireup_message& p);

/// What a process says that connects to rank 0.
struct roster_greeting {
  peer_id rank = no_peer;   ///< it is that rank; no_peer: it joins
  peer_id place = no_peer;  ///< of one that joins: the place that it takes; no_peer: none
};

/// The private data of a connection request at rank 0's listener; a request with any other text is
/// not from a member.
std::string encode(const roster_greeting& g);
std::optional<roster_greeting> decode_roster_greeting(const std::string& private_data);

}  // namespace weft::wireup
