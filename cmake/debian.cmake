# SPDX-License-Identifier: Apache-2.0
# Debian packages, by `./dev package` or cpack: a package for each component of the installation.
#
#   libweft-c1   libweft-c.so, for programs that use weft.h
#   libvipl-weft1  libvipl-weft.so, for programs that use vipl.h
#   libweft-dev  headers, archives, the CMake package and the pkg-config files
#   weft-tools   weft-run, weft-info, weft-bench, weft-report
#   libweft-fi   the provider for libfabric, and weft-mpirun
include_guard()

set(CPACK_GENERATOR DEB)
set(WEFT_PACKAGE_CONTACT "weft, built here <root@localhost>" CACHE STRING "The maintainer that packages name")
set(CPACK_PACKAGE_CONTACT "${WEFT_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# A package is for the release that it was built on. The newer release has the greater version, so that a machine that
# changes its release changes the packages, too.
cmake_host_system_information(RESULT weft_release QUERY DISTRIB_INFO)
string(REPLACE debian deb weft_release_name "${weft_release_ID}${weft_release_VERSION_ID}")
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~${weft_release_name}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# weft-bench uses libweft-c.so and libvipl-weft.so, which are in others of these packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/src/bindings/c" "${PROJECT_BINARY_DIR}/src/bindings/vipl")

# weft_debian_package(<component> <package> <section> <summary> [<field> <value>]...)
function(weft_debian_package component package section summary)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n\
weft moves messages between processes: over shared memory, InfiniBand and TCP,\n\
for coroutines in C++20, for C, and for MPI." PARENT_SCOPE)
  while(ARGN)
    list(POP_FRONT ARGN field value)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${field} "${value}" PARENT_SCOPE)
  endwhile()
  # Debian looks for the licence there. An installation without packages has it once.
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(needs "libweft-c1 ${same}, libfmt-dev, nettle-dev, pkg-config")
set(tools_need "libweft-c1 ${same}")
if(TARGET weft_vipl)
  string(PREPEND needs "libvipl-weft1 ${same}, ")
  string(APPEND tools_need ", libvipl-weft1 ${same}")
endif()
set(package_URING "liburing-dev (>= 2.3)")
set(package_TBB libtbb-dev)
set(package_TLS libssl-dev)
set(package_VERBS libibverbs-dev)
foreach(part IN ITEMS URING TBB TLS VERBS)
  if(WEFT_HAVE_${part})
    string(APPEND needs ", ${package_${part}}")
  endif()
endforeach()

weft_debian_package(c libweft-c1 libs "messages between processes: the library for C" SUGGESTS "libpmix2t64 | libpmix2")
weft_debian_package(dev libweft-dev libdevel "messages between processes: what programs are built with"
  DEPENDS "${needs}" SUGGESTS weft-tools)
if(WEFT_BUILD_TOOLS)
  weft_debian_package(tools weft-tools utils "messages between processes: launcher, information, benchmarks"
    DEPENDS "${tools_need}")
endif()
if(TARGET weft_vipl)
  weft_debian_package(vipl libvipl-weft1 libs "messages between processes: the VI Provider Library")
endif()
if(TARGET weft_fi)
  weft_debian_package(ofi libweft-fi libs "messages between processes: the provider for libfabric, and weft-mpirun"
    RECOMMENDS openmpi-bin)
endif()
include(CPack)
