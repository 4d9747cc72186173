// SPDX-License-Identifier: Apache-2.0
// Who belongs to a job that grows and shrinks, and what rank 0 and the others say about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "transports/wireup_message.hpp"
#include "wireup/identity.hpp"

namespace weft::wireup {

enum class change_kind : std::uint8_t { joined = 1, left = 2, died = 3 };

struct change {
  change_kind what{};
  peer_id rank = no_peer;
  friend bool operator==(const change&, const change&) = default;
};

/// Changes as rank 0 tells them, in order. A value.
struct changes {
  static constexpr std::size_t most = 1024;  ///< in one wire-up message

  std::uint64_t epoch = 0;  ///< after the last of them
  std::vector<change> all;
};

/// The members of a job: who was there at the start, and what has changed since. Whoever is at the
/// same epoch, the number of changes, has the same members. Rank 0 decides their order. A value.
class roster {
 public:
  /// \param size ranks 0 to size - 1 are there from the start
  explicit roster(peer_id size);

  /// So many that joined are members at a time.
  static constexpr std::size_t most_joined = std::size_t{1} << 20;

  /// False, and nothing happens: it changes nothing (it left before) or makes no sense.
  bool apply(const change& c);

  /// Whether another one may join.
  bool has_room() const noexcept { return members_.size() < first_size_ + most_joined; }

  /// So many changes have happened; some were not told, because others have undone them.
  void advance_to(std::uint64_t epoch) noexcept { epoch_ = std::max(epoch_, epoch); }

  /// What somebody must be told who knows nothing but the first size, in wire-up messages. Nothing
  /// of those that joined and are gone: it does not grow with what was, only with who is there.
  std::vector<changes> digest() const;

  peer_id first_size() const noexcept { return first_size_; }
  std::uint64_t epoch() const noexcept { return epoch_; }
  const std::set<peer_id>& members() const noexcept { return members_; }

 private:
  peer_id first_size_;
  std::set<peer_id> members_;
  std::vector<change> gone_;  // of those that were there at the start
  std::uint64_t epoch_ = 0;
};

/// By-address peers of a context are numbered from here on, ranks below.
inline constexpr peer_id first_stranger = peer_id{1} << 31;

// What travels between a member and rank 0, as the wire-up messages of a channel that carries
// nothing else. docs/wire-format.md has the tables.
enum class roster_message : std::uint8_t {
  welcome = 1,  ///< rank 0: who you are, and how many there were at the start
  changes = 2,  ///< rank 0: what has changed
  found = 3,    ///< rank 0: where a rank is; an empty locator: gone, or nobody knows
  publish = 4,  ///< a joiner: where I am; now everybody may know that I have joined
  find = 5,     ///< a member: where is that rank?
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
/// \param c at most changes::most of them
transports::wireup_message encode(const changes& c);
transports::wireup_message encode(const roster_found& f);
transports::wireup_message encode_roster_publish(const std::string& locator);
transports::wireup_message encode_roster_find(peer_id rank);
transports::wireup_message encode_roster_leave();

/// Each of these is empty when the wire-up message is of another kind or its bytes are not in
/// order.
std::optional<roster_welcome> decode_roster_welcome(const transports::wireup_message& p);
std::optional<changes> decode_changes(const transports::wireup_message& p);
std::optional<roster_found> decode_roster_found(const transports::wireup_message& p);
std::optional<std::string> decode_roster_publish(const transports::wireup_message& p);
std::optional<peer_id> decode_roster_find(const transports::wireup_message& p);
bool is_roster_leave(const transports::wireup_message& p);

/// The private data at rank 0's listener: whoever says nothing else is no member. \param rank
/// no_peer: wants to join
std::string roster_private_data(peer_id rank);
std::optional<peer_id> rank_of_greeting(const std::string& private_data);

}  // namespace weft::wireup
