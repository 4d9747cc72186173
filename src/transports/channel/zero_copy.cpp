// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/zero_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace weft::transports::channel {

// --- the writer ----------------------------------------------------------------------------------

std::size_t zero_copy_channel::put(std::span<const const_buffer> data) {
  line_.check();
  gather from(data);
  std::size_t n = 0;
  for (const_buffer next = from.run(longest_); !next.empty(); next = from.run(longest_)) {
    if (offered_) return end_offer(next);
    if (next.size() >= threshold_) {
      if (n != 0 || make_offer(next)) return n;
      // The device does not take that memory, so it is copied.
    }
    const std::size_t taken = put_copied(from, next.size());
    n += taken;
    if (taken != next.size()) break;
  }
  return n;
}

/// \return false: the memory cannot be registered
bool zero_copy_channel::make_offer(const_buffer bytes) {
  if (chunks_.room() == 0) return true;  // later
  // Memory that the peer only reads is registered for nothing else.
  run r{{const_cast<std::byte*>(bytes.data()), bytes.size()}};
  if (!line_.lend(r.memory, memory_access::read, r.known)) return false;
  const offer o{reads_ ? r.known.place : 0, bytes.size()};
  std::memcpy(chunks_.place(sizeof o), &o, sizeof o);
  chunks_.fill(chunk_kind::offer, sizeof o);
  chunks_.post();
  ++offers_;
  offered_ = std::move(r);
  return true;
}

std::size_t zero_copy_channel::end_offer(const_buffer bytes) {
  if (bytes.data() != offered_->memory.data() || bytes.size() < offered_->memory.size())
    throw error(
        errc::invalid_argument,
        "RDMA channel: put wants the same bytes again until it has said how many were taken");
  std::size_t n = 0;
  if (reads_) {
    n = line_.hear(&words::moved, put_, put_ + offered_->memory.size()) - put_;
    put_ += n;
  } else {
    n = end_written_offer();
  }
  if (n != 0) offered_.reset();
  return n;
}

std::size_t zero_copy_channel::end_written_offer() {
  if (!offered_->work) {
    invitation there{};
    if (!line_.hear_invitation(offers_, there) || line_.places() < 2) return 0;
    if (there.size == 0 || there.size > offered_->memory.size())
      line_.lie(fmt::format("it invites {} bytes, of {} that were offered", there.size,
                            offered_->memory.size()));
    offered_->memory = offered_->memory.first(there.size);
    offered_->work = line_.write_to(offered_->known, offered_->memory, there.place);
    put_ += there.size;
    line_.tell(&words::moved, put_);
  }
  line_.look();
  return line_.is_done(*offered_->work) ? offered_->memory.size() : 0;
}

// --- the reader ----------------------------------------------------------------------------------

std::size_t zero_copy_channel::get(std::span<const mutable_buffer> into) {
  line_.check();
  scatter to(into);
  if (arriving_) return end_arrival(to.run(longest_));
  const std::size_t n = get_copied(to);
  // A long run waits for a call of its own, which returns 0. By now data may have come, too.
  if (const mutable_buffer next = to.run(longest_); n == 0 && !next.empty()) {
    const chunks::arrived* const first = chunks_.front();
    if (first && first->kind == chunk_kind::offer) begin_arrival(next);
  }
  return n;
}

void zero_copy_channel::begin_arrival(mutable_buffer into) {
  offer o{};
  std::memcpy(&o, chunks_.front()->bytes.data(), sizeof o);
  if (o.size == 0) line_.lie("it offers nothing");
  if (line_.places() < 2) return;
  run r{into.first(std::min<std::size_t>(into.size(), o.size))};
  if (!line_.lend(r.memory, memory_access::write, r.known))
    line_.fail(errc::out_of_memory, line_.refusal());
  if (reads_)
    r.work = line_.read(r.known, r.memory, o.place);
  else
    line_.invite(r.known.place, r.memory.size(), ++invitations_);
  arriving_ = std::move(r);
}

std::size_t zero_copy_channel::end_arrival(mutable_buffer into) {
  const std::size_t size = arriving_->memory.size();
  if (into.data() != arriving_->memory.data() || into.size() < size)
    throw error(errc::invalid_argument,
                "RDMA channel: get wants the same memory again until it has said how much came");
  if (reads_) {
    line_.look();
    if (!line_.is_done(*arriving_->work) || line_.places() == 0) return 0;
    line_.tell(&words::moved, got_ + size);
  } else {
    const std::uint64_t moved = line_.hear(&words::moved, got_, got_ + size);
    if (moved == got_) return 0;
    if (moved != got_ + size)
      line_.lie(
          fmt::format("it has written {} bytes, of {} that it was invited to", moved - got_, size));
  }
  got_ += size;
  arriving_.reset();
  chunks_.take(sizeof(offer));
  return size;
}

void zero_copy_channel::close() noexcept {
  chunked_channel::close();
  offered_.reset();
  arriving_.reset();
}

}  // namespace weft::transports::channel
