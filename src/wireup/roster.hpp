// SPDX-License-Identifier: Apache-2.0
// Who belongs to a job that grows and shrinks, and what rank 0 and the others say about it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "transports/parcel.hpp"
#include "wireup/identity.hpp"

namespace weft::wireup {

enum class change_kind : std::uint8_t { joined = 1, left = 2, died = 3 };

struct change {
  change_kind what{};
  peer_id rank = no_peer;
  friend bool operator==(const change&, const change&) = default;
};

/// The members of a job, as a list of changes since its start: whoever has seen the same number of
/// them has the same members. Rank 0 decides their order. A value.
class roster {
 public:
  /// \param size ranks 0 to size - 1 are there from the start
  explicit roster(peer_id size);

  /// False, and nothing happens: it changes nothing (it left before) or makes no sense.
  bool apply(const change& c);

  peer_id first_size() const noexcept { return first_size_; }
  std::uint64_t epoch() const noexcept { return log_.size(); }
  const std::vector<change>& log() const noexcept { return log_; }
  const std::set<peer_id>& members() const noexcept { return members_; }

 private:
  peer_id first_size_;
  std::set<peer_id> members_;
  std::vector<change> log_;
};

/// By-address peers of a context are numbered from here on, ranks below.
inline constexpr peer_id first_stranger = peer_id{1} << 31;

// What travels between a member and rank 0, as the parcels of a channel that carries nothing else.
// docs/wire-format.md has the tables.
enum class roster_message : std::uint8_t {
  welcome = 1,  ///< rank 0: who you are, and how many there were at the start
  change = 2,   ///< rank 0: the next change, from the first one on
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

transports::parcel encode(const roster_welcome& w);
transports::parcel encode(const change& c);
transports::parcel encode(const roster_found& f);
transports::parcel encode_roster_publish(const std::string& locator);
transports::parcel encode_roster_find(peer_id rank);
transports::parcel encode_roster_leave();

/// Each of these is empty when the parcel is of another kind or its bytes are not in order.
std::optional<roster_welcome> decode_roster_welcome(const transports::parcel& p);
std::optional<change> decode_change(const transports::parcel& p);
std::optional<roster_found> decode_roster_found(const transports::parcel& p);
std::optional<std::string> decode_roster_publish(const transports::parcel& p);
std::optional<peer_id> decode_roster_find(const transports::parcel& p);
bool is_roster_leave(const transports::parcel& p);

/// The greeting at rank 0's door: whoever says nothing else is no member. \param rank no_peer:
/// wants to join
std::string roster_greeting(peer_id rank);
std::optional<peer_id> rank_of_greeting(const std::string& greeting);

}  // namespace weft::wireup
