// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/senders.hpp"

#include <weft/error.hpp>

#include "transports/qdma/table.hpp"

namespace weft::transports::qdma {

namespace {
// So many indices are left unused before one is given away again.
constexpr std::size_t resting = 64;
}  // namespace

vpid senders::add(pair& who, pid_t pid) {
  std::uint32_t index = 0;
  if (free_.size() > resting || (all_.size() == entry_count && !free_.empty())) {
    index = free_.front();
    free_.pop_front();
  } else if (all_.size() != entry_count) {
    index = static_cast<std::uint32_t>(all_.size());
    all_.emplace_back();
  } else {
    throw error(errc::out_of_memory, "4096 processes send to this context by qdma already");
  }
  sender& s = all_[index];
  const std::uint32_t generation = generation_of(s.id) % last_generation + 1;
  s = {vpid_of(generation, index), pid, start_of(pid), &who};
  return s.id;
}

void senders::remove(vpid v) noexcept {
  if (!find(v)) return;
  all_[index_of(v)].who = nullptr;
  try {
    free_.push_back(index_of(v));
  } catch (const std::bad_alloc&) {
    // No memory: it is not given away again.
  }
}

bool senders::lives(vpid v) const noexcept {
  const std::uint32_t i = index_of(v);
  if (i >= all_.size() || all_[i].id != v) return false;
  const sender& s = all_[i];
  return s.started == 0 ? s.who != nullptr : start_of(s.pid) == s.started;
}

}  // namespace weft::transports::qdma
