// SPDX-License-Identifier: Apache-2.0
#include "api/core/members.hpp"

#include <fmt/format.h>

#include <utility>

namespace weft::detail {

using wireup::change;
using wireup::change_kind;
using wireup::changes;
using wireup::channel_ptr;
using wireup::coordinator_connection;

members::members(wireup::job& j, std::shared_ptr<connections::manager_proxy> mail,
                 wireup::tcp_settings tcp, std::shared_ptr<coordinator_connection> line,
                 runtime::log_ptr reports)
    : job_(j),
      manager_proxy_(std::move(mail)),
      tcp_(std::move(tcp)),
      log_(std::move(reports)),
      book_(j.size()),
      line_(std::move(line)) {}

members::~members() = default;

void members::attach(wireup::connection_manager& m, std::function<void(peer_id, bool)> ended) {
  manager_ = &m;
  ended_ = std::move(ended);
  if (rank() != 0) {
    if (line_) listen(*line_);
    return;
  }
  wireup::coordinator::host host;
  host.job = job_.id();
  host.first_size = job_.size();
  host.find = [this](peer_id rank, std::function<void(std::string)> found) {
    if (rank == 0) return found(manager_->self().locator);
    job_.find(rank, [mail = manager_proxy_, found = std::move(found)](const std::string& locator) {
      mail->post([found, locator] { found(locator); });
    });
  };
  host.is_at = [names = tcp_.names](const wireup::identity& who, bool by_unix_socket,
                                    const std::string& locator) {
    return wireup::is_process_at(names, who, by_unix_socket, locator);
  };
  host.on_change = [this](const change& c) { apply({0, {c}}); };
  coordinator_ = std::make_unique<wireup::coordinator>(std::move(host));
}

void members::shut() {
  end({errc::closed, "the context has ended"});
  std::shared_ptr<coordinator_connection> line;
  {
    const std::lock_guard lock(mutex_);
    line.swap(line_);
  }
  if (line) line->end();  // the job holds it, too
}

/// \return the connection to rank 0; null on rank 0 itself, and when rank 0 has gone
std::shared_ptr<coordinator_connection> members::follow() {
  if (rank() == 0) return nullptr;
  std::shared_ptr<coordinator_connection> made;
  {
    const std::lock_guard lock(mutex_);
    if (line_ || how_ended_) return line_;
    made = line_ = std::make_shared<coordinator_connection>(tcp_, job_.id(), rank(), log_);
  }
  listen(*made);  // the context may end meanwhile, and take line_
  job_.find(0, [this, mail = manager_proxy_](const std::string& locator) {
    mail->post([this, locator] {
      if (locator.empty()) return end({errc::peer_lost, "rank 0 has ended"});
      std::shared_ptr<coordinator_connection> line;
      {
        const std::lock_guard lock(mutex_);
        line = line_;
      }
      if (line)
        line->attend(locator, rank(), [this](const wireup::failure& why) {
          if (why.kind != errc::ok) end({errc::peer_lost, why.text});
        });
    });
  });
  const std::lock_guard lock(mutex_);
  return line_;
}

void members::listen(coordinator_connection& line) {
  line.listen([this](const changes& c) { apply(c); },
              [this](bool orderly) {
                end({orderly ? errc::closed : errc::peer_lost,
                     "rank 0, which keeps the book of the job's members, is gone"});
              });
}

membership_view members::view() const {
  return {book_.epoch(), {book_.members().begin(), book_.members().end()}, book_.places()};
}

/// On the coordinator connection's thread; on rank 0 on the manager's.
void members::apply(const changes& c) {
  std::vector<view_box> told;
  std::vector<change> applied;
  membership_view after;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t before = book_.epoch();
    for (const change& one : c.all)
      if (book_.apply(one)) applied.push_back(one);
    book_.advance_to(c.epoch);
    if (book_.epoch() == before) return;
    after = view();
    std::erase_if(waiters_, [&](const waiter& w) {
      if (w.since >= after.epoch) return false;
      told.push_back(w.box);
      return true;
    });
    changed_.notify_all();
  }
  for (const view_box& box : told) box->deliver(after);
  for (const change& one : applied)
    if (ends_membership(one.what) && one.rank != rank())
      manager_proxy_->post([this, one] { ended_(one.rank, one.what == change_kind::died); });
}

void members::end(proto::ended how) noexcept {
  std::vector<waiter> told;
  {
    const std::lock_guard lock(mutex_);
    if (how_ended_) return;
    how_ended_ = how;
    told.swap(waiters_);
    changed_.notify_all();
  }
  for (const waiter& w : told) w.box->fail(how.why, how.detail);
}

std::string members::open(const std::string& address) {
  if (rank() != 0)
    throw error(errc::unsupported,
                "only rank 0, which keeps the book of the job's members, lets others join");
  std::string actual;
  manager_->open_listener(address, actual, [this](std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    listeners_.insert(number);
  });
  return actual;
}

membership_view members::now() {
  follow();
  const std::lock_guard lock(mutex_);
  return view();
}

void members::wait(std::uint64_t since, const view_box& box) {
  follow();
  membership_view known;
  {
    const std::lock_guard lock(mutex_);
    known = view();
    std::erase_if(waiters_, [](const waiter& w) { return w.box->over(); });  // stopped
    if (known.epoch <= since && !how_ended_) return waiters_.push_back({since, box});
  }
  if (known.epoch > since) return box->deliver(std::move(known));
  box->fail(how_ended_->why, how_ended_->detail);
}

void members::leave() {
  if (rank() == 0)
    throw error(errc::unsupported,
                "rank 0 keeps the book of the job's members and leaves by ending its context");
  if (const auto line = follow()) line->leave();
}

void members::await_entry(std::chrono::seconds timeout) {
  std::unique_lock lock(mutex_);
  const bool told = changed_.wait_for(
      lock, timeout, [&] { return how_ended_ || book_.members().contains(rank()); });
  if (how_ended_) throw error(how_ended_->why, how_ended_->detail);
  if (!told)
    throw error(errc::unreachable,
                fmt::format("rank 0 has not made this process a member for {} s; it may be stopped "
                            "or very busy (WEFT_PEER_TIMEOUT says how long that is waited for)",
                            timeout.count()));
}

void members::find(peer_id rank, const std::string& gone,
                   std::function<void(std::string locator)> found) {
  if (rank < job_.size())
    return gone.empty() ? job_.find(rank, std::move(found))
                        : job_.find_next(rank, gone, std::move(found));
  if (!gone.empty()) return found({});  // a process that has joined has no successor
  if (this->rank() != 0) {
    const auto line = follow();
    return line ? line->find(rank, std::move(found)) : found({});
  }
  manager_proxy_->post(
      [this, rank, found = std::move(found)] { found(coordinator_->where(rank)); });
}

bool members::on_request(std::uint64_t listener_number,
                         std::unique_ptr<wireup::incoming_request>& v) {
  if (!coordinator_) return false;
  if (listener_number != wireup::connection_manager::coordinator_listener) {
    const std::lock_guard lock(mutex_);
    if (!listeners_.contains(listener_number)) return false;
  }
  coordinator_->on_request(std::move(v));
  return true;
}

void members::on_rank_ended(peer_id rank, bool died) {
  if (coordinator_) coordinator_->on_rank_ended(rank, died);
}

}  // namespace weft::detail
