// SPDX-License-Identifier: Apache-2.0
// The messages between NICs.
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "bindings/vipl/nic/nic_operations.hpp"
#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

/// The thread that holds the lock does it before it releases the lock; where that is a thread of
/// weft, the service does.
void nic::settle_soon(vi& v) noexcept {
  if (!std::exchange(v.settles, true)) to_settle_.push(&v);
  if (!leads_ && !polls_) service_.visit_soon();
}

void nic::settle_all() noexcept {
  while (!to_settle_.empty()) {
    vi& v = *to_settle_.pop();
    v.settles = false;
    v.settle();
  }
}

void nic::visit() noexcept {
  bool sleeps = false;
  {
    const locked lock(*this);
    sleeps = leads_;
  }
  if (sleeps) wake_leader();
}

void nic::send_now(const endpoint& to, const header& h, std::span<const std::byte> body) {
  std::byte* const room = message_room_.data();
  const std::size_t size = sizeof h + body.size();
  std::memcpy(room, &h, sizeof h);
  if (!body.empty()) std::memcpy(room + sizeof h, body.data(), body.size());
  if (!to.post_bytes(am{handler_number}, {room, size}).try_held())
    (new outgoing(to, {room, size}))->start();
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
    if (v && v->connection.peer_number() == who) v->connection_lost();
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
      (events_ != before || !to_settle_.empty()))
    service_.visit_soon();
}

void nic::take(peer_id from, const header& h, std::span<const std::byte> rest) {
  vi* const v = find(h.vi);
  if (v && v->connection.epoch() == h.epoch)
    v->on_message(h, from, rest);
  else if (h.what == message::connected)
    refuse_connection(from, rest);
}

/// The requester does not wait any more.
void nic::refuse_connection(peer_id from, std::span<const std::byte> rest) {
  const std::optional<introduction> who = reader(rest).take<introduction>();
  if (!who) return;
  guarded([&] {
    const auto answer = [this, from, h = header{who->vi, who->epoch, message::gone, 0, 0, 0}] {
      guarded([&] {
        const endpoint to = context_->peer(from);
        const locked lock(*this);
        send_now(to, h);
        return VIP_SUCCESS;
      });
    };
    run_soon(std::make_unique<service::job_of<decltype(answer)>>(answer));
    return VIP_SUCCESS;
  });
}

}  // namespace weft::vipl
