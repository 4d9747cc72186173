# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` leaves for others: headers, archives, a CMake package, pkg-config files. Each file belongs to a
# component, and each component is a Debian package: cmake/debian.cmake.
include_guard()
if(NOT WEFT_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)
set(WEFT_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
get_property(layers GLOBAL PROPERTY WEFT_LAYERS)
list(REMOVE_ITEM layers weft_transport_fake)  # the tests'

set(without)
if(NOT WEFT_HAVE_QDMA)
  set(without PATTERN qdma.hpp EXCLUDE)
endif()
install(DIRECTORY include/weft DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev ${without})
install(TARGETS ${layers} EXPORT weft ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
get_property(interop GLOBAL PROPERTY WEFT_INTEROP)
install(TARGETS ${interop} EXPORT weft)
install(TARGETS weft_c EXPORT weft
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT c NAMELINK_COMPONENT dev)
if(TARGET weft_vipl)
  install(TARGETS weft_vipl EXPORT weft
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT vipl NAMELINK_COMPONENT dev)
  install(FILES include/vipl.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
endif()
# Where a libfabric of the same prefix looks by itself, and weft-mpirun in any case.
if(TARGET weft_fi)
  install(TARGETS weft_fi weft_mpi_collectives weft_open_mpi_4 LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/libfabric" COMPONENT ofi)
  install(TARGETS weft_slim_libfabric
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/libfabric/slim" COMPONENT ofi NAMELINK_SKIP)
endif()
install(EXPORT weft FILE weftTargets.cmake NAMESPACE weft:: DESTINATION "${WEFT_CMAKE_DIR}" COMPONENT dev)

configure_package_config_file(cmake/weftConfig.cmake.in weftConfig.cmake INSTALL_DESTINATION "${WEFT_CMAKE_DIR}")
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weftConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/weftConfigVersion.cmake"
  DESTINATION "${WEFT_CMAKE_DIR}" COMPONENT dev)

# Archives from the top layer down: each needs the ones after it.
set(WEFT_PC_LIBS "")
foreach(layer IN LISTS layers)
  get_target_property(type ${layer} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(PREPEND WEFT_PC_LIBS "-l${layer} ")
  endif()
endforeach()
# What the build used, and no more.
set(WEFT_PC_REQUIRES "fmt nettle hogweed")
set(module_URING liburing)
set(module_TBB tbb)
set(module_TLS openssl)
set(module_VERBS libibverbs)
set(WEFT_PC_CFLAGS "-pthread")
foreach(part IN ITEMS URING TBB TLS VERBS)
  if(WEFT_HAVE_${part})
    string(APPEND WEFT_PC_REQUIRES " ${module_${part}}")
  endif()
endforeach()
if(NOT WEFT_HAVE_QDMA)
  string(APPEND WEFT_PC_CFLAGS " -DWEFT_WITHOUT_QDMA")
endif()
# The prefix follows from where the file lies, so that the installed folder may be moved.
file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(WEFT_PC_PREFIX "\${pcfiledir}/${up}")
# For C: one shared library, which needs nothing said of what it stands on.
set(pc_files weft.pc weft-c.pc)
if(TARGET weft_vipl)
  list(APPEND pc_files vipl-weft.pc)
endif()
foreach(file IN LISTS pc_files)
  configure_file(cmake/${file}.in ${file} @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endforeach()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dev)
# For looking at running programs: bpftrace, gdb.
install(DIRECTORY share/weft DESTINATION "${CMAKE_INSTALL_DATADIR}" COMPONENT dev)

if(PROJECT_IS_TOP_LEVEL)
  include(debian)
endif()
