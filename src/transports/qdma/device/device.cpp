// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace weft::transports::qdma {

using weft::qdma::receive_operation;

namespace {

constexpr std::uint32_t passes_between_looks = 64;

}  // namespace

device::device(runtime::engine& e, table t, socket_id name, std::size_t arena_bytes)
    : engine_(e), table_(std::move(t)), segment_(arena_bytes) {
  self_ = table_.claim(name);
  for (std::uint32_t q = 0; q != queue_count; ++q)
    boxes_.emplace_back(segment_.queue(q), regions().progress_of(q), self_);
  boxes_[0].open = true;
  busy = true;  // peers may post at any time, whether an operation waits or not
}

device::~device() { close(); }

void device::close() noexcept {
  if (std::exchange(closed_, true)) return;
  busy = false;
  ready_.clear();
  parked_.clear();
  for (counted_event& e : events_)
    for (; !e.waiting.empty(); e.waiting.pop_front()) {
      e.waiting.front()->queued = false;
      engine_.end(*e.waiting.front(), errc::closed);
    }
  for (box& b : boxes_)
    for (; !b.waiting.empty(); b.waiting.pop_front()) {
      b.waiting.front()->queued = false;
      engine_.end(*b.waiting.front(), errc::closed);
    }
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
  auto own_bell = std::make_shared<runtime::remote_doorbell>(p.fds.back());
  if (!engine_.own_doorbell().fences_senders()) own_bell->fence_always();
  peers_.emplace(body.who, std::make_unique<peer>(self_, body, std::span(p.fds).subspan(1),
                                                  std::move(own_bell), pid));
  return body.who;
}

void device::lose(vpid v) noexcept {
  if (!peers_.contains(v)) return;
  take_signals();  // the peer may have signalled before it ended
  for (box& b : boxes_) b.reader.forget_wish(v);
  peers_.erase(v);
  last_lost_[lost_++ % last_lost_.size()] = v;
  // The parked chains fail at their next turn.
  for (std::uint32_t q = 0; q != queue_count; ++q)
    if (const auto at = parked_.find({v, q}); at != parked_.end()) {
      std::deque<run> all = std::move(at->second);
      parked_.erase(at);
      parked_runs_ -= all.size();
      for (run& r : all) add(std::move(r));
    }
  for (counted_event& e : events_) {
    if (!e.open || std::find(e.depends_on.begin(), e.depends_on.end(), v) == e.depends_on.end())
      continue;
    miss(e, v);
    trigger(e);
  }
  engine_.look_after();
}

std::uint32_t device::open_queue() {
  for (std::uint32_t i = 1; i != queue_count; ++i)
    if (!boxes_[i].open) {
      boxes_[i].open = true;
      return i;
    }
  throw error(errc::out_of_memory, "a device has three queues for applications; close one");
}

void device::close_queue(std::uint32_t number) noexcept {
  box& b = boxes_[number];
  while (b.reader.peek()) b.reader.pop();
  notify_writable(b);
  b.open = false;
}

void device::hand_over(box& b, receive_operation& op, const queue_reader::view& m) noexcept {
  const std::size_t fits = std::min(m.bytes.size(), op.into.size());
  if (fits != 0) std::memcpy(op.into.data(), m.bytes.data(), fits);
  op.got = {static_cast<weft::qdma::process>(m.from), m.bytes.size()};
  op.status = fits == m.bytes.size() ? errc::ok : errc::truncated;
  b.reader.pop();
}

bool device::receive(receive_operation& op) noexcept {
  if (closed_ || op.cancel_requested) {
    op.status = closed_ ? errc::closed : errc::stopped;
    return true;
  }
  box& b = boxes_[op.queue];
  if (b.waiting.empty())
    if (const auto m = b.reader.peek()) {
      hand_over(b, op, *m);
      notify_writable(b);
      return true;
    }
  b.waiting.push_back(&op);
  op.queued = true;
  engine_.pending(op);
  return false;
}

void device::cancel(receive_operation& op) noexcept {
  op.cancel_requested = true;
  if (!op.queued) return;
  op.queued = false;
  std::erase(boxes_[op.queue].waiting, &op);
  engine_.end(op, errc::stopped);
}

unsigned device::deliver() noexcept {
  unsigned events = 0;
  for (box& b : boxes_) {
    while (!b.waiting.empty()) {
      const auto m = b.reader.peek();
      if (!m) break;
      receive_operation& op = *b.waiting.front();
      b.waiting.pop_front();
      op.queued = false;
      hand_over(b, op, *m);
      engine_.end(op, op.status);
      ++events;
    }
    notify_writable(b);
  }
  return events;
}

void device::notify_writable(box& b) noexcept {
  if (b.reader.unpublished() == 0) return;
  b.reader.publish();
  b.reader.notify_writable([this](std::uint32_t index) {
    for (auto& [v, p] : peers_)
      if (index_of(v) == index) p->ring();
  });
}

void device::look_after_queues() noexcept {
  const auto now = queue_reader::clock::now();
  for (box& b : boxes_)
    if (b.open) b.reader.look_after(table_, now);
}

unsigned device::poll() noexcept {
  if (closed_) return 0;
  unsigned events = take_signals() + retry_parked() + run_some() + deliver();
  if (++passes_ % passes_between_looks == 0) [[unlikely]]
    look_after_queues();
  return events;
}

bool device::has_work() noexcept {
  if (closed_) return false;
  if (!ready_.empty() || retry_parked() != 0) return true;
  for (box& b : boxes_) {
    const bool looked_at = &b == &boxes_[0] || !b.waiting.empty();
    if (looked_at && (b.reader.peek() || b.reader.held_up())) return true;
  }
  return false;
}

void device::wake_peer() noexcept {
  for (auto& [v, p] : peers_)
    if (p->has_unconsumed()) p->wake_peer();
}

/// A sender that waits for room may have found no place to say so.
bool device::has_unconsumed() const noexcept {
  return parked_runs_ != 0 || std::any_of(peers_.begin(), peers_.end(),
                                          [](const auto& p) { return p.second->has_unconsumed(); });
}

std::uint64_t device::bells_rung() const noexcept {
  std::uint64_t all = 0;
  for (const auto& [v, p] : peers_) all += p->bells_rung();
  return all;
}

std::string device::describe() const {
  std::size_t no_cma = 0;
  for (const auto& [v, p] : peers_) no_cma += p->no_cma().empty() ? 0 : 1;
  std::string text = fmt::format("qdma: process {:#x}, {} met", self_, peers_.size());
  if (no_cma != 0)
    text += fmt::format(", of {} only memory that they allocated can be reached", no_cma);
  if (failures_ != 0) text += fmt::format("; {} failed, last: {}", failures_, last_failure_);
  return text;
}

}  // namespace weft::transports::qdma
