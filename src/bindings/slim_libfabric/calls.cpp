// SPDX-License-Identifier: Apache-2.0
// libfabric's calls for applications, answered for weft's provider alone. What names another
// provider goes to the system's libfabric.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdint>
#include <cstring>

#include "bindings/slim_libfabric/abi.hpp"
#include "bindings/slim_libfabric/system_libfabric.hpp"
#include "bindings/slim_libfabric/weft_provider.hpp"

using weft::slim::means_weft;
using weft::slim::system_call;
using weft::slim::weft_provider;

std::uint32_t fi_version() { return FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION); }

int weft::slim::get_info(const abi& of_caller, std::uint32_t version, const char* node,
                         const char* service, std::uint64_t flags, const fi_info* hints,
                         fi_info** info) {
  const fi_fabric_attr* const asked = hints ? hints->fabric_attr : nullptr;
  if (asked && !means_weft(asked->prov_name)) {
    const auto ask = system_call<decltype(&fi_getinfo)>("fi_getinfo", of_caller.symbol_version);
    return ask ? ask(version, node, service, flags, hints, info) : -FI_ENODATA;
  }
  // As libfabric: then programs ask again with an older version.
  if (FI_VERSION_LT(fi_version(), version)) return -FI_ENOSYS;
  fi_provider* const weft = weft_provider();
  if (!weft) return -FI_ENODATA;
  *info = nullptr;
  const int failure = weft->getinfo(version, node, service, flags, hints, info);
  for (fi_info* one = failure == 0 ? *info : nullptr; one; one = one->next) {
    one->fabric_attr->prov_name = ::strdup(weft->name);
    if (one->fabric_attr->prov_name) continue;
    fi_freeinfo(*info);
    return -FI_ENOMEM;
  }
  return failure;
}

int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, fi_info** info) {
  return weft::slim::get_info(weft::slim::newest_abi, version, node, service, flags, hints, info);
}

int fi_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
  if (!attr || !attr->prov_name || !attr->name) return -FI_EINVAL;
  if (!means_weft(attr->prov_name)) {
    const auto open = system_call<decltype(&fi_fabric)>("fi_fabric", "FABRIC_1.1");
    return open ? open(attr, fabric, context) : -FI_ENODEV;
  }
  fi_provider* const weft = weft_provider();
  return weft ? weft->fabric(attr, fabric, context) : -FI_ENODEV;
}

#if WEFT_SLIM_ABI >= 8
int fi_fabric2(fi_info* info, fid_fabric** fabric, std::uint64_t flags, void* context) {
  return flags != 0 ? -FI_EBADFLAGS : fi_fabric(info->fabric_attr, fabric, context);
}
#endif

/// Objects of libfabric itself: its cache of registrations, of which weft has its own.
int fi_open(std::uint32_t /*version*/, const char* /*name*/, void* /*attr*/, std::size_t /*size*/,
            std::uint64_t /*flags*/, fid** /*made*/, void* /*context*/) {
  return -FI_ENOSYS;
}

/// The texts for libfabric's own codes are the system's.
const char* fi_strerror(int code) {
  if (code < FI_ERRNO_OFFSET) return ::strerror(code);
  const auto say = system_call<decltype(&fi_strerror)>("fi_strerror", "FABRIC_1.0");
  return say ? say(code) : "an error of libfabric";
}

char* fi_tostr(const void* value, fi_type type) {
  const auto say = system_call<decltype(&fi_tostr)>("fi_tostr", "FABRIC_1.0");
  static char nothing[] = "";
  return say ? say(value, type) : nothing;
}

char* fi_tostr_r(char* into, std::size_t size, const void* value, fi_type type) {
  const auto say = system_call<decltype(&fi_tostr_r)>("fi_tostr_r", "FABRIC_1.4");
  if (say) return say(into, size, value, type);
  if (size != 0) *into = '\0';
  return into;
}
