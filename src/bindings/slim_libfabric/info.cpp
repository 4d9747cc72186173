// SPDX-License-Identifier: Apache-2.0
// Copies of fi_info, whose parts lie in memory of malloc, each by itself: fi_getinfo(3).
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "bindings/slim_libfabric/abi.hpp"
#include "bindings/slim_libfabric/system_libfabric.hpp"

namespace {

/// A copy of `size` bytes in `from`, or null if there are none. \param ok false if memory is short
template <class T>
T* copy_of(const T* from, std::size_t size, bool& ok) noexcept {
  if (!from || size == 0) return nullptr;
  auto* const made = static_cast<T*>(std::malloc(size));
  if (made)
    std::memcpy(made, from, size);
  else
    ok = false;
  return made;
}

char* copy_of(const char* text, bool& ok) noexcept {
  return copy_of(text, text ? std::strlen(text) + 1 : 0, ok);
}

/// Attributes have a part of every info, empty if they are not given. The first `size` bytes are
/// copied: structures of older programs are shorter.
template <class T>
T* attributes(const T* from, bool& ok, std::size_t size = sizeof(T)) noexcept {
  auto* const made = static_cast<T*>(std::calloc(1, sizeof(T)));
  if (!made)
    ok = false;
  else if (from)
    std::memcpy(made, from, size);
  return made;
}

/// All pointers of the copy are its own, also if memory is short: then some are null.
bool copy_parts(const weft::slim::abi& of_caller, const fi_info& from, fi_info& into) noexcept {
  bool ok = true;
  into.next = nullptr;
  into.src_addr = copy_of(static_cast<const std::byte*>(from.src_addr), from.src_addrlen, ok);
  into.dest_addr = copy_of(static_cast<const std::byte*>(from.dest_addr), from.dest_addrlen, ok);
  into.tx_attr = attributes(from.tx_attr, ok);
  into.rx_attr = attributes(from.rx_attr, ok);
  into.ep_attr = attributes(from.ep_attr, ok);
  into.domain_attr = attributes(from.domain_attr, ok, of_caller.domain_attr_size);
  into.fabric_attr = attributes(from.fabric_attr, ok);
  if (fi_ep_attr* const e = into.ep_attr) e->auth_key = copy_of(e->auth_key, e->auth_key_size, ok);
  if (fi_domain_attr* const d = into.domain_attr) {
    d->auth_key = copy_of(d->auth_key, d->auth_key_size, ok);
    d->name = copy_of(d->name, ok);
  }
  if (fi_fabric_attr* const f = into.fabric_attr) {
    f->name = copy_of(f->name, ok);
    f->prov_name = copy_of(f->prov_name, ok);
  }
  return ok;
}

void free_one(fi_info* info) noexcept {
  std::free(info->src_addr);
  std::free(info->dest_addr);
  std::free(info->tx_attr);
  std::free(info->rx_attr);
  if (info->ep_attr) std::free(info->ep_attr->auth_key);
  std::free(info->ep_attr);
  if (info->domain_attr) {
    std::free(info->domain_attr->auth_key);
    std::free(info->domain_attr->name);
  }
  std::free(info->domain_attr);
  if (info->fabric_attr) {
    std::free(info->fabric_attr->name);
    std::free(info->fabric_attr->prov_name);
  }
  std::free(info->fabric_attr);
  if (info->nic) fi_close(&info->nic->fid);
  std::free(info);
}

}  // namespace

void fi_freeinfo(fi_info* info) {
  while (info) {
    fi_info* const next = info->next;
    free_one(info);
    info = next;
  }
}

fi_info* weft::slim::copy_info(const abi& of_caller, const fi_info* info) {
  // weft's provider describes no device; those of others can copy theirs.
  if (info && info->nic) {
    const auto copy = system_call<decltype(&fi_dupinfo)>("fi_dupinfo", of_caller.symbol_version);
    return copy ? copy(info) : nullptr;
  }
  auto* const made = static_cast<fi_info*>(std::calloc(1, sizeof(fi_info)));
  if (!made) return nullptr;
  const fi_info nothing{};
  if (info) *made = *info;
  if (copy_parts(of_caller, info ? *info : nothing, *made)) return made;
  fi_freeinfo(made);
  return nullptr;
}

fi_info* fi_dupinfo(const fi_info* info) {
  return weft::slim::copy_info(weft::slim::newest_abi, info);
}
