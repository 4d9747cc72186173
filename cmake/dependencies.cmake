# SPDX-License-Identifier: Apache-2.0
# The libraries of Debian 12 that weft stands on. packages/build.txt names the packages.
include_guard()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(PkgConfig REQUIRED)

set(WEFT_HAVE_URING OFF)
if(NOT WEFT_WITH_URING STREQUAL "OFF")
  pkg_check_modules(liburing QUIET IMPORTED_TARGET liburing>=2.3)
  if(liburing_FOUND)
    set(WEFT_HAVE_URING ON)
  elseif(WEFT_WITH_URING STREQUAL "ON")
    message(FATAL_ERROR "weft: WEFT_WITH_URING=ON, but liburing 2.3 or newer was not found. "
      "Install liburing-dev, or choose AUTO or OFF.")
  else()
    message(STATUS "weft: liburing 2.3 not found, the engine will sleep in epoll (install liburing-dev to change that)")
  endif()
endif()

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

# InfiniBand and RoCE; without a device the library finds none, and the transport says so.
pkg_check_modules(ibverbs REQUIRED QUIET IMPORTED_TARGET libibverbs)

# A job of mpirun or srun: only the header, and at run time the library, if a launcher asks for it: docs/adr/0009.
set(WEFT_HAVE_PMIX OFF)
if(NOT WEFT_WITH_PMIX STREQUAL "OFF")
  pkg_check_modules(pmix QUIET pmix>=4)
  if(pmix_FOUND)
    set(WEFT_HAVE_PMIX ON)
    add_library(weft_pmix INTERFACE)
    target_include_directories(weft_pmix SYSTEM INTERFACE ${pmix_INCLUDE_DIRS})
    target_compile_definitions(weft_pmix INTERFACE WEFT_HAVE_PMIX)
    target_link_libraries(weft_pmix INTERFACE ${CMAKE_DL_LIBS})
  elseif(WEFT_WITH_PMIX STREQUAL "ON")
    message(FATAL_ERROR "weft: WEFT_WITH_PMIX=ON, but PMIx 4 or newer was not found. "
      "Install libpmix-dev, or choose AUTO or OFF.")
  else()
    message(STATUS "weft: PMIx was not found, mpirun and srun start lone processes (install libpmix-dev to change that)")
  endif()
endif()

# What only programs use: command lines, JSON lines, pinning, pictures.
add_library(weft_program_dependencies INTERFACE)
if(WEFT_BUILD_TOOLS OR WEFT_BUILD_SAMPLES OR WEFT_BUILD_BENCH OR WEFT_BUILD_TESTS)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  pkg_check_modules(hwloc REQUIRED QUIET IMPORTED_TARGET hwloc)
  find_package(PNG REQUIRED)
  target_link_libraries(weft_program_dependencies INTERFACE
    CLI11::CLI11 nlohmann_json::nlohmann_json PkgConfig::hwloc PNG::PNG fmt::fmt)
endif()
