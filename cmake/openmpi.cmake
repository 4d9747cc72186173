# SPDX-License-Identifier: Apache-2.0
# Open MPI's compiler wrapper is only asked for its flags, so our compiler and our warnings are used. Sets
# WEFT_HAVE_OPENMPI, and makes the target weft_openmpi.
include_guard()

set(WEFT_HAVE_OPENMPI OFF)
find_program(WEFT_MPICC_OPENMPI mpicc.openmpi)
if(NOT WEFT_MPICC_OPENMPI)
  message(STATUS "weft: mpicc.openmpi was not found, no tests with MPI programs (install libopenmpi-dev to change that)")
  return()
endif()
foreach(what incdirs libdirs libs)
  execute_process(COMMAND "${WEFT_MPICC_OPENMPI}" --showme:${what} OUTPUT_VARIABLE shown ERROR_VARIABLE problem
    RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(STATUS "weft: ${WEFT_MPICC_OPENMPI} does not tell its flags, no tests with MPI programs: ${problem}")
    return()
  endif()
  separate_arguments(openmpi_${what} UNIX_COMMAND "${shown}")
endforeach()
find_file(WEFT_MPI_H_OPENMPI mpi.h PATHS ${openmpi_incdirs} NO_DEFAULT_PATH)
if(NOT WEFT_MPI_H_OPENMPI)
  message(STATUS "weft: mpi.h of Open MPI was not found, no tests with MPI programs (install libopenmpi-dev to change that)")
  return()
endif()

add_library(weft_openmpi INTERFACE)
target_include_directories(weft_openmpi SYSTEM INTERFACE ${openmpi_incdirs})
target_compile_definitions(weft_openmpi INTERFACE OMPI_SKIP_MPICXX)
target_link_directories(weft_openmpi INTERFACE ${openmpi_libdirs})
target_link_libraries(weft_openmpi INTERFACE ${openmpi_libs})
set(WEFT_HAVE_OPENMPI ON)
