// SPDX-License-Identifier: Apache-2.0
#include "proto/match/unexpected_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "proto/select/select.hpp"
#include "proto/services/upkeep.hpp"

namespace weft::proto {

unexpected_memory::unexpected_memory(std::size_t budget, std::optional<std::size_t> fixed_credit,
                                     metrics& counts, proto::upkeep& upkeep) noexcept
    : counts_(&counts),
      upkeep_(&upkeep),
      budget_(static_cast<std::int64_t>(std::min<std::size_t>(budget / credit_unit, 1u << 30))),
      left_(budget_) {
  if (fixed_credit) fixed_ = fixed_grant(*fixed_credit);
}

bool unexpected_memory::store(inbound_message& m) noexcept {
  m.charged = sizeof m;
  if (m.stored_size > inbound_message::short_size) {
    m.allocated.reset(static_cast<std::byte*>(std::malloc(m.stored_size)));
    if (!m.allocated) {
      m.charged = 0;
      return false;
    }
    m.charged += m.stored_size;
  }
  if (m.stored_size != 0) m.stored = m.allocated ? m.allocated.get() : m.brief.data();
  counts_->unexpected_bytes_now += m.charged;
  counts_->unexpected_bytes_peak =
      std::max(counts_->unexpected_bytes_peak, counts_->unexpected_bytes_now);
  return true;
}

bool unexpected_memory::store_again(inbound_message& m) noexcept {
  const std::uint32_t units = units_of(m.stored_size);
  if (left_ < units || !store(m)) return false;
  left_ -= m.reserved = units;
  return true;
}

void unexpected_memory::trim(inbound_message& m) noexcept {
  if (!m.allocated || m.arrived == m.stored_size) return;
  std::byte* shorter = nullptr;
  if (m.arrived != 0) {
    shorter = static_cast<std::byte*>(std::realloc(m.allocated.get(), m.arrived));
    if (!shorter) return;
    static_cast<void>(m.allocated.release());
  }
  m.allocated.reset(shorter);
  m.stored = shorter;
  const std::uint64_t less = m.stored_size - m.arrived;
  counts_->unexpected_bytes_now -= less;
  m.charged -= less;
  m.stored_size = m.arrived;
}

void unexpected_memory::unstore(inbound_message& m) noexcept {
  counts_->unexpected_bytes_now -= std::exchange(m.charged, 0);
  give_back(std::exchange(m.reserved, 0));
}

std::uint32_t unexpected_memory::take(std::uint32_t units) noexcept {
  const std::uint32_t taken = std::min(left(), units);
  left_ -= taken;
  return taken;
}

void unexpected_memory::give_back(std::uint32_t units) noexcept {
  if (units == 0) return;
  left_ += units;
  if (left() != 0) upkeep_->note_budget();
}

std::uint32_t unexpected_memory::take_first() noexcept {
  const std::uint32_t taken = fixed_ ? *fixed_ : first_grant(budget_, left_);
  left_ -= taken;
  return taken;
}

}  // namespace weft::proto
