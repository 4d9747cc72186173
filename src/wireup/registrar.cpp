// SPDX-License-Identifier: Apache-2.0
#include "wireup/registrar.hpp"

#include <utility>
#include <vector>

namespace weft::wireup {

registrar::registrar(host h)
    : host_(std::move(h)), book_(host_.first_size), next_rank_(host_.first_size) {}

void registrar::visit(std::unique_ptr<door_visit> v) {
  const auto said = rank_of_greeting(v->greeting());
  if (!said) return v->reject("this door is for processes that join the job: use weft::join");
  const bool joins = *said == no_peer;
  if (!joins && !book_.members().contains(*said))
    return v->reject("that rank is not in the job any more");
  if (joins && next_rank_ == first_stranger) return v->reject("the job has run out of ranks");
  const channel_ptr line = v->accept();
  if (!line) return;
  const peer_id rank = joins ? next_rank_++ : *said;
  lines_.emplace(line, member{rank, false});
  line->send(encode(roster_welcome{host_.job, rank, book_.first_size()}));
  for (const changes& part : book_.digest()) line->send(encode(part));
}

void registrar::on_parcel(const channel_ptr& c, const transports::parcel& p) {
  member& from = lines_.at(c);
  const peer_id rank = from.rank;
  if (const auto wanted = decode_roster_find(p)) return on_find(c, *wanted);
  if (is_roster_leave(p)) return record({change_kind::left, rank});
  const auto locator = decode_roster_publish(p);
  if (!locator || rank < book_.first_size() || from.published) return drop(c);
  from.published = true;
  joined_.emplace(rank, *locator);
  record({change_kind::joined, rank});
}

void registrar::on_find(const channel_ptr& c, peer_id rank) {
  if (rank >= book_.first_size() || !book_.members().contains(rank))
    return c->send(encode(roster_found{rank, where(rank)}));
  waiting_.emplace(rank, c);
  if (waiting_.count(rank) > 1) return;  // somebody has asked already
  host_.find(rank, [this, rank](const std::string& locator) { found(rank, locator); });
}

std::string registrar::where(peer_id rank) const {
  const auto at = joined_.find(rank);
  return at == joined_.end() || !book_.members().contains(rank) ? std::string() : at->second;
}

void registrar::found(peer_id rank, const std::string& locator) {
  const auto [begin, end] = waiting_.equal_range(rank);
  for (auto at = begin; at != end; ++at) at->second->send(encode(roster_found{rank, locator}));
  waiting_.erase(begin, end);
}

void registrar::on_gone(const channel_ptr& c, bool orderly) {
  const auto at = lines_.find(c);
  if (at == lines_.end()) return;
  const peer_id rank = at->second.rank;
  lines_.erase(at);
  std::erase_if(waiting_, [&](const auto& entry) { return entry.second == c; });
  ended(rank, !orderly);
}

void registrar::ended(peer_id rank, bool died) {
  record({died ? change_kind::died : change_kind::left, rank});
}

void registrar::record(const change& c) {
  if (!book_.apply(c)) return;
  if (c.what != change_kind::joined) joined_.erase(c.rank);
  for (const auto& [channel, of] : lines_) channel->send(encode(changes{book_.epoch(), {c}}));
  host_.on_change(c);
}

void registrar::drop(const channel_ptr& c) {
  c->close();
  on_gone(c, false);
}

}  // namespace weft::wireup
