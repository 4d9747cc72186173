// SPDX-License-Identifier: Apache-2.0
// The memory that a NIC shows to RDMA of its peers, and that its VIs show for messages.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings/vipl/nic/nic.hpp"
#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

rights rights_of(const VIP_MEM_ATTRIBUTES& a) noexcept {
  if (a.EnableRdmaWrite) return a.EnableRdmaRead ? rights::read_write : rights::write;
  return a.EnableRdmaRead ? rights::read : rights::none;
}

}  // namespace

/// The key of a region contains a tag: peers of VIs without one have a region of their own.
void nic::show(registration& r, VIP_MEM_HANDLE handle) {
  const rights allowed = rights_of(r.attributes);
  if (allowed == rights::none) return;
  const auto show_by = [&](std::optional<region>& as, std::uint32_t tag) {
    if (!as)
      as.emplace(*context_, r.bytes, allowed,
                 region_name{region_key(secret_, access::rdma, tag, handle),
                             reinterpret_cast<std::uintptr_t>(r.bytes.data())});
  };
  show_by(r.shown, r.tag);
  if (memory_open_ && r.tag != no_tag) show_by(r.open, no_tag);
}

void nic::open_memory() {
  const std::lock_guard turn(memory_turn_);
  if (memory_open_) return;
  std::vector<VIP_MEM_HANDLE> all;
  {
    const locked lock(*this);
    all = memory.handles();
  }
  memory_open_ = true;
  try {
    for (const VIP_MEM_HANDLE handle : all) {
      registration* r = nullptr;
      {
        const locked lock(*this);
        r = memory.find(handle);
      }
      show(*r, handle);  // it stays: who removes it has the turn
    }
  } catch (...) {
    memory_open_ = false;  // the next one makes the regions that are missing
    throw;
  }
}

bool nic::uses(const registration& r, VIP_MEM_HANDLE handle) const noexcept {
  return std::any_of(vis_.begin(), vis_.end(), [&](const vi* v) {
    return v && (v->receives.uses(r, handle) || v->sends.uses(r, handle));
  });
}

void nic::forget_memory(VIP_MEM_HANDLE handle) {
  std::vector<std::shared_ptr<landing_place>> all;
  {
    const locked lock(*this);
    for (vi* v : vis_)
      if (v) all.push_back(v->receives.hide(handle));
  }
  for (const auto& place : all) place->forget(handle);
}

void nic::withdraw_memory(const registration& r, VIP_MEM_HANDLE handle) {
  std::vector<std::shared_ptr<landing_place>> all;
  {
    const locked lock(*this);
    for (vi* v : vis_)
      if (v && !may_use(v->tag(), r.tag)) {
        v->receives.withdraw(r, handle);
        all.push_back(v->receives.hide(handle));
      }
  }
  for (const auto& place : all) place->forget(handle);
}

}  // namespace weft::vipl
