# SPDX-License-Identifier: Apache-2.0
# The MPI libraries of Debian, for programs of the tests and of weft-bench. Each one's compiler wrapper is only asked for
# its flags, so our compiler and our warnings are used.
include_guard()

# weft_find_mpi(<name> <package>): makes the target weft_<name> if mpicc.<name> gives its flags, else says why not.
function(weft_find_mpi name package)
  if(TARGET weft_${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  set(without "no MPI programs with it (install ${package} to change that)")
  find_program(WEFT_MPICC_${upper} mpicc.${name})
  set(wrapper "${WEFT_MPICC_${upper}}")
  if(NOT wrapper)
    message(STATUS "weft: mpicc.${name} was not found, ${without}")
    return()
  endif()
  execute_process(COMMAND "${wrapper}" -show OUTPUT_VARIABLE shown ERROR_VARIABLE problem RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(STATUS "weft: ${wrapper} does not tell its flags, ${without}: ${problem}")
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${shown}")
  foreach(kind I L l)
    set(of_${kind} ${words})
    list(FILTER of_${kind} INCLUDE REGEX "^-${kind}")
    list(TRANSFORM of_${kind} REPLACE "^-${kind}" "")
  endforeach()
  # Debian has the wrapper and the header in different packages.
  find_file(WEFT_MPI_H_${upper} mpi.h PATHS ${of_I} NO_DEFAULT_PATH)
  if(NOT WEFT_MPI_H_${upper})
    message(STATUS "weft: mpi.h of ${wrapper} was not found, ${without}")
    return()
  endif()

  add_library(weft_${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(weft_${name} SYSTEM INTERFACE ${of_I})
  target_compile_definitions(weft_${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_directories(weft_${name} INTERFACE ${of_L})
  target_link_libraries(weft_${name} INTERFACE ${of_l})
endfunction()
