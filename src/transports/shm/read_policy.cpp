// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/read_policy.hpp"

#include <utility>

namespace weft::transports::shm {

read_policy_transport::read_policy_transport(runtime::doorbell& own_bell, copy_method way,
                                             std::uint64_t probe_value, ring_read_policy reading,
                                             services* looks_after, std::size_t streamed_from)
    : shm_transport(own_bell, way, probe_value, looks_after, streamed_from), reading_(reading) {}

/// Takes the frames of a message that has begun, until it is complete or the ring is empty. The
/// sender goes on filling the ring meanwhile, so `most` bounds the number of frames.
unsigned read_policy_transport::read_on(pair& p, unsigned most) noexcept {
  ring_receiver& in = *p.incoming();
  unsigned frames = 0;
  while (frames < most && !in.broken() && p.frame_sink().under_way() != 0 && in.poll(1) != 0)
    ++frames;
  return frames;
}

unsigned read_policy_transport::look(pair& p) noexcept {
  ring_receiver& in = *p.incoming();
  if (in.broken()) return 1;  // found by take_rests in the last pass; reported now
  if (reading_ == ring_read_policy::single || !in.ready()) return in.poll(1);
  if (p.frame_sink().under_way() != 0) return read_on(p, frames_per_pass);
  const unsigned frames = in.poll(1);
  // The sender fills the ring and waits: leaving the ring now would keep it waiting.
  if (p.frame_sink().under_way() <= bulk_bytes) return frames;
  if (reading_ == ring_read_policy::immediate) return frames + read_on(p, frames_per_pass - 1);
  if (reading_ == ring_read_policy::post) p.rest_due = rests_due_ = true;
  return frames;
}

unsigned read_policy_transport::take_rests() noexcept {
  if (!std::exchange(rests_due_, false)) return 0;
  unsigned frames = 0;
  for (std::size_t i = 0; i < active().size(); ++i)
    if (pair& p = *active()[i]; std::exchange(p.rest_due, false))
      frames += read_on(p, frames_per_pass - 1);
  return frames;
}

unsigned read_policy_transport::poll() noexcept {
  const unsigned frames = pass([this](pair& p) noexcept { return look(p); });
  return frames + take_rests();
}

std::string read_policy_transport::describe() const {
  const char* ways[] = {"burst", "single", "contiguous", "post", "immediate"};
  return shm_transport::describe() + ", reading: " + ways[static_cast<int>(reading_)];
}

}  // namespace weft::transports::shm
