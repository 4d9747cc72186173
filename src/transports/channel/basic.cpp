// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/basic.hpp"

#include <algorithm>
#include <cstring>

#include "transports/channel/pieces.hpp"

namespace weft::transports::channel {

std::size_t basic_channel::put(std::span<const const_buffer> data) {
  line_.check();
  const std::size_t ring = line_.ring();
  peer_tail_ = line_.hear(&words::tail, peer_tail_, head_);
  const std::size_t size = std::min(bytes_of(data), ring - (head_ - peer_tail_));
  if (size == 0 || line_.places() < 3) return 0;  // two pieces and the head
  const std::size_t at = head_ % ring, until_end = std::min(size, ring - at);
  gather from(data);
  copy_out(line_.outbox() + at, from, until_end);
  copy_out(line_.outbox(), from, size - until_end);
  line_.write(at, until_end);
  if (size != until_end) line_.write(0, size - until_end);
  head_ += size;
  line_.tell(&words::head, head_);
  return size;
}

std::size_t basic_channel::get(std::span<const mutable_buffer> into) {
  line_.check();
  const std::size_t ring = line_.ring();
  peer_head_ = line_.hear(&words::head, peer_head_, tail_ + ring);
  const std::size_t size = std::min<std::size_t>(bytes_of(into), peer_head_ - tail_);
  if (size == 0 || line_.places() < 1) return 0;
  const std::size_t at = tail_ % ring, until_end = std::min(size, ring - at);
  scatter to(into);
  copy_in(to, line_.inbox() + at, until_end);
  copy_in(to, line_.inbox(), size - until_end);
  tail_ += size;
  line_.tell(&words::tail, tail_);
  return size;
}

}  // namespace weft::transports::channel
