# SPDX-License-Identifier: Apache-2.0
# The versions of the required libraries, which library_versions() of weft/build.hpp tells; weft_part() finds those of
# the optional ones.
include_guard()

set(WEFT_NETTLE_VERSION "${nettle_nettle_VERSION}")

# 102201 is 1.22.1.
set(WEFT_ASIO_VERSION 0)
if(EXISTS "${WEFT_ASIO_INCLUDE_DIR}/asio/version.hpp")
  file(STRINGS "${WEFT_ASIO_INCLUDE_DIR}/asio/version.hpp" line REGEX "^#define ASIO_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" WEFT_ASIO_VERSION "${line}")
endif()

# The file's name has the number of the release: libstdc++.so.6.0.30 is that of g++ 12. Empty with another library.
set(WEFT_LIBSTDCXX_VERSION "")
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.so.6
  OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
get_filename_component(file "${file}" REALPATH)
if(file MATCHES "libstdc\\+\\+\\.so\\.([0-9.]+)$")
  set(WEFT_LIBSTDCXX_VERSION "${CMAKE_MATCH_1}")
endif()
