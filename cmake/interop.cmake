# SPDX-License-Identifier: Apache-2.0
# Headers for other libraries, in include/weft/interop: a target brings what its headers include.
include_guard()

# weft_interop(<target> NAME <name>) makes weft::NAME, on top of weft::weft.
function(weft_interop target)
  cmake_parse_arguments(ARG "" "NAME" "" ${ARGN})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE weft)
  add_library(weft::${ARG_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_NAME})
  set_property(GLOBAL APPEND PROPERTY WEFT_INTEROP ${target})
endfunction()

# weftConfig.cmake looks for Asio again: it need not be where it was.
weft_interop(weft_interop_asio NAME asio)
target_include_directories(weft_interop_asio SYSTEM INTERFACE $<BUILD_INTERFACE:${WEFT_ASIO_INCLUDE_DIR}>)
target_compile_definitions(weft_interop_asio INTERFACE ASIO_STANDALONE)

weft_interop(weft_interop_execution NAME execution)
