# SPDX-License-Identifier: Apache-2.0
# Fails when docs/environment.md and the table of src/api/options/options.cpp do not list the same
# variables in the same order.
cmake_minimum_required(VERSION 3.25)

file(STRINGS "${SOURCE}/src/api/options/options.cpp" lines REGEX "^ *{\"WEFT_[A-Z_]+\"")
set(table)
foreach(line IN LISTS lines)
  string(REGEX MATCH "WEFT_[A-Z_]+" name "${line}")
  list(APPEND table ${name})
endforeach()

# The first table of the page; the second one lists the variables that a launcher sets.
file(READ "${SOURCE}/docs/environment.md" page)
string(REGEX REPLACE "\n## .*" "" page "${page}")
string(REGEX MATCHALL "\n\\| `WEFT_[A-Z_]+`" rows "${page}")
set(documented)
foreach(row IN LISTS rows)
  string(REGEX MATCH "WEFT_[A-Z_]+" name "${row}")
  list(APPEND documented ${name})
endforeach()

list(LENGTH table count)
if(count EQUAL 0)
  message(FATAL_ERROR "src/api/options/options.cpp: no variable found; this script looks for {\"WEFT_NAME\"")
endif()
foreach(name IN LISTS table)
  if(NOT name IN_LIST documented)
    message(SEND_ERROR "docs/environment.md: ${name} is missing; src/api/options/options.cpp has it")
  endif()
endforeach()
foreach(name IN LISTS documented)
  if(NOT name IN_LIST table)
    message(SEND_ERROR "docs/environment.md: ${name} is not in the table of src/api/options/options.cpp")
  endif()
endforeach()
if(NOT "${table}" STREQUAL "${documented}")
  message(SEND_ERROR "docs/environment.md: the order is another than in src/api/options/options.cpp:\n"
    "page:  ${documented}\ntable: ${table}")
endif()
