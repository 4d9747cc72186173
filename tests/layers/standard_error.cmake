# SPDX-License-Identifier: Apache-2.0
# Fails where the library writes to the standard error by itself: what people are to know goes to the log of the context
# (src/runtime/os/log.hpp), whose sink is the application's.
cmake_minimum_required(VERSION 3.25)

set(pattern
  "fprintf\\([ \n]*stderr|print\\([ \n]*stderr|fputs\\([^;]*stderr|fwrite\\([^;]*stderr|std::(cerr|clog)|perror\\(|write\\([ \n]*STDERR_FILENO")

# Each file with its reason.
set(allowed
  runtime/os/standard_error.cpp                # where the log goes without a sink, and dumps
  coro/scope.cpp                               # last words before abort(), in a library without contexts
  api/context/run_main.cpp                     # in place of main(): the context has ended, or was never made
  bindings/mpi_collectives/flag_communicator.cpp  # MPI has no log, and this has no context
  bindings/mpi/open_mpi.hpp                    # the same, before abort()
  bindings/ofi/objects/open_mpi_4.cpp          # the same, in a provider without a context yet
  bindings/ofi/endpoint/endpoint.cpp           # on request of weft-mpirun: that MPI runs on weft
  bindings/slim_libfabric/log.cpp              # is libfabric's own log, which FI_LOG_LEVEL directs to the standard error
  bindings/vipl/calls/nic_calls.cpp)           # VIPL has error codes only: which variable is wrong

file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/*.hpp" "${SOURCE}/*.cpp")
foreach(file IN LISTS files)
  file(READ "${SOURCE}/${file}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  if(NOT text MATCHES "${pattern}")
    if(file IN_LIST allowed)
      message(SEND_ERROR "tests/layers/standard_error.cmake: src/${file} writes nothing there any more")
    endif()
  elseif(NOT file IN_LIST allowed)
    string(STRIP "${CMAKE_MATCH_0}" found)
    message(SEND_ERROR "src/${file}: '${found}': report it by the log (src/runtime/os/log.hpp)")
  endif()
endforeach()
foreach(file IN LISTS allowed)
  if(NOT file IN_LIST files)
    message(SEND_ERROR "tests/layers/standard_error.cmake: there is no src/${file}")
  endif()
endforeach()
