# SPDX-License-Identifier: Apache-2.0
# The first program of README.md, for the scripts that include this file.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# take_first_program(<folder>): writes README's first.cpp and its CMakeLists.txt.
function(take_first_program folder)
  file(READ "${SOURCE}/README.md" readme)
  foreach(pair cpp=first.cpp cmake=CMakeLists.txt)
    string(REGEX MATCH "^([a-z]+)=(.+)$" pair "${pair}")
    set(name "${CMAKE_MATCH_2}")
    set(mark "```${CMAKE_MATCH_1}\n")
    string(FIND "${readme}" "${mark}" from)
    if(from EQUAL -1)
      message(FATAL_ERROR "README.md has no ${mark}")
    endif()
    string(LENGTH "${mark}" length)
    math(EXPR from "${from} + ${length}")
    string(SUBSTRING "${readme}" ${from} -1 text)
    string(FIND "${text}" "```" to)
    string(SUBSTRING "${text}" 0 ${to} text)
    file(WRITE "${folder}/${name}" "${text}")
  endforeach()
endfunction()

# run_first_program(<weft-run> <program>): as README says, with a launcher and without.
function(run_first_program launcher program)
  execute_process(COMMAND "${launcher}" -n 2 "${program}" OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "rank 0 catches ball 5" OR NOT said MATCHES "rank 1 catches ball 4")
    message(FATAL_ERROR "the first program said:\n${said}")
  endif()
  execute_process(COMMAND "${program}" ERROR_VARIABLE said RESULT_VARIABLE status)
  if(NOT status EQUAL 1 OR NOT said MATCHES "^first: there is no rank 1: .*alone.*`weft-run -n 2 [^`]*/first`")
    message(FATAL_ERROR "the first program without a launcher ended with ${status} and said:\n${said}")
  endif()
endfunction()
