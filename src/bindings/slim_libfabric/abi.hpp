// SPDX-License-Identifier: Apache-2.0
// The binary interfaces of libfabric: the versions of the calls that take or make a fi_info.
// Programs are linked with the one that was newest when they were built.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

namespace weft::slim {

/// What differs between them: fi_domain_attr has grown at its end, and callers make their own.
struct abi {
  const char* symbol_version;
  std::size_t domain_attr_size;
};

/// Of the structure that the headers of this build have.
template <class Attributes = fi_domain_attr>
constexpr std::size_t size_of_1_3() {
  if constexpr (requires(Attributes d) { d.max_ep_auth_key; })
    return offsetof(Attributes, max_ep_auth_key);
  else
    return sizeof(Attributes);
}
template <class Attributes = fi_domain_attr>
constexpr std::size_t size_of_1_7() {
  if constexpr (requires(Attributes d) { d.max_group_id; })
    return offsetof(Attributes, max_group_id);
  else
    return sizeof(Attributes);
}

inline constexpr abi abi_1_3{"FABRIC_1.3", size_of_1_3()};
inline constexpr abi abi_1_7{"FABRIC_1.7", size_of_1_7()};           // libfabric 1.20
inline constexpr abi abi_1_8{"FABRIC_1.8", sizeof(fi_domain_attr)};  // libfabric 2.0

/// The interface of this build's headers, which weft's provider is linked with.
inline constexpr const abi& newest_abi = WEFT_SLIM_ABI == 8   ? abi_1_8
                                         : WEFT_SLIM_ABI == 7 ? abi_1_7
                                                              : abi_1_3;

/// fi_getinfo and fi_dupinfo for callers of one of them. What they return is freed by fi_freeinfo
/// of any.
int get_info(const abi& of_caller, std::uint32_t version, const char* node, const char* service,
             std::uint64_t flags, const fi_info* hints, fi_info** info);
fi_info* copy_info(const abi& of_caller, const fi_info* info);

}  // namespace weft::slim
