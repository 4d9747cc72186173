// SPDX-License-Identifier: Apache-2.0
#include "wireup/job/roster.hpp"

#include <fmt/format.h>

#include <charconv>

#include "wireup/base/byte_io.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::wireup {

using transports::wireup_message;

roster::roster(peer_id size) : first_size_(size) {
  for (peer_id r = 0; r < size; ++r) {
    members_.insert(members_.end(), r);
    places_.push_back(r);
  }
}

bool roster::apply(const change& c) {
  if (!(ends_membership(c.what) ? let_go(c) : take_in(c))) return false;
  ++epoch_;
  return true;
}

/// Joins need not come in the order of the ranks: the process that was given its rank first may be
/// ready last. Rank 0 never assigns a rank twice, so an old message about a rank cannot mean
/// another process.
bool roster::take_in(const change& c) {
  const bool returns = c.what == change_kind::returned;
  if (c.rank < first_size_ || c.rank >= proto::most_ranks || !has_room() ||
      (returns && !is_vacant(c.place)) || !members_.insert(c.rank).second)
    return false;
  if (returns) places_[c.place] = c.rank;
  return true;
}

bool roster::let_go(const change& c) {
  if (members_.erase(c.rank) == 0) return false;
  const peer_id place = c.rank < first_size_ ? c.rank : place_of(c.rank);
  if (place == no_peer) return true;
  // A rank that leaves is not waited for; its place names the first holder, whichever rank had it
  // last.
  places_[place] = c.what == change_kind::died ? no_peer : place;
  gone_[place] = c.what;
  return true;
}

peer_id roster::place_of(peer_id joined) const noexcept {
  const auto held = std::ranges::find(places_, joined);
  return held == places_.end() ? no_peer : static_cast<peer_id>(held - places_.begin());
}

std::vector<changes> roster::digest() const {
  std::map<peer_id, peer_id> returned;
  for (peer_id p = 0; p != first_size_; ++p)
    if (places_[p] != no_peer && places_[p] >= first_size_) returned.emplace(places_[p], p);
  std::vector<change> all;
  for (const auto& [rank, how] : gone_) all.push_back({how, rank});
  for (auto at = members_.lower_bound(first_size_); at != members_.end(); ++at) {
    const auto place = returned.find(*at);
    all.push_back(place == returned.end() ? change{change_kind::joined, *at}
                                          : change{change_kind::returned, *at, place->second});
  }
  std::vector<changes> parts;
  for (std::size_t at = 0; at < all.size(); at += changes::most) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    const auto left = static_cast<std::size_t>(all.end() - begin);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(left, changes::most));
    // Only the last part carries the epoch: after it its reader is up to date.
    parts.push_back({left <= changes::most ? epoch_ : 0, {begin, end}});
  }
  if (parts.empty() && epoch_ != 0) parts.push_back({epoch_, {}});
  return parts;
}

namespace {

constexpr std::string_view greeting_prefix = "weft roster 3 ";
constexpr std::string_view wants_to_join = "new";
constexpr std::string_view wants_place = "for ";

wireup_message made(roster_message kind, byte_writer& out) {
  wireup_message p;
  p.kind = static_cast<std::uint8_t>(kind);
  p.bytes = out.take();
  return p;
}

bool is(const wireup_message& p, roster_message kind) {
  return p.kind == static_cast<std::uint8_t>(kind) && p.fds.empty();
}

}  // namespace

wireup_message encode(const roster_welcome& w) {
  byte_writer out;
  out.put(w.job).put(std::uint32_t{w.rank}).put(std::uint32_t{w.first_size});
  return made(roster_message::welcome, out);
}

wireup_message encode(const changes& c) {
  byte_writer out;
  out.put(c.epoch).put(static_cast<std::uint32_t>(c.all.size()));
  for (const change& one : c.all) {
    out.put(static_cast<std::uint8_t>(one.what)).put(std::uint32_t{one.rank});
    if (one.what == change_kind::returned) out.put(std::uint32_t{one.place});
  }
  return made(roster_message::changes, out);
}

