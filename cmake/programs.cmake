# SPDX-License-Identifier: Apache-2.0
# Programs: weft-run, samples, weft-bench, and the helpers of tests.
include_guard()

# weft_compile_quickly(<target>): this one is on no message's way, so that a build for tests need not optimise it.
function(weft_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${WEFT_QUICK_FLAGS}>)
endfunction()

# weft_program(<target> SOURCES <files>... [LIBS <libs>...]) puts a program into <build>/bin.
function(weft_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE weft_program_dependencies ${ARG_LIBS})
  weft_own_flags(${target})
  weft_compile_quickly(${target})
endfunction()

# weft_c_program(<target> SOURCES <files>... [LIBS <libs>...]) is the same in C99, with nothing but what it names.
enable_language(C)
function(weft_c_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  if(WEFT_SANITIZE)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)  # the library wants the sanitizer's part for C++
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  weft_own_flags(${target})
endfunction()
