# SPDX-License-Identifier: Apache-2.0
# One static library per folder of src/. It links only to the layers below it.
include_guard()

# Includes relative to src/ ("runtime/progress/engine.hpp"); never installed, never seen by users.
add_library(weft_private INTERFACE)
target_include_directories(weft_private INTERFACE "${PROJECT_SOURCE_DIR}/src")

# weft_layer(<target> [NAME <alias>] [ROOMS <folders>...] [WITHOUT <files>...] [PUBLIC <libs>...] [PRIVATE <libs>...])
#
# Sources are the *.cpp of the calling folder and its rooms except those of WITHOUT, found again at each build. A folder
# that holds headers only becomes an interface library, so that the layers above it need not know. The rooms of a layer
# are one target: tests/layers/rooms.cmake keeps them apart, and common headers are compiled once.
function(weft_layer target)
  cmake_parse_arguments(ARG "" "NAME" "ROOMS;WITHOUT;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ARG_NAME)
    string(REGEX REPLACE "^weft_" "" ARG_NAME ${target})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(room IN LISTS ARG_ROOMS)
    file(GLOB of_room CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp")
    list(APPEND sources ${of_room})
  endforeach()
  list(TRANSFORM ARG_WITHOUT PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(REMOVE_ITEM sources ${ARG_WITHOUT})

  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft_private> ${ARG_PRIVATE})
    weft_own_flags(${target})
    # A sanitizer's build takes longer than its tests, unless all that most messages do not pass is left as it is.
    if(WEFT_SANITIZE AND NOT target MATCHES "^weft_(coro|runtime|proto|transport)")
      weft_compile_quickly(${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_PRIVATE})
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${ARG_PUBLIC})

  add_library(weft::${ARG_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_NAME})
  set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS ${target})
endfunction()

# As target_*(), but right for both kinds of library that weft_layer() makes.
function(weft_layer_scope target result)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(${result} INTERFACE PARENT_SCOPE)
  else()
    set(${result} PUBLIC PARENT_SCOPE)
  endif()
endfunction()
