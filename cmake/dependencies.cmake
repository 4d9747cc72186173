# SPDX-License-Identifier: Apache-2.0
# The libraries that weft stands on: those of Debian 12 and newer (docs/install.md). packages/build.txt names the packages.
include_guard()
include(parts)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

# Asio comes as headers without a CMake package.
find_path(WEFT_ASIO_INCLUDE_DIR asio.hpp)
if(NOT WEFT_ASIO_INCLUDE_DIR)
  message(FATAL_ERROR "weft: asio.hpp was not found. Install libasio-dev.")
endif()
add_library(weft_asio INTERFACE)
target_include_directories(weft_asio SYSTEM INTERFACE "${WEFT_ASIO_INCLUDE_DIR}")
target_compile_definitions(weft_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
target_link_libraries(weft_asio INTERFACE Threads::Threads)

# HMAC-SHA256 for the job key, X25519 for the keys of contexts: docs/adr/0008, docs/adr/0026.
pkg_check_modules(nettle REQUIRED QUIET IMPORTED_TARGET nettle hogweed)
include(versions)

weft_part(URING "Sleep in an io_uring" PKG_CONFIG liburing liburing>=2.3 INSTALL liburing-dev
  WITHOUT "the engine sleeps in epoll")
weft_part(TBB "A pool of oneTBB threads" PACKAGE TBB INSTALL libtbb-dev
  WITHOUT "a pool has threads of its own, and oneTBB's algorithms do not use them")
weft_part(TLS "Encrypt what goes to other hosts over TCP" PKG_CONFIG openssl openssl>=3 INSTALL libssl-dev
  WITHOUT "TCP is authenticated only, by the job's key; WEFT_TCP_TLS=yes and certificates are errors")
# Without a device the library finds none, and the transport says so.
weft_part(VERBS "InfiniBand and RoCE" PKG_CONFIG ibverbs libibverbs INSTALL libibverbs-dev
  WITHOUT "there is no transport verbs")
weft_part(QDMA "The transport and the device qdma")
# A job of mpirun or srun: only the header, and at run time the library, if a launcher asks for it: docs/adr/0009.
weft_part(PMIX "Take part in jobs of mpirun and srun" PKG_CONFIG pmix pmix>=4 INSTALL libpmix-dev
  WITHOUT "mpirun and srun start lone processes")
weft_part(OFI "libweft-fi.so, the provider for libfabric" PKG_CONFIG LIBFABRIC libfabric>=1.17 INSTALL libfabric-dev
  WITHOUT "there is no libweft-fi.so, and so no MPI on weft")
weft_part(VIPL "libvipl-weft.so, the VI Provider Library")
# Only the header: what it makes are notes in the programs.
weft_part(PROBES "Static probes for bpftrace, perf and gdb" HEADER sys/sdt.h INSTALL systemtap-sdt-dev
  WITHOUT "programs have no static probes")

if(WEFT_HAVE_PMIX)
  add_library(weft_pmix INTERFACE)
  target_include_directories(weft_pmix SYSTEM INTERFACE ${pmix_INCLUDE_DIRS})
  target_compile_definitions(weft_pmix INTERFACE WEFT_HAVE_PMIX)
  target_link_libraries(weft_pmix INTERFACE ${CMAKE_DL_LIBS})
endif()

# What only programs use: command lines and JSON; cores (weft-mpirun); pictures (heat).
add_library(weft_program_dependencies INTERFACE)
if(WEFT_BUILD_TOOLS OR WEFT_BUILD_SAMPLES OR WEFT_BUILD_BENCH OR WEFT_BUILD_TESTS)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  target_link_libraries(weft_program_dependencies INTERFACE CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt)
endif()
if(WEFT_BUILD_TOOLS AND WEFT_HAVE_OFI)
  pkg_check_modules(hwloc REQUIRED QUIET IMPORTED_TARGET hwloc)
endif()
if(WEFT_BUILD_SAMPLES)
  find_package(PNG REQUIRED)
endif()
