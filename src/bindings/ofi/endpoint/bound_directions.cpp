// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/endpoint/bound_directions.hpp"

#include <utility>

#include "bindings/ofi/endpoint/endpoint.hpp"

namespace weft::ofi {

bound_directions::bound_directions(endpoint& of) noexcept {
  ended_[0].owner = ended_[1].owner = &of;
}

bound_directions::~bound_directions() {
  for (completions& c : ended_)
    for (const record* r = c.waiting.first(); r; r = r->after) delete r->multi;
}

int bound_directions::bind(completion_queue& q, std::uint64_t flags) noexcept {
  for (auto [bit, d] : {std::pair{FI_TRANSMIT, &sends}, {FI_RECV, &receives}}) {
    if ((flags & bit) == 0) continue;
    if (d->queue) return -FI_EINVAL;
    d->queue = &q;
    d->selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
    q.used.add();
  }
  return 0;
}

int bound_directions::bind(counter& c, std::uint64_t flags, external_loop* loop) {
  for (auto [bit, d] :
       {std::pair{FI_SEND, &sends}, {FI_RECV, &receives}, {FI_READ, &reads}, {FI_WRITE, &writes}}) {
    if ((flags & bit) == 0) continue;
    if (d->counted) return -FI_EINVAL;
    if (loop) {
      c.add(*loop);
      const external_loop::progress_guard hold(*loop);
      d->counted = &c;
    } else {
      d->counted = &c;
    }
    c.used.add();
  }
  return 0;
}

/// One queue for both directions reports operations in the order in which they ended.
void bound_directions::enable(external_loop& loop) {
  sends.ended = &ended_[0];
  receives.ended = sends.queue == receives.queue ? &ended_[0] : &ended_[1];
  if (sends.queue) sends.queue->add(*sends.ended);
  if (receives.queue && receives.queue != sends.queue) receives.queue->add(*receives.ended);
  for (direction* d : {&reads, &writes}) {
    d->queue = sends.queue;
    d->selective = sends.selective;
    d->ended = sends.ended;
  }
  for (const direction* d : {&sends, &receives, &reads, &writes})
    if (d->counted) d->counted->add(loop);
}

void bound_directions::detach(external_loop* loop) noexcept {
  for (direction* d : {&sends, &receives}) {
    if (d->queue && d->ended && loop && (d != &receives || d->ended != sends.ended))
      d->queue->remove(*d->ended);
    if (d->queue) d->queue->used.remove();
  }
  for (direction* d : {&sends, &receives, &reads, &writes}) {
    if (!d->counted) continue;
    if (loop) d->counted->remove(*loop);
    d->counted->used.remove();
  }
}

}  // namespace weft::ofi
