// SPDX-License-Identifier: Apache-2.0
// The provider's offer, in numbers that several files need. fi_getinfo(3).
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

namespace weft::ofi {

inline constexpr const char* provider_name = "weft";
inline constexpr std::uint32_t provider_version = FI_VERSION(1, 0);

/// Messages without a tag have this bit set in weft's tag; tags of applications do not use it.
/// Neither uses weft's reserved tags (first_reserved_tag).
inline constexpr std::uint64_t untagged = std::uint64_t{1} << 63;

/// Open MPI's tags have two bits for its own protocol (a synchronous send and its answer), which
/// its receives ignore: the hash leaves them out. mtl/ofi, "ofi_tag_full".
inline constexpr std::uint64_t hashed_tag_bits = ~(std::uint64_t{3} << 32);

/// Size of remote CQ data. It travels in weft's immediate word, with a bit that says that there is
/// some.
inline constexpr std::size_t cq_data_size = 4;
inline constexpr std::uint64_t has_cq_data = std::uint64_t{1} << 32;

/// Messages up to this many bytes are copied by fi_inject, and the caller's memory is free at once.
inline constexpr std::size_t inject_size = 256;

/// Transmit or receive contexts of a scalable endpoint: as many as a context of weft can have
/// lanes.
inline constexpr std::size_t most_contexts = 32;

/// The largest number of pieces of one message.
inline constexpr std::size_t most_pieces = 4;

inline constexpr std::uint64_t message_caps =
    FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV;
inline constexpr std::uint64_t access_caps =
    FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr std::uint64_t all_caps =
    message_caps | access_caps | FI_SOURCE | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_NAMED_RX_CTX;

/// The flags that an operation or an endpoint may have.
inline constexpr std::uint64_t operation_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
                                                 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
                                                 FI_MULTI_RECV;

/// FI_MR_BASIC and FI_MR_SCALABLE, the registration modes of libfabric before 1.5. Programs still
/// ask for them; the names are deprecated since libfabric 2.
inline constexpr int mr_basic = 1 << 0;
inline constexpr int mr_scalable = 1 << 1;

/// Whether the application calls the provider often, alone or from one thread at a time.
bool is_manual(fi_progress p) noexcept;

/// How peers name memory of a domain. fi_domain_attr::mr_mode
struct naming {
  bool by_address =
      false;  ///< FI_MR_VIRT_ADDR: by its address in this process; else by offsets from 0
  bool draws_keys =
      false;  ///< FI_MR_PROV_KEY: the provider chooses keys; else the application does
};
naming naming_of(int mr_mode) noexcept;

/// fi_provider::getinfo. Cheap, and without effect: every layered provider calls it, too.
int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
             const fi_info* hints, fi_info** info) noexcept;

}  // namespace weft::ofi
