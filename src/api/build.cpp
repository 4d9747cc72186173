// SPDX-License-Identifier: Apache-2.0
#include <weft/build.hpp>

namespace weft {

const char* version() noexcept { return WEFT_VERSION; }

std::span<const build_part> build_parts() noexcept {
  static constexpr build_part all[] = {
      {"uring", "WEFT_WITH_URING", WEFT_BUILT_WITH_URING,
       "sleeps in an io_uring; without it in epoll"},
      {"tbb", "WEFT_WITH_TBB", WEFT_BUILT_WITH_TBB,
       "the threads of a pool are oneTBB's; without it its own"},
      {"verbs", "WEFT_WITH_VERBS", WEFT_BUILT_WITH_VERBS,
       "the transport verbs: InfiniBand and RoCE"},
      {"qdma", "WEFT_WITH_QDMA", WEFT_BUILT_WITH_QDMA,
       "the transport qdma, and its devices (weft/qdma.hpp)"},
      {"pmix", "WEFT_WITH_PMIX", WEFT_BUILT_WITH_PMIX, "jobs of mpirun and srun"},
      {"ofi", "WEFT_WITH_OFI", WEFT_BUILT_WITH_OFI,
       "libweft-fi.so, the provider for libfabric and so for MPI"},
      {"vipl", "WEFT_WITH_VIPL", WEFT_BUILT_WITH_VIPL, "libvipl-weft.so, the VI Provider Library"}};
  return all;
}

}  // namespace weft
