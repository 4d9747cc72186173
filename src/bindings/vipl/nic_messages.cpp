// SPDX-License-Identifier: Apache-2.0
// The messages between NICs.
#include <thread>
#include <utility>

#include "bindings/vipl/nic_operations.hpp"
#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

/// The thread that holds the lock does it before it releases the lock; where that is a thread of
/// weft, the service does.
void nic::do_later() noexcept {
  if (!leads_ && !polls_) service_.add([this] { const locked lock(*this); });
}

void nic::send_soon(const endpoint& to, const header& h) noexcept {
  if (!to_send_.empty() && h.what == message::arrived) {
    header& last = to_send_.back().what;  // confirms earlier messages as well
    if (last.what == h.what && last.vi == h.vi && last.epoch == h.epoch) {
      last.length = h.length;
      return;
    }
  }
  to_send_.push_back({to, h});
  do_later();
}

void nic::settle_soon(const vi& v) noexcept {
  to_settle_.push_back(v.number);
  do_later();
}

void nic::do_now() noexcept {
  while (has_to_do()) {
    std::vector<waiting_message> messages;
    messages.swap(to_send_);
    for (const waiting_message& m : messages) try {
        send_now(m.to, m.what);
      } catch (const std::exception&) {
        // No memory: the peer learns of it when the context ends.
      }
    std::vector<std::uint32_t> vis;
    vis.swap(to_settle_);
    for (const std::uint32_t number : vis)
      if (vi* const v = find(number)) v->settle();
  }
}

void nic::send_now(const endpoint& to, const header& h, std::span<const std::byte> body) {
  (new outgoing(to, h, body))->start();
}

void nic::watch(const endpoint& to) {
  std::unique_ptr<remote_nic>& known = remotes_[to.id()];
  if (known) return;
  known = std::make_unique<remote_nic>(*this, to);
  if (known->start_held()) lost(to.id());
}

void nic::lost(peer_id who) {
  remotes_.erase(who);
  for (vi* v : vis_)
    if (v && v->peer_id_of_connection() == who) v->connection_lost();
}

/// With the progress lock held, on any thread that makes progress; calls no function of weft.
void nic::on_message(const inline_call& c) {
  reader in(c.data);
  const std::optional<header> h = in.take<header>();
  if (!h) return;
  const std::uint64_t before = events_;
  take(c.from, *h, in.rest());
  // weft wakes the thread that sleeps when operations end, and this was none.
  if (leads_ && !polls_ && leader_ != std::this_thread::get_id() &&
      (events_ != before || has_to_do()))
    service_.add([this] { wake_leader(); });
}

void nic::take(peer_id from, const header& h, std::span<const std::byte> rest) {
  vi* const v = find(h.vi);
  if (v && v->epoch() == h.epoch)
    v->on_message(h, from, rest);
  else if (h.what == message::connected)
    refuse_connection(from, rest);
}

/// The requester does not wait any more.
void nic::refuse_connection(peer_id from, std::span<const std::byte> rest) {
  const std::optional<introduction> who = reader(rest).take<introduction>();
  if (!who) return;
  run_soon([this, from, h = header{who->vi, who->epoch, message::gone, 0, 0, 0}] {
    guarded([&] {
      const endpoint to = context_->peer(from);
      const locked lock(*this);
      send_now(to, h);
      return VIP_SUCCESS;
    });
  });
}

}  // namespace weft::vipl
