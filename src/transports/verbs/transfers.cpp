// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/transfers.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weft::transports::verbs {

/// \return more than most_works: too many pieces, or fewer bytes than `size`
template <class Buffer>
std::uint32_t transfers::works_for(cursor<Buffer> here, std::size_t size) const noexcept {
  std::size_t works = 0;
  while (size != 0 && works <= most_works) {
    const Buffer run = here.run(size);
    if (run.empty()) return most_works + 1;
    works += (run.size() + longest_ - 1) / longest_;
    here.skip(run.size());
    size -= run.size();
  }
  return static_cast<std::uint32_t>(std::min<std::size_t>(works, most_works + 1));
}

/// Registers the memory. \return false: it cannot be registered
template <class Buffer>
bool transfers::enlist(cursor<Buffer> here, std::size_t size, memory_access how, transfer& t,
                       std::vector<ibv_sge>& works) {
  while (size != 0) {
    const Buffer run = here.run(size);
    // Memory that the device only reads is registered for nothing else.
    const std::span<std::byte> memory(const_cast<std::byte*>(run.data()), run.size());
    t.memory.push_back(cache_.get(memory, how));
    if (!t.memory.back()) return false;
    const std::uint64_t address = address_in(t.memory.back(), run.data());
    const std::uint32_t key = registration_of(t.memory.back()).local_key();
    for (std::size_t from = 0; from != run.size(); from += works.back().length) {
      const std::size_t n = std::min(longest_, run.size() - from);
      works.push_back({address + from, static_cast<std::uint32_t>(n), key});
    }
    here.skip(run.size());
    size -= run.size();
  }
  return true;
}

template <class Buffer>
post transfers::move(ibv_wr_opcode what, cursor<Buffer> here, remote_address there,
                     std::size_t size, std::uint64_t cookie, int& trouble) noexcept {
  named_place at = named_place::of(there);
  const std::uint32_t needed = works_for(here, size);
  if (needed == 0 || needed > most_works || size > most_named - at.address) return post::failed;
  if (queue_.places() < needed) return post::busy;
  const bool reads = what == IBV_WR_RDMA_READ;
  try {
    transfer t{cookie, 0, {}};
    std::vector<ibv_sge> works;
    works.reserve(needed);
    if (!enlist(here, size, reads ? memory_access::write : memory_access::read, t, works))
      return post::failed;
    under_way_.push_back(std::move(t));
    for (ibv_sge& piece : works) {
      ibv_send_wr work{};
      work.sg_list = &piece;
      work.num_sge = 1;
      work.opcode = what;
      work.wr.rdma = {at.address, at.key};
      // If posting breaks the queue pair, work posted before belongs to the device until the pair
      // ends.
      trouble = queue_.post(work, &piece == &works.back());
      if (trouble != 0) {
        silent_ = true;  // the transfer is not done when the work posted before the failure is
        break;
      }
      at.address += piece.length;
    }
    under_way_.back().last = queue_.last();
    return post::posted;
  } catch (const std::bad_alloc&) {
    return post::failed;
  }
}

post transfers::read(scatter into, remote_address from, std::size_t size, std::uint64_t cookie,
                     int& trouble) noexcept {
  return move(IBV_WR_RDMA_READ, into, from, size, cookie, trouble);
}

post transfers::write(gather data, remote_address to, std::size_t size, std::uint64_t cookie,
                      int& trouble) noexcept {
  return move(IBV_WR_RDMA_WRITE, data, to, size, cookie, trouble);
}

void transfers::done(std::uint32_t place, frame_sink& in) noexcept {
  while (!under_way_.empty() && static_cast<std::int32_t>(place - under_way_.front().last) >= 0) {
    const std::uint64_t cookie = under_way_.front().cookie;
    under_way_.pop_front();
    if (!silent_) in.on_transferred(cookie, true);
  }
}

std::optional<remote_address> transfers::show(std::span<std::byte> memory,
                                              memory_access how) noexcept {
  if (memory.empty()) return {};
  registration_cache::use known = cache_.get(memory, how);
  if (!known) return {};
  const std::uint64_t address = address_in(known, memory.data());
  if (address >= most_named || memory.size() > most_named - address) return {};
  const remote_address name = named_place{registration_of(known).remote_key(), address}.packed();
  try {
    shown_.push_back({name.packed(), std::move(known)});
  } catch (const std::bad_alloc&) {
    return {};
  }
  return name;
}

void transfers::withdraw(remote_address what) noexcept {
  const auto known = std::find_if(shown_.begin(), shown_.end(),
                                  [what](const shown& s) { return s.name == what.packed(); });
  if (known == shown_.end()) return;
  std::swap(*known, shown_.back());
  shown_.pop_back();
}

}  // namespace weft::transports::verbs
