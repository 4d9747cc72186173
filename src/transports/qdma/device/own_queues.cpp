// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/device/own_queues.hpp"

#include <algorithm>
#include <cstring>

namespace weft::transports::qdma {

using weft::qdma::receive_operation;

own_queues::own_queues(runtime::engine& of, shared_segment& in, vpid me, met_peers& who)
    : engine_(of), peers_(who) {
  for (std::uint32_t q = 0; q != queue_count; ++q)
    queues_.emplace_back(in.queue(q), in.regions().progress_of(q), me);
  queues_[0].open = true;
}

std::uint32_t own_queues::open() {
  for (std::uint32_t i = 1; i != queue_count; ++i)
    if (!queues_[i].open) {
      queues_[i].open = true;
      return i;
    }
  throw error(errc::out_of_memory, "a device has three queues for applications; close one");
}

void own_queues::close(std::uint32_t number) noexcept {
  one& q = queues_[number];
  while (q.reader.peek()) q.reader.pop();
  notify_writable(q);
  q.open = false;
}

void own_queues::hand_over(one& q, receive_operation& op, const queue_reader::view& m) noexcept {
  const std::size_t fits = std::min(m.bytes.size(), op.into.size());
  if (fits != 0) std::memcpy(op.into.data(), m.bytes.data(), fits);
  op.got = {static_cast<weft::qdma::process>(m.from), m.bytes.size()};
  op.status = fits == m.bytes.size() ? errc::ok : errc::truncated;
  q.reader.pop();
}

bool own_queues::receive(receive_operation& op) noexcept {
  one& q = queues_[op.queue];
  if (q.waiting.empty())
    if (const auto m = q.reader.peek()) {
      hand_over(q, op, *m);
      notify_writable(q);
      return true;
    }
  q.waiting.push_back(&op);
  op.queued = true;
  engine_.pending(op);
  return false;
}

void own_queues::cancel(receive_operation& op) noexcept {
  op.queued = false;
  std::erase(queues_[op.queue].waiting, &op);
  engine_.end(op, errc::stopped);
}

void own_queues::end_all(errc why) noexcept {
  for (one& q : queues_)
    for (; !q.waiting.empty(); q.waiting.pop_front()) {
      q.waiting.front()->queued = false;
      engine_.end(*q.waiting.front(), why);
    }
}

unsigned own_queues::deliver() noexcept {
  unsigned events = 0;
  for (one& q : queues_) {
    while (!q.waiting.empty()) {
      const auto m = q.reader.peek();
      if (!m) break;
      receive_operation& op = *q.waiting.front();
      q.waiting.pop_front();
      op.queued = false;
      hand_over(q, op, *m);
      engine_.end(op, op.status);
      ++events;
    }
    notify_writable(q);
  }
  return events;
}

void own_queues::notify_writable(one& q) noexcept {
  if (q.reader.unpublished() == 0) return;
  q.reader.publish();
  q.reader.notify_writable([this](std::uint32_t index) { peers_.ring(index); });
}

void own_queues::look_after(const sender_table& who_lives) noexcept {
  const auto now = queue_reader::clock::now();
  for (one& q : queues_)
    if (q.open) q.reader.look_after(who_lives, now);
}

void own_queues::forget_wish(vpid who) noexcept {
  for (one& q : queues_) q.reader.forget_wish(who);
}

bool own_queues::has_work() noexcept {
  return std::any_of(queues_.begin(), queues_.end(), [this](one& q) {
    const bool is_waited_for = &q == &queues_[0] || !q.waiting.empty();
    return is_waited_for && (q.reader.peek() || q.reader.held_up());
  });
}

}  // namespace weft::transports::qdma
