// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/device/device.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::transports::qdma {

using weft::qdma::receive_operation;

namespace {

constexpr std::uint32_t passes_between_looks = 64;

}  // namespace

device::device(runtime::engine& e, table t, socket_id name, std::size_t arena_bytes)
    : engine_(e),
      table_(std::move(t)),
      segment_(arena_bytes),
      self_(table_.claim(name)),
      queues_(e, segment_, self_, peers_) {
  busy = true;  // peers may post at any time, whether an operation waits or not
}

device::~device() { close(); }

void device::close() noexcept {
  if (std::exchange(closed_, true)) return;
  busy = false;
  runs_.clear();
  events_.for_each([this](counted_event& e) {
    for (; !e.waiting.empty(); e.waiting.pop_front()) {
      e.waiting.front()->queued = false;
      engine_.end(*e.waiting.front(), errc::closed);
    }
  });
  queues_.end_all(errc::closed);
  peers_.clear();
  table_.release(self_);
}

wireup_message device::card() const {
  wireup_message p;
  p.fds.push_back(runtime::duplicate(table_.fd()));
  segment_.add_card(p, self_, !engine_.own_doorbell().fences_senders());
  p.fds.push_back(runtime::duplicate(engine_.own_doorbell().page_fd()));
  return p;
}

vpid device::meet(const wireup_message& p, pid_t pid) {
  const device_address_body body = body_of_card(p, card_fds);
  if (!table_.is_same(p.fds[0].get()))
    throw error(errc::refused, "the peer has another table of contexts; join the same one");
  // A second card for a known id would belong to another context.
  if (body.who == 0 || knows(body.who) || !table_.lives(body.who))
    throw error(errc::protocol_error, "the peer says that it is who it cannot be");
  auto own_bell =
      std::make_shared<runtime::remote_doorbell>(p.fds.back(), engine_.own_doorbell().to_peers());
  if (!engine_.own_doorbell().fences_senders()) own_bell->fence_always();
  peers_.add(body.who, std::make_unique<peer>(self_, body, std::span(p.fds).subspan(1),
                                              std::move(own_bell), pid));
  return body.who;
}

void device::lose(vpid v) noexcept {
  if (!peers_.contains(v)) return;
  take_signals();  // the peer may have signalled before it ended
  queues_.forget_wish(v);
  peers_.lose(v);
  // The parked chains fail at their next turn.
  for (std::uint32_t q = 0; q != queue_count; ++q)
    runs_.unpark({v, q}, [this](run r) { add(std::move(r)); });
  events_.for_each([this, v](counted_event& e) {
    if (std::find(e.depends_on.begin(), e.depends_on.end(), v) == e.depends_on.end()) return;
    miss(e, v);
    trigger(e);
  });
  engine_.look_after();
}

bool device::receive(receive_operation& op) noexcept {
  if (closed_ || op.cancel_requested) {
    op.status = closed_ ? errc::closed : errc::stopped;
    return true;
  }
  return queues_.receive(op);
}

void device::cancel(receive_operation& op) noexcept {
  op.cancel_requested = true;
  if (op.queued) queues_.cancel(op);
}

unsigned device::poll() noexcept {
  if (closed_) return 0;
  unsigned events = take_signals() + retry_parked() + run_some() + queues_.deliver();
  if (++passes_ % passes_between_looks == 0) [[unlikely]]
    queues_.look_after(table_);
  return events;
}

bool device::has_work() noexcept {
  if (closed_) return false;
  return runs_.any_ready() || retry_parked() != 0 || queues_.has_work();
}

void device::wake_peer() noexcept { peers_.wake(); }

/// A sender that waits for room may have found no place to say so.
bool device::has_unconsumed() const noexcept {
  return runs_.any_parked() || peers_.has_unconsumed();
}

std::uint64_t device::bells_rung() const noexcept { return peers_.bells_rung(); }

std::string device::describe() const {
  const std::size_t no_cma = peers_.without_cma();
  std::string text = fmt::format("qdma: process {:#x}, {} met", self_, peers_.size());
  if (no_cma != 0)
    text += fmt::format(", of {} only memory that they allocated can be reached", no_cma);
  if (failures_ != 0) text += fmt::format("; {} failed, last: {}", failures_, last_failure_);
  return text;
}

}  // namespace weft::transports::qdma
