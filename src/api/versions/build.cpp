// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <version>

#include <weft/build.hpp>

namespace weft {

const char* version() noexcept { return WEFT_VERSION; }

std::string compiler() {
#ifdef __clang__
  const std::string name =
      fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string name =
      fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
#ifdef _LIBCPP_VERSION
  const std::string library = fmt::format("libc++ {}", _LIBCPP_VERSION / 10'000);
#else
  const std::string library = fmt::format("libstdc++ {}", _GLIBCXX_RELEASE);
#endif
  return fmt::format("{}, C++{}, {}, {}", name, __cplusplus / 100 % 100, library, WEFT_PROCESSOR);
}

std::span<const build_part> build_parts() noexcept {
  static constexpr build_part all[] = {
      {"uring", "WEFT_WITH_URING", WEFT_BUILT_WITH_URING,
       "sleeps in an io_uring; without it in epoll"},
      {"tbb", "WEFT_WITH_TBB", WEFT_BUILT_WITH_TBB,
       "the threads of a pool are oneTBB's; without it its own"},
      {"tls", "WEFT_WITH_TLS", WEFT_BUILT_WITH_TLS,
       "encrypts what goes to other hosts over TCP, and has certificates; without it that is "
       "authenticated only, by the job's key"},
      {"verbs", "WEFT_WITH_VERBS", WEFT_BUILT_WITH_VERBS,
       "the transport verbs: InfiniBand and RoCE"},
      {"qdma", "WEFT_WITH_QDMA", WEFT_BUILT_WITH_QDMA,
       "the transport qdma, and its devices (weft/qdma.hpp)"},
      {"pmix", "WEFT_WITH_PMIX", WEFT_BUILT_WITH_PMIX, "jobs of mpirun and srun"},
      {"ofi", "WEFT_WITH_OFI", WEFT_BUILT_WITH_OFI,
       "libweft-fi.so, the provider for libfabric and so for MPI"},
      {"vipl", "WEFT_WITH_VIPL", WEFT_BUILT_WITH_VIPL, "libvipl-weft.so, the VI Provider Library"},
      {"probes", "WEFT_WITH_PROBES", WEFT_BUILT_WITH_PROBES,
       "static probes (USDT) for bpftrace, perf and gdb"}};
  return all;
}

}  // namespace weft
