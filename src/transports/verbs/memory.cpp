// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/memory.hpp"

#include <unistd.h>

#include <cstring>
#include <numeric>

#include "transports/verbs/work.hpp"

namespace weft::transports::verbs {

slab::slab(device& d, std::uint32_t count, used_by who) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = (count * slot_stride + page - 1) / page * page;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, size)));
  if (!memory_) throw std::bad_alloc();
  const std::span<std::byte> all(memory_.get(), size);
  if (who == used_by::this_side) {
    registered_ =
        d.enroll(all, reinterpret_cast<std::uintptr_t>(all.data()), IBV_ACCESS_LOCAL_WRITE);
    return;
  }
  std::memset(all.data(), 0, size);  // the peer may announce what it has not written
  registered_ = d.enroll(all, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

slots::slots(device& d, std::uint32_t count)
    : count_(count), memory_(d, count, slab::used_by::this_side) {
  free_.resize(count);
  std::iota(free_.rbegin(), free_.rend(), 0u);
}

bool receives::post_free() noexcept {
  while (slots_.free() != 0) {
    ibv_recv_wr chain[batch];
    ibv_sge places[batch];
    std::size_t n = 0;
    for (; n != batch; ++n) {
      const auto slot = slots_.take();
      if (!slot) break;
      places[n] = {reinterpret_cast<std::uintptr_t>(slots_.at(*slot)), slot_bytes, slots_.key()};
      chain[n] = {work_id::receive(*slot).word(), nullptr, &places[n], 1};
      if (n != 0) chain[n - 1].next = &chain[n];
    }
    ibv_recv_wr* refused = nullptr;
    if (device_.post_receives(chain[0], &refused) == 0) continue;
    for (; refused; refused = refused->next) slots_.give(work_id::of(refused->wr_id).number());
    return false;
  }
  return true;
}

}  // namespace weft::transports::verbs
