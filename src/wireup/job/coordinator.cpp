// SPDX-License-Identifier: Apache-2.0
#include "wireup/job/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

bool is_process_at(const socket_names& names, const identity& who, bool by_unix_socket,
                   const std::string& locator) {
  const auto where = parse_locator(locator);
  if (!where) return false;
  const auto listener = names.listener_at(where->socket_name);
  if (!by_unix_socket) return !listener;
  return listener && listener->same_user && listener->pid == who.pid;
}

coordinator::coordinator(host h)
    : host_(std::move(h)), book_(host_.first_size), next_rank_(host_.first_size) {}

void coordinator::on_request(std::unique_ptr<incoming_request> request) {
  const auto said = decode_roster_greeting(request->private_data());
  if (!said)
    return request->reject("this listener is for processes that join the job: use weft::join");
  if (said->place != no_peer) return on_return(std::move(request), said->place);
  const peer_id rank = said->rank;
  if (rank == no_peer) return let_in(*request, no_peer);
  // A process that joined has its coordinator connection already.
  if (rank >= book_.first_size() || !book_.members().contains(rank))
    return request->reject("that rank is not in the job any more");
  if (request->peer().rank != rank || request->peer().job != host_.job)
    return request->reject("only that rank itself may say so");
  if (has_line(rank)) return request->reject("that rank is here already");
  if (const channel_ptr line = accept(*request, {rank, standing::claimed})) look_for(rank, line);
}

void coordinator::let_in(incoming_request& request, peer_id place) {
  if (!book_.has_room()) return request.reject("the job has as many members as a job can have");
  if (next_rank_ == proto::most_ranks) return request.reject("the job has run out of ranks");
  const channel_ptr line = accept(request, {next_rank_, standing::joining, place});
  if (line) greet(line, next_rank_++);
}

void coordinator::on_return(std::unique_ptr<incoming_request> request, peer_id place) {
  if (request->peer().job != host_.job || place >= book_.first_size())
    return request->reject(fmt::format("rank {} is not of this job", place));
  std::unique_ptr<incoming_request>& waiting = returning_[place];
  if (waiting) waiting->reject(fmt::format("another process comes back as rank {}", place));
  waiting = std::move(request);
  let_in_those_who_return();
}

/// One at a time for each place.
void coordinator::let_in_those_who_return() {
  for (auto at = returning_.begin(); at != returning_.end();) {
    const peer_id place = at->first;
    const bool left =
        book_.places()[place] != no_peer && !book_.members().contains(book_.places()[place]);
    const bool taken = std::ranges::any_of(lines_, [place](const auto& line) {
      return line.second.place == place && line.second.stands == standing::joining;
    });
    if (!left && (taken || !book_.is_vacant(place))) {
      ++at;
      continue;
    }
    const std::unique_ptr<incoming_request> request = std::move(at->second);
    at = returning_.erase(at);
    if (left)
      request->reject(fmt::format("rank {} has left the job in good order", place));
    else
      let_in(*request, place);
  }
}

channel_ptr coordinator::accept(incoming_request& request, member of) {
  channel_ptr line = request.accept();
  if (!line) return nullptr;
  line->report_to(*this);
  lines_.emplace(line, of);
  return line;
}

bool coordinator::has_line(peer_id rank) const {
  return std::ranges::any_of(lines_, [rank](const auto& line) {
    return line.second.rank == rank && line.second.stands != standing::claimed;
  });
}

/// The connection is that rank's: from now on its messages are believed, and it is told each
/// change.
void coordinator::greet(const channel_ptr& c, peer_id rank) {
  c->send(encode(roster_welcome{host_.job, rank, book_.first_size()}));
  for (const changes& part : book_.digest()) c->send(encode(part));
}

void coordinator::on_wireup_message(const channel_ptr& c, transports::wireup_message m) {
  const auto line = lines_.find(c);
  if (line == lines_.end()) return;  // it was dropped
  member& from = line->second;
  if (from.stands == standing::claimed) return drop(c);  // nothing is to be said before the welcome
  const peer_id rank = from.rank;
  if (const auto wanted = decode_roster_find(m)) return on_find(c, *wanted);
  if (is_roster_leave(m)) return record({change_kind::left, rank});
  const auto locator = decode_roster_publish(m);
  if (!locator || from.stands != standing::joining) return drop(c);
  from.stands = standing::joined;
  joined_.emplace(rank, *locator);
  record(from.place == no_peer ? change{change_kind::joined, rank}
                               : change{change_kind::returned, rank, from.place});
}

void coordinator::on_find(const channel_ptr& c, peer_id rank) {
  if (rank >= book_.first_size() || !book_.members().contains(rank))
    return c->send(encode(roster_found{rank, where(rank)}));
  look_for(rank, c);
}

/// The launcher is asked once at a time, however many channels wait for the answer.
void coordinator::look_for(peer_id rank, const channel_ptr& c) {
  const auto [at, first] = waiting_.try_emplace(rank);
  at->second.insert(c);
  if (first) host_.find(rank, [this, rank](const std::string& locator) { found(rank, locator); });
}

std::string coordinator::where(peer_id rank) const {
  const auto at = joined_.find(rank);
  return at == joined_.end() || !book_.members().contains(rank) ? std::string() : at->second;
}

void coordinator::found(peer_id rank, const std::string& locator) {
  const auto asked = waiting_.extract(rank);
  if (asked.empty()) return;
  for (const channel_ptr& c : asked.mapped()) {
    const auto line = lines_.find(c);
    if (line == lines_.end()) continue;
    if (line->second.stands == standing::claimed && line->second.rank == rank)
      judge(c, locator);
    else
      c->send(encode(roster_found{rank, locator}));
  }
}

void coordinator::judge(const channel_ptr& c, const std::string& locator) {
  member& m = lines_.at(c);
  if (locator.empty() || has_line(m.rank) || !book_.members().contains(m.rank) ||
      !host_.is_at(c->peer(), c->carries_descriptors(), locator))
    return drop(c);
  m.stands = standing::proven;
  greet(c, m.rank);
}

void coordinator::on_ended(const channel_ptr& c, const proto::ended& how) {
  const auto at = lines_.find(c);
  if (at == lines_.end()) return;
  const member was = at->second;
  lines_.erase(at);
  for (auto& [rank, asking] : waiting_) asking.erase(c);
  if (was.stands != standing::claimed) on_rank_ended(was.rank, !how.orderly());
  let_in_those_who_return();  // it may have been about to take a place
}

void coordinator::on_rank_ended(peer_id rank, bool died) {
  record({died ? change_kind::died : change_kind::left, rank});
}

void coordinator::record(const change& c) {
  if (!book_.apply(c)) return;
  if (ends_membership(c.what)) joined_.erase(c.rank);
  for (const auto& [channel, of] : lines_)
    if (of.stands != standing::claimed) channel->send(encode(changes{book_.epoch(), {c}}));
  host_.on_change(c);
  let_in_those_who_return();
}

void coordinator::drop(const channel_ptr& c) {
  c->close();
  on_ended(c, errc::protocol_error);
}

}  // namespace weft::wireup
