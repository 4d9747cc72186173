# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` leaves for others: headers, archives, a CMake package, a pkg-config file.
include_guard()
if(NOT WEFT_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)
set(WEFT_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
get_property(layers GLOBAL PROPERTY WEFT_LAYERS)
list(REMOVE_ITEM layers weft_transport_fake)  # the tests'

install(DIRECTORY include/weft DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS ${layers} EXPORT weft ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
get_property(interop GLOBAL PROPERTY WEFT_INTEROP)
install(TARGETS ${interop} EXPORT weft)
install(TARGETS weft_c EXPORT weft LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# Where a libfabric of the same prefix looks by itself, and weft-mpirun in any case.
if(TARGET weft_fi)
  install(TARGETS weft_fi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/libfabric")
  install(TARGETS weft_slim_libfabric LIBRARY NAMELINK_SKIP DESTINATION "${CMAKE_INSTALL_LIBDIR}/libfabric/slim")
endif()
install(EXPORT weft FILE weftTargets.cmake NAMESPACE weft:: DESTINATION "${WEFT_CMAKE_DIR}")

configure_package_config_file(cmake/weftConfig.cmake.in weftConfig.cmake INSTALL_DESTINATION "${WEFT_CMAKE_DIR}")
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weftConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/weftConfigVersion.cmake"
  DESTINATION "${WEFT_CMAKE_DIR}")

# Archives from the top layer down: each needs the ones after it.
set(WEFT_PC_LIBS "")
set(WEFT_PC_REQUIRES "fmt tbb nettle hogweed libibverbs")
foreach(layer IN LISTS layers)
  get_target_property(type ${layer} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(PREPEND WEFT_PC_LIBS "-l${layer} ")
  endif()
endforeach()
if(WEFT_HAVE_URING)
  string(APPEND WEFT_PC_REQUIRES " liburing")
endif()
# The prefix follows from where the file lies, so that the installed folder may be moved.
file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(WEFT_PC_PREFIX "\${pcfiledir}/${up}")
configure_file(cmake/weft.pc.in weft.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# For C: one shared library, which needs nothing said of what it stands on.
configure_file(cmake/weft-c.pc.in weft-c.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weft-c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
