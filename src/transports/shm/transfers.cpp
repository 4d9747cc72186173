// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/transfers.hpp"

#include <new>

#include "transports/shm/pair.hpp"

namespace weft::transports::shm {

bool transfers::add(const transfer& t) noexcept {
  try {
    all_.push_back(t);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

unsigned transfers::run() noexcept {
  if (all_.empty()) return 0;
  transfer t = all_.front();
  all_.pop_front();
  frame_sink& asked_by = t.of->frame_sink();
  const bool well = t.of->copy_slice(t);
  if (!well || t.left == 0 || !add(t)) asked_by.on_transferred(t.cookie, well && t.left == 0);
  return 1;
}

void transfers::end_all_of(pair& p) noexcept {
  std::erase_if(all_, [&p](const transfer& t) { return t.of == &p; });
  p.end_share();
}

}  // namespace weft::transports::shm
