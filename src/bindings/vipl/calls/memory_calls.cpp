// SPDX-License-Identifier: Apache-2.0
// Protection tags and registered memory: calls of vipl.h.
#include <algorithm>
#include <memory>
#include <utility>

#include "bindings/vipl/base/mapped_memory.hpp"
#include "bindings/vipl/vi/vi.hpp"

using namespace weft;
using namespace weft::vipl;

namespace {

/// Removes a registration, unless there is none or a descriptor uses it.
VIP_RETURN take_out(nic& n, void* address, VIP_MEM_HANDLE handle, bool own,
                    std::unique_ptr<registration>& taken) noexcept {
  const nic::locked lock(n);
  registration* const r = n.memory.find(handle);
  if (!r || r->bytes.data() != address || r->of_library() != own) return VIP_INVALID_PARAMETER;
  if (n.uses(*r, handle)) return VIP_ERROR_RESOURCE;
  count_user(r->attributes.Ptag, -1);
  taken = n.memory.remove(handle);
  return VIP_SUCCESS;
}

VIP_RETURN add(nic& n, std::unique_ptr<registration> r, VIP_MEM_HANDLE* handle) {
  if (!fits_as_tag(n, r->attributes.Ptag)) return VIP_INVALID_PTAG;
  r->tag = number_of_tag(r->attributes.Ptag);
  registration& made = *r;
  const std::lock_guard turn(n.memory_turn());
  VIP_MEM_HANDLE its = 0;
  {
    const nic::locked lock(n);
    its = n.memory.add(std::move(r));
    if (its == 0) return VIP_ERROR_RESOURCE;
    count_user(made.attributes.Ptag, 1);
  }
  try {
    n.show(made, its);
  } catch (...) {
    std::unique_ptr<registration> unused;
    take_out(n, made.bytes.data(), its, made.of_library(), unused);
    throw;
  }
  *handle = its;
  return VIP_SUCCESS;
}

VIP_RETURN deregister(VIP_NIC_HANDLE of, void* address, VIP_MEM_HANDLE handle, bool own) noexcept {
  nic* const n = object::at<nic>(of);
  if (!n) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    std::unique_ptr<registration> r;
    {
      const std::lock_guard turn(n->memory_turn());
      const VIP_RETURN result = take_out(*n, address, handle, own, r);
      if (result != VIP_SUCCESS) return result;
    }
    r->shown.reset();  // waits for peers that copy
    r->open.reset();
    n->forget_memory(handle);
    n->context().invalidate_registrations(r->bytes);
    return VIP_SUCCESS;
  });
}

}  // namespace

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE of, VIP_PROTECTION_HANDLE* made) {
  nic* const n = object::at<nic>(of);
  if (!n || !made) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    auto tag = std::make_unique<protection_tag>(*n, n->next_tag());
    const VIP_PROTECTION_HANDLE its = tag->handle();
    const nic::locked lock(*n);
    n->tags.add(std::move(tag));
    *made = its;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE of, VIP_PROTECTION_HANDLE handle) {
  nic* const n = object::at<nic>(of);
  protection_tag* const tag = object::at<protection_tag>(handle);
  if (!n || !tag || &tag->owner != n) return VIP_INVALID_PARAMETER;
  const nic::locked lock(*n);
  if (tag->users != 0) return VIP_ERROR_RESOURCE;
  n->tags.take(*tag);
  return VIP_SUCCESS;
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE of, VIP_PVOID address, VIP_ULONG length,
                          VIP_MEM_ATTRIBUTES* attributes, VIP_MEM_HANDLE* handle) {
  nic* const n = object::at<nic>(of);
  if (!n || !address || length == 0 || !attributes || !handle) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    auto r = std::make_unique<registration>();
    r->bytes = {static_cast<std::byte*>(address), length};
    if (!is_writable(r->bytes)) return VIP_INVALID_PARAMETER;
    r->attributes = *attributes;
    return add(*n, std::move(r), handle);
  });
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE of, VIP_PVOID address, VIP_MEM_HANDLE handle) {
  return deregister(of, address, handle, false);
}

VIP_RETURN VipAllocateMem(VIP_NIC_HANDLE of, VIP_PVOID* address, VIP_ULONG length,
                          VIP_MEM_ATTRIBUTES* attributes, VIP_MEM_HANDLE* handle) {
  nic* const n = object::at<nic>(of);
  if (!n || !address || length == 0 || !attributes || !handle) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    auto r = std::make_unique<registration>();
    try {
      r->own.emplace(n->context(), length);
      r->bytes = r->own->bytes();
    } catch (const error& e) {
      if (e.kind() != errc::unsupported) throw;
      r->plain.emplace(length);
      r->bytes = r->plain->bytes();
      std::fill(r->bytes.begin(), r->bytes.end(), std::byte{});
    }
    r->attributes = *attributes;
    *address = r->bytes.data();
    return add(*n, std::move(r), handle);
  });
}

VIP_RETURN VipFreeMem(VIP_NIC_HANDLE of, VIP_PVOID address, VIP_MEM_HANDLE handle) {
  return deregister(of, address, handle, true);
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE of, VIP_PVOID address, VIP_MEM_HANDLE handle,
                       VIP_MEM_ATTRIBUTES* attributes) {
  nic* const n = object::at<nic>(of);
  if (!n || !attributes) return VIP_INVALID_PARAMETER;
  const nic::locked lock(*n);
  const registration* const r = n->memory.find(handle);
  if (!r || !memory_table::contains(*r, address, 1)) return VIP_INVALID_PARAMETER;
  *attributes = r->attributes;
  return VIP_SUCCESS;
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE of, VIP_PVOID address, VIP_MEM_HANDLE handle,
                               VIP_MEM_ATTRIBUTES* attributes) {
  nic* const n = object::at<nic>(of);
  if (!n || !attributes) return VIP_INVALID_PARAMETER;
  if (!fits_as_tag(*n, attributes->Ptag)) return VIP_INVALID_PTAG;
  return guarded([&] {
    const std::lock_guard turn(n->memory_turn());
    registration* r = nullptr;
    {
      const nic::locked lock(*n);
      r = n->memory.find(handle);
      if (!r || !memory_table::contains(*r, address, 1)) return VIP_INVALID_PARAMETER;
      count_user(r->attributes.Ptag, -1);
      count_user(attributes->Ptag, 1);
      r->attributes = *attributes;
      r->tag = number_of_tag(attributes->Ptag);
    }
    n->withdraw_memory(*r, handle);
    r->shown.reset();
    r->open.reset();
    n->show(*r, handle);
    return VIP_SUCCESS;
  });
}
