# SPDX-License-Identifier: Apache-2.0
# What a person may choose besides the optional parts (cmake/dependencies.cmake), and the settings that hold for every
# target.
include_guard()

option(WEFT_WERROR "Treat warnings as errors" OFF)
option(WEFT_IPO "Optimise across files where the compiler can" OFF)
option(WEFT_ASSERTIONS "Let the standard library check its own preconditions" OFF)
set(WEFT_QUICK_FLAGS "" CACHE STRING "Compiler options of what is on no message's way: wire-up, programs, tests")
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for everything, for example address,undefined or thread")

# Programs and tests are for those who work on weft, not for projects that include it.
option(WEFT_BUILD_TOOLS "Build weft-run, weft-mpirun and weft-info" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_SAMPLES "Build the samples" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_BENCH "Build weft-bench" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_LONG_TESTS "Also register the soak tests, tagged [.soak]" OFF)
set(WEFT_TESTS all CACHE STRING "Which tests: all; again (without what no other compiler and no sanitizer changes); \
in_process (of these, what one process can show); release (what another release of Debian can change); \
emulated (what an emulator of another processor can run)")
set_property(CACHE WEFT_TESTS PROPERTY STRINGS all again in_process release emulated)
option(WEFT_MPI_PROGRAMS "Also run Debian's programs that use MPI (packages/mpi.txt)" OFF)
option(WEFT_GUEST_TESTS "Also run the suites over verbs, in a virtual machine if there is no RDMA device" OFF)
option(WEFT_FUZZ "Link the fuzz targets with libFuzzer (clang), instead of replaying their corpus" OFF)
option(WEFT_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  include(CTest)

  find_program(WEFT_CCACHE ccache)
  if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WEFT_CCACHE}")
  endif()
else()
  # For weft's own folders only: who includes it has chosen nothing for them yet, and without optimisation a message
  # costs several times as much. Files that are compiled together take a third of the time.
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
    message(STATUS "weft: compiled for Release; CMAKE_BUILD_TYPE is empty, so the project itself is not optimised")
  endif()
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set(CMAKE_UNITY_BUILD ON)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
include(GNUInstallDirs)
include(CheckPIESupported)
check_pie_supported()

if(WEFT_IPO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT WEFT_IPO_WORKS OUTPUT WEFT_IPO_REASON LANGUAGES CXX)
  if(NOT WEFT_IPO_WORKS)
    message(STATUS "weft: no optimisation across files: ${WEFT_IPO_REASON}")
  endif()
endif()
