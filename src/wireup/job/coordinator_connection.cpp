// SPDX-License-Identifier: Apache-2.0
#include "wireup/job/coordinator_connection.hpp"

#include <utility>

namespace weft::wireup {

using transports::wireup_message;

namespace {

/// Bounds the changes that are kept until `listen`: more than rank 0 has to tell.
constexpr std::size_t most_logged = 2 * roster::most_joined;

identity of_rank(const context_id& job, peer_id rank) {
  identity self;
  self.job = job;
  self.rank = rank;
  return self;
}

tcp_settings deaf(tcp_settings tcp) {
  tcp.listens = false;
  return tcp;
}

}  // namespace

coordinator_connection::coordinator_connection(tcp_settings tcp, const context_id& job,
                                               peer_id rank, runtime::log_ptr reports)
    : log_(std::move(reports)),
      manager_(std::make_unique<connection_manager>(of_rank(job, rank),
                                                    static_cast<manager_events&>(*this),
                                                    deaf(std::move(tcp)), lane_number{1}, log_)) {
  manager_->start_accepting();
}

coordinator_connection::~coordinator_connection() { manager_.reset(); }

void coordinator_connection::join(const std::string& address, told done) {
  {
    const std::lock_guard lock(mutex_);
    done_ = std::move(done);
  }
  manager_->request_connection(
      address, encode(roster_greeting{}),
      [this](const channel_ptr& c, const failure& why) { on_channel(c, why); });
}

void coordinator_connection::attend(const std::string& locator, peer_id rank, told done) {
  call(locator, {rank, no_peer}, std::move(done));
}

void coordinator_connection::come_back(const std::string& locator, peer_id place, told done) {
  call(locator, {no_peer, place}, std::move(done));
}

void coordinator_connection::call(const std::string& locator, const roster_greeting& says,
                                  told done) {
  {
    const std::lock_guard lock(mutex_);
    done_ = std::move(done);
  }
  manager_->connect_to_coordinator(
      locator, encode(says),
      [this](const channel_ptr& c, const failure& why) { on_channel(c, why); });
}

/// The coordinator connection is ready only when rank 0's welcome has come.
void coordinator_connection::on_channel(const channel_ptr& c, const failure& why) {
  if (!c) {
    conclude(why);
    return on_ended(nullptr, errc::unreachable);
  }
  const std::lock_guard lock(mutex_);
  channel_ = c;
}

void coordinator_connection::conclude(const failure& why) {
  told done;
  {
    const std::lock_guard lock(mutex_);
    done = std::exchange(done_, nullptr);
  }
  if (done) done(why);
}

void coordinator_connection::on_wireup_message(const channel_ptr& c, wireup_message m) {
  if (const auto w = decode_roster_welcome(m)) {
    {
      const std::lock_guard lock(mutex_);
      facts_ = *w;
      for (wireup_message& waiting : unsent_) c->send(std::move(waiting));
      unsent_.clear();
    }
    return conclude({});
  }
  if (const auto next = decode_changes(m)) {
    std::function<void(const changes&)> changed;
    {
      const std::lock_guard lock(mutex_);
      changed = changed_;
      if (!changed) {
        kept_changes_ += next->all.size() + 1;
        if (kept_changes_ > most_logged) return c->close();
        kept_.push_back(*next);
      }
    }
    if (changed) changed(*next);
  } else if (const auto f = decode_roster_found(m)) {
    std::vector<std::function<void(std::string)>> handlers;
    {
      const std::lock_guard lock(mutex_);
      const auto [begin, end] = waiting_.equal_range(f->rank);
      for (auto at = begin; at != end; ++at) handlers.push_back(std::move(at->second));
      waiting_.erase(begin, end);
    }
    for (const auto& handler : handlers) handler(f->locator);
  }
  // Any other message comes from a rank 0 of a later version, and is ignored.
}

void coordinator_connection::on_ended(const channel_ptr&, const proto::ended& how) {
  std::multimap<peer_id, std::function<void(std::string)>> waiting;
  std::function<void(bool)> told_end;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
    orderly_ = how.orderly();
    waiting.swap(waiting_);
    told_end = end_told_;
    unsent_.clear();
  }
  conclude({errc::unreachable, "rank 0 hung up"});
  for (const auto& [rank, handler] : waiting) handler({});
  if (told_end) told_end(how.orderly());
}

roster_welcome coordinator_connection::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

void coordinator_connection::listen(std::function<void(const changes&)> changed,
                                    std::function<void(bool)> ended) {
  manager_->post([this, changed = std::move(changed), ended = std::move(ended)] {
    std::vector<changes> before;
    bool over = false;
    {
      const std::lock_guard lock(mutex_);
      before.swap(kept_);
      changed_ = changed;
      end_told_ = ended;
      over = ended_;
    }
    for (const changes& c : before) changed(c);
    if (over) ended(orderly_);
  });
}

void coordinator_connection::send(wireup_message p) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (facts_.first_size == 0)
    unsent_.push_back(std::move(p));
  else
    channel_->send(std::move(p));
}

void coordinator_connection::publish(const std::string& locator) {
  send(encode_roster_publish(locator));
}
void coordinator_connection::leave() { send(encode_roster_leave()); }
void coordinator_connection::end() { manager_->end(); }

void coordinator_connection::find(peer_id rank, std::function<void(std::string)> found) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      waiting_.emplace(rank, std::move(found));
      found = nullptr;
    }
  }
  if (found) return found({});
  send(encode_roster_find(rank));
}

}  // namespace weft::wireup
