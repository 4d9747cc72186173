# SPDX-License-Identifier: Apache-2.0
# Programs: weft-run, samples, weft-bench, and the helpers of tests.
include_guard()

# weft_program(<target> SOURCES <files>... [LIBS <libs>...]) puts a program into <build>/bin.
function(weft_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE weft_program_dependencies ${ARG_LIBS})
  weft_own_flags(${target})
endfunction()
