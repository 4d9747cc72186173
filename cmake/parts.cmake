# SPDX-License-Identifier: Apache-2.0
# The parts of weft that a build may leave out: docs/adr/0038-optional-parts.md.
include_guard()
find_package(PkgConfig REQUIRED)

# weft_part(<PART> <meaning> [PKG_CONFIG <name> <modules>... | PACKAGE <name>] [INSTALL <Debian package>]
#           [WITHOUT <effect>])
#
# Makes the cache variable WEFT_WITH_<PART> and sets WEFT_HAVE_<PART> and WEFT_<PART>_VERSION, that of its package. OFF
# looks for nothing. AUTO takes the part if its package is found, and otherwise names the package and the effect. ON
# makes a missing package an error. A part without a package is our sources alone.
# PKG_CONFIG: as pkg_check_modules, with the target PkgConfig::<name>. PACKAGE: as find_package.
function(weft_part part meaning)
  cmake_parse_arguments(ARG "" "PACKAGE;HEADER;INSTALL;WITHOUT" "PKG_CONFIG" ${ARGN})
  set(wanted WEFT_WITH_${part})
  set(${wanted} AUTO CACHE STRING "${meaning}: AUTO, ON (missing is an error) or OFF")
  set_property(CACHE ${wanted} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${wanted} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "weft: ${wanted}=${${wanted}} makes no sense; it can be AUTO, ON or OFF.")
  endif()

  set(found ON)
  set(name)
  if(${wanted} STREQUAL "OFF")
    set(found OFF)
  elseif(ARG_PKG_CONFIG)
    list(POP_FRONT ARG_PKG_CONFIG name)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${ARG_PKG_CONFIG})
    set(found ${${name}_FOUND})
  elseif(ARG_PACKAGE)
    set(name ${ARG_PACKAGE})
    find_package(${name} QUIET)
    set(found ${${name}_FOUND})
  elseif(ARG_HEADER)
    find_path(WEFT_${part}_HEADER "${ARG_HEADER}")
    mark_as_advanced(WEFT_${part}_HEADER)
    if(NOT WEFT_${part}_HEADER)
      set(found OFF)
    endif()
  endif()

  if(found)
    set(WEFT_HAVE_${part} ON PARENT_SCOPE)
    set(WEFT_${part}_VERSION "${${name}_VERSION}" PARENT_SCOPE)
    return()
  endif()
  set(WEFT_HAVE_${part} OFF PARENT_SCOPE)
  if(${wanted} STREQUAL "ON")
    message(FATAL_ERROR "weft: ${wanted}=ON, but its package was not found. Install ${ARG_INSTALL}, or choose AUTO or "
      "OFF.")
  elseif(${wanted} STREQUAL "AUTO")
    message(STATUS "weft: ${ARG_WITHOUT} (install ${ARG_INSTALL} to change that)")
  endif()
endfunction()
