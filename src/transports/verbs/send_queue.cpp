// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/send_queue.hpp"

#include <arpa/inet.h>

#include <utility>

#include "transports/verbs/work.hpp"

namespace weft::transports::verbs {

std::byte* send_queue::begin(std::size_t bytes) noexcept {
  begun_ = no_slot;
  if (is_inline(bytes)) return scratch_;
  begun_ = *pool_.take();
  return pool_.at(begun_);
}

int send_queue::post(ibv_send_wr& work, std::uint32_t slot, bool say) noexcept {
  work.wr_id = work_id::send(pair_, posted_).word();
  if (say) work.send_flags |= IBV_SEND_SIGNALED;
  const int code = on_->post(work);
  if (code != 0) {
    if (slot != no_slot) pool_.give(slot);
    return code;
  }
  slot_of_[posted_++ % depth] = slot;
  silent_ = say ? 0 : silent_ + 1;
  silent_slots_ = say ? 0 : silent_slots_ + (slot != no_slot ? 1 : 0);
  return 0;
}

int send_queue::post(std::size_t bytes, std::uint32_t read,
                     std::optional<named_place> into) noexcept {
  const std::uint32_t slot = std::exchange(begun_, no_slot);
  ibv_sge from{};
  from.addr = reinterpret_cast<std::uintptr_t>(slot == no_slot ? scratch_ : pool_.at(slot));
  from.length = static_cast<std::uint32_t>(bytes);
  from.lkey = slot == no_slot ? 0 : pool_.key();
  ibv_send_wr work{};
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = into ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM;
  if (into) work.wr.rdma = {into->address, into->key};
  work.imm_data = htonl(read);
  if (slot == no_slot) work.send_flags = IBV_SEND_INLINE;
  const bool scarce =
      slot != no_slot && (silent_slots_ + 1 >= slots_unsaid || pool_.free() < pool_.count() / 2);
  return post(work, slot, scarce || silent_ + 1 >= unsaid);
}

bool send_queue::mark_anew() noexcept {
  if (posted_ - done_ == depth) return true;  // among so many some are signalled
  ibv_send_wr nothing{};                      // to no place
  nothing.opcode = IBV_WR_RDMA_WRITE;
  return post(nothing, no_slot, true) == 0;
}

void send_queue::done(std::uint32_t place) noexcept {
  while (done_ != posted_ && static_cast<std::int32_t>(place - done_) >= 0) {
    const std::uint32_t slot = slot_of_[done_++ % depth];
    if (slot != no_slot) pool_.give(slot);
  }
}

void send_queue::shut() noexcept {
  on_.reset();
  if (posted_ != done_) done(posted_ - 1);
}

}  // namespace weft::transports::verbs