wireup_message encode(const roster_found& f) {
  byte_writer out;
  out.put(std::uint32_t{f.rank}).put(std::string_view(f.locator));
  return made(roster_message::found, out);
}

wireup_message encode_roster_publish(const std::string& locator) {
  byte_writer out;
  out.put(std::string_view(locator));
  return made(roster_message::publish, out);
}

wireup_message encode_roster_find(peer_id rank) {
  byte_writer out;
  out.put(std::uint32_t{rank});
  return made(roster_message::find, out);
}

wireup_message encode_roster_leave() {
  byte_writer out;
  return made(roster_message::leave, out);
}

std::optional<roster_welcome> decode_roster_welcome(const wireup_message& p) {
  if (!is(p, roster_message::welcome)) return std::nullopt;
  byte_reader in(p.bytes);
  roster_welcome w;
  w.job = in.get_id();
  w.rank = in.get<std::uint32_t>();
  w.first_size = in.get<std::uint32_t>();
  // A bound, because roster's constructor lists each of these ranks.
  constexpr peer_id most = 1u << 22;
  if (!in.complete() || w.rank >= proto::most_ranks || w.first_size == 0 || w.first_size > most)
    return std::nullopt;
  return w;
}

std::optional<changes> decode_changes(const wireup_message& p) {
  if (!is(p, roster_message::changes)) return std::nullopt;
  byte_reader in(p.bytes);
  changes c;
  c.epoch = in.get<std::uint64_t>();
  const auto n = in.get<std::uint32_t>();
  if (n > changes::most) return std::nullopt;
  for (std::uint32_t i = 0; i != n; ++i) {
    const auto what = in.get<std::uint8_t>();
    if (what < 1 || what > 4) return std::nullopt;
    change one{static_cast<change_kind>(what), in.get<std::uint32_t>()};
    if (one.what == change_kind::returned) one.place = in.get<std::uint32_t>();
    c.all.push_back(one);
  }
  return in.complete() ? std::optional(std::move(c)) : std::nullopt;
}

std::optional<roster_found> decode_roster_found(const wireup_message& p) {
  if (!is(p, roster_message::found)) return std::nullopt;
  byte_reader in(p.bytes);
  roster_found f;
  f.rank = in.get<std::uint32_t>();
  f.locator = in.get_text(max_locator);
  if (!in.complete() || (!f.locator.empty() && !parse_locator(f.locator))) return std::nullopt;
  return f;
}

std::optional<std::string> decode_roster_publish(const wireup_message& p) {
  if (!is(p, roster_message::publish)) return std::nullopt;
  byte_reader in(p.bytes);
  std::string locator = in.get_text(max_locator);
  if (!in.complete() || !parse_locator(locator)) return std::nullopt;
  return locator;
}

std::optional<peer_id> decode_roster_find(const wireup_message& p) {
  if (!is(p, roster_message::find)) return std::nullopt;
  byte_reader in(p.bytes);
  const peer_id rank = in.get<std::uint32_t>();
  return in.complete() ? std::optional(rank) : std::nullopt;
}

bool is_roster_leave(const wireup_message& p) {
  return is(p, roster_message::leave) && p.bytes.empty();
}

std::string encode(const roster_greeting& g) {
  if (g.place != no_peer) return fmt::format("{}{}{}", greeting_prefix, wants_place, g.place);
  return g.rank == no_peer ? fmt::format("{}{}", greeting_prefix, wants_to_join)
                           : fmt::format("{}{}", greeting_prefix, g.rank);
}

std::optional<roster_greeting> decode_roster_greeting(const std::string& private_data) {
  std::string_view rest = private_data;
  if (!rest.starts_with(greeting_prefix)) return std::nullopt;
  rest.remove_prefix(greeting_prefix.size());
  if (rest == wants_to_join) return roster_greeting{};
  const bool returns = rest.starts_with(wants_place);
  if (returns) rest.remove_prefix(wants_place.size());
  peer_id number = 0;
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (fault != std::errc{} || end != rest.data() + rest.size() || number >= proto::most_ranks)
    return std::nullopt;
  return returns ? roster_greeting{no_peer, number} : roster_greeting{number, no_peer};
}

}  // namespace weft::wireup
