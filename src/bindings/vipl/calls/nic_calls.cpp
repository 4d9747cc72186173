// SPDX-License-Identifier: Apache-2.0
// The NIC and the name service: calls of vipl.h.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "bindings/vipl/base/host_names.hpp"
#include "bindings/vipl/nic/nic.hpp"

using namespace weft;
using namespace weft::vipl;

namespace {

/// Programs print the code, which does not tell which variable of the environment is wrong.
void tell_why(const char* reason) noexcept { std::fprintf(stderr, "VipOpenNic: %s\n", reason); }

}  // namespace

VIP_RETURN VipOpenNic(const VIP_CHAR* name, VIP_NIC_HANDLE* made) {
  const std::size_t length = name ? std::strlen(name) : 0;
  if (length == 0 || length >= sizeof(VIP_NIC_ATTRIBUTES::Name) || !made) {
    tell_why(made ? "the name of a device has 1 to 63 bytes" : "there is no place for the handle");
    return VIP_INVALID_PARAMETER;
  }
  return guarded([&] {
    try {
      *made = (new nic(name))->handle();
      return VIP_SUCCESS;
    } catch (const std::exception& e) {
      tell_why(e.what());
      throw;
    }
  });
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE handle) {
  nic* const n = object::at<nic>(handle);
  if (!n) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    delete n;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE handle, VIP_NIC_ATTRIBUTES* a) {
  nic* const n = object::at<nic>(handle);
  if (!n || !a) return VIP_INVALID_PARAMETER;
  *a = {};
  std::memcpy(a->Name, n->name().c_str(), n->name().size() + 1);
  a->HardwareVersion = 1;
  a->ProviderVersion = 1;
  a->NicAddressLen = static_cast<VIP_UINT16>(n->address().size());
  a->LocalNicAddress = n->address().data();
  a->ThreadSafe = VIP_TRUE;
  a->MaxDiscriminatorLen = longest_discriminator;
  a->MaxRegisterBytes = ~VIP_ULONG{0};
  a->MaxRegisterRegions = (VIP_ULONG{1} << 20) - 1;
  a->MaxRegisterBlockBytes = (VIP_ULONG{1} << 47);
  a->MaxVI = most_vis;
  a->MaxDescriptorsPerQueue = VIP_ULONG{1} << 20;
  a->MaxSegmentsPerDesc = most_segments;
  a->MaxCQ = VIP_ULONG{1} << 20;
  a->MaxCQEntries = VIP_ULONG{1} << 20;
  a->MaxTransferSize = longest_transfer;
  a->NativeMTU = longest_inline;
  a->MaxPtags = VIP_ULONG{1} << 20;
  a->ReliabilityLevelSupport =
      VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  a->RDMAReadSupport = VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  return VIP_SUCCESS;
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE handle, VIP_PVOID context, VIP_ERROR_HANDLER handler) {
  nic* const n = object::at<nic>(handle);
  if (!n) return VIP_INVALID_PARAMETER;
  n->set_error_handler(handler, context);
  return VIP_SUCCESS;
}

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE handle, VIP_ULONG, VIP_PVOID info) {
  if (!object::at<nic>(handle) || !info) return VIP_INVALID_PARAMETER;
  return VIP_ERROR_NOT_SUPPORTED;
}

// --- name service -------------------------------------------------------------------------------

VIP_RETURN VipNSInit(VIP_NIC_HANDLE handle, VIP_PVOID) {
  nic* const n = object::at<nic>(handle);
  if (!n) return VIP_INVALID_PARAMETER;
  n->names_open = true;
  return VIP_SUCCESS;
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE handle) {
  nic* const n = object::at<nic>(handle);
  if (!n) return VIP_INVALID_PARAMETER;
  return n->names_open.exchange(false) ? VIP_SUCCESS : VIP_ERROR_NAMESERVICE;
}

VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE handle, VIP_CHAR* name, VIP_NET_ADDRESS* address,
                              VIP_ULONG index) {
  nic* const n = object::at<nic>(handle);
  if (!n || !name || !address) return VIP_INVALID_PARAMETER;
  if (!n->names_open) return VIP_ERROR_NAMESERVICE;
  return guarded([&] {
    const std::vector<host_address> all = addresses_of(name);
    if (index >= all.size()) return VIP_ERROR_NAMESERVICE;
    const VIP_UINT16 kept = address->DiscriminatorLen;
    address->HostAddressLen = address->DiscriminatorLen = 0;
    write_address({all[index], {}}, *address);
    address->DiscriminatorLen = kept;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE handle, VIP_NET_ADDRESS* address, VIP_CHAR* name,
                              VIP_ULONG* length) {
  nic* const n = object::at<nic>(handle);
  if (!n || !address || !length || (!name && *length != 0) || address->HostAddressLen != 4)
    return VIP_INVALID_PARAMETER;
  if (!n->names_open) return VIP_ERROR_NAMESERVICE;
  return guarded([&] {
    host_address a;
    std::memcpy(
        a.data(),
        reinterpret_cast<const std::byte*>(address) + offsetof(VIP_NET_ADDRESS, HostAddress),
        a.size());
    const std::string found = name_of(a);
    if (found.empty()) return VIP_ERROR_NAMESERVICE;
    const VIP_ULONG room = *length;
    *length = found.size() + 1;
    if (room < *length) return VIP_ERROR_RESOURCE;
    std::memcpy(name, found.c_str(), *length);
    return VIP_SUCCESS;
  });
}
