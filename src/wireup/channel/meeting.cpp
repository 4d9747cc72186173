// SPDX-License-Identifier: Apache-2.0
#include "wireup/channel/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <tuple>
#include <utility>
#include <weft/error.hpp>

namespace weft::wireup {

namespace {
constexpr std::chrono::milliseconds longest_pause{1000};
}

void meetings::start(std::uint64_t ticket, const std::string& own, const std::string& other,
                     const std::string& discriminator, channel_ready done, lane_number lane) {
  const bool twice = std::ranges::any_of(meetings_, [&](const auto& entry) {
    return entry.second.own == own && entry.second.discriminator == discriminator;
  });
  if (twice)
    return done(nullptr, {errc::invalid_argument,
                          fmt::format("a meeting at {} with the same discriminator is under way; "
                                      "use another discriminator for each",
                                      own)});
  if (discriminator.size() > max_private_data)
    return done(nullptr, {errc::invalid_argument,
                          fmt::format("a discriminator of {} bytes is too long: at most {}",
                                      discriminator.size(), max_private_data)});
  meeting m;
  m.own = own;
  m.lane = lane;
  m.discriminator = discriminator;
  m.other = other;
  m.request_timer = std::make_shared<asio::steady_timer>(loop_->io());
  listen_address at;
  try {
    at = parse_address(own);
    if (to_text(parse_address(other)) == to_text(at))
      return done(nullptr, {errc::invalid_argument,
                            fmt::format("a meeting cannot meet itself: {} is both its own address "
                                        "and the other's; give each side its own",
                                        own)});
  } catch (const error& e) {
    return done(nullptr, {e.kind(), e.what()});
  }
  m.done = std::move(done);
  meetings_.emplace(ticket, std::move(m));
  if (at.is_unix() || numeric_endpoint(at.host, at.port)) return begin(ticket, own);
  look_up(loop_, at.host, 0,
          [this, ticket](const addresses_of_name& found) { on_looked_up(ticket, found); });
}

/// Called when the address of this side's host name is known.
void meetings::on_looked_up(std::uint64_t ticket, const addresses_of_name& found) {
  const auto at = meetings_.find(ticket);
  if (at == meetings_.end()) return;
  if (found.all.empty())
    return end(at, nullptr,
               {errc::invalid_argument,
                fmt::format("the host of {} is not known: {}; use a host name or address of this "
                            "machine, or none for loopback",
                            at->second.own, found.fault)});
  listen_address listens = parse_address(at->second.own);
  listens.host = found.all.front().address().to_string();
  begin(ticket, to_text(listens));
}

void meetings::begin(std::uint64_t ticket, const std::string& listens_at) {
  const auto at = meetings_.find(ticket);
  failure why;
  try {
    at->second.listener_number = enter(at->second.own, listens_at, at->second.lane);
    return request_connection(ticket);
  } catch (const error& e) {
    why = {e.kind(), e.what()};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    why = {errc::system, e.what()};
  }
  end(at, nullptr, why);
}

void meetings::request_connection(std::uint64_t ticket) {
  meeting& m = meetings_.at(ticket);
  m.requesting = true;
  hello says;
  says.why = purpose::meet;
  says.who = host_.speaker(m.lane);
  says.ticket = ticket;
  says.private_data = m.discriminator;
  auto started = host_.start_attempt(
      std::move(says), m.other,
      [this, ticket](const channel_ptr& got, const failure&) { on_request_answered(ticket, got); });
  // The attempt may have failed already, and the meeting may even be over.
  const auto at = meetings_.find(ticket);
  if (at != meetings_.end() && at->second.requesting)
    at->second.request_connection = std::move(started);
}

std::uint64_t meetings::enter(const std::string& own, const std::string& listens_at,
                              lane_number lane) {
  const auto at = listeners_.find(own);
  if (at != listeners_.end()) {
    ++at->second.users;
    return at->second.number;
  }
  const std::uint64_t number = host_.open_meeting_listener(listens_at, lane);
  listeners_.emplace(own, shared_listener{number, 1});
  return number;
}

void meetings::release_listener(const std::string& own) {
  const auto at = listeners_.find(own);
  if (--at->second.users > 0) return;
  host_.close_listener(at->second.number);
  listeners_.erase(at);
}

void meetings::on_request_answered(std::uint64_t ticket, const channel_ptr& got) {
  const auto at = meetings_.find(ticket);
  if (at == meetings_.end()) return;
  at->second.requesting = false;
  at->second.request_connection.reset();
  if (got) return end(at, got, {});
  // The other side is not there yet, or has no meeting with this discriminator: it will request a
  // connection itself when it has one.
  const auto held = std::exchange(at->second.held, nullptr);
  if (held && !held->has_ended()) return accept_request(at, held);
  request_later(ticket, at->second);
}

void meetings::request_later(std::uint64_t ticket, meeting& m) {
  m.request_timer->expires_after(m.pause);
  m.pause = std::min(m.pause * 2, longest_pause);
  m.request_timer->async_wait(
      [this, ticket, timer = m.request_timer](const asio::error_code& fault) {
        // The meeting may have ended after the timer and before this handler.
        if (!fault && meetings_.contains(ticket)) request_connection(ticket);
      });
}

void meetings::on_request(std::uint64_t listener_number, const std::shared_ptr<peer_channel>& who,
                          const hello& h) {
  const auto at = std::ranges::find_if(meetings_, [&](const auto& entry) {
    return entry.second.listener_number == listener_number &&
           entry.second.discriminator == h.private_data;
  });
  if (at == meetings_.end())
    return who->refuse("no meeting with that discriminator is awaited there at the moment");
  const identity self = host_.speaker(at->second.lane);
  const auto theirs = std::tie(h.who.id, h.ticket);
  const auto ours = std::tie(self.id, at->first);
  if (theirs == ours) return who->refuse("a meeting cannot meet itself: its two addresses are one");
  if (theirs < ours || !at->second.requesting) return accept_request(at, who);
  if (at->second.held && !at->second.held->has_ended())
    return who->refuse("another meeting is under way there");
  at->second.held = who;
}

void meetings::accept_request(meeting_map::iterator at, const std::shared_ptr<peer_channel>& who) {
  who->admit(host_.speaker(at->second.lane));
  end(at, who, {});
}

void meetings::end(meeting_map::iterator at, const channel_ptr& got, const failure& why) {
  const meeting m = std::move(at->second);
  meetings_.erase(at);
  m.request_timer->cancel();
  if (m.request_connection) m.request_connection->cancel();
  if (m.held) m.held->refuse("the two have met already");
  if (m.listener_number != 0) release_listener(m.own);
  m.done(got, why);
}

void meetings::cancel(std::uint64_t ticket, const failure& why) {
  if (const auto at = meetings_.find(ticket); at != meetings_.end()) end(at, nullptr, why);
}

void meetings::cancel_all(const failure& why) {
  while (!meetings_.empty()) end(meetings_.begin(), nullptr, why);
}

}  // namespace weft::wireup
