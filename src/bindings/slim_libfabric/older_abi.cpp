// SPDX-License-Identifier: Apache-2.0
// The calls of programs that were built with an older libfabric than weft: Debian 13's Open MPI is
// one.
#include <cstdint>

#include "bindings/slim_libfabric/abi.hpp"

namespace slim = weft::slim;

#if WEFT_SLIM_ABI > 3
extern "C" {
int weft_slim_getinfo_1_3(std::uint32_t version, const char* node, const char* service,
                          std::uint64_t flags, const fi_info* hints, fi_info** info) {
  return slim::get_info(slim::abi_1_3, version, node, service, flags, hints, info);
}
fi_info* weft_slim_dupinfo_1_3(const fi_info* info) { return slim::copy_info(slim::abi_1_3, info); }
void weft_slim_freeinfo_1_3(fi_info* info) { fi_freeinfo(info); }
}
asm(".symver weft_slim_getinfo_1_3, fi_getinfo@FABRIC_1.3");
asm(".symver weft_slim_dupinfo_1_3, fi_dupinfo@FABRIC_1.3");
asm(".symver weft_slim_freeinfo_1_3, fi_freeinfo@FABRIC_1.3");
#endif

#if WEFT_SLIM_ABI > 7
extern "C" {
int weft_slim_getinfo_1_7(std::uint32_t version, const char* node, const char* service,
                          std::uint64_t flags, const fi_info* hints, fi_info** info) {
  return slim::get_info(slim::abi_1_7, version, node, service, flags, hints, info);
}
fi_info* weft_slim_dupinfo_1_7(const fi_info* info) { return slim::copy_info(slim::abi_1_7, info); }
void weft_slim_freeinfo_1_7(fi_info* info) { fi_freeinfo(info); }
}
asm(".symver weft_slim_getinfo_1_7, fi_getinfo@FABRIC_1.7");
asm(".symver weft_slim_dupinfo_1_7, fi_dupinfo@FABRIC_1.7");
asm(".symver weft_slim_freeinfo_1_7, fi_freeinfo@FABRIC_1.7");
#endif
