# SPDX-License-Identifier: Apache-2.0
# Fails when an errc of include/weft/error.hpp has no row in docs/reliability.md, when a row names no errc, and when an
# error or a fall-back names no test, or one that does not exist.
cmake_minimum_required(VERSION 3.25)

# The names between "enum class errc" and the brace that ends it.
file(READ "${SOURCE}/include/weft/error.hpp" header)
string(REGEX MATCH "enum class errc[^{]*{([^}]*)}" ignored "${header}")
string(REGEX REPLACE "//[^\n]*" "" names "${CMAKE_MATCH_1}")
string(REGEX MATCHALL "[a-z_]+" names "${names}")
list(REMOVE_ITEM names ok)
list(LENGTH names count)
if(count LESS 10)
  message(FATAL_ERROR "errc was not found in include/weft/error.hpp")
endif()

# The rows of the two tables that name tests, without the characters that would make them CMake lists.
file(READ "${SOURCE}/docs/reliability.md" page)
string(REGEX REPLACE "[][;]" " " page "${page}")
string(REGEX MATCH "\n## Errors\n.*\n## Known gaps" page "${page}")
string(REGEX MATCHALL "\n\\| [^\n]*" rows "${page}")

set(described)
foreach(row IN LISTS rows)
  if(row MATCHES "\\| ---|\\| shown by \\|")
    continue()
  endif()
  if(row MATCHES "^\n\\| `([a-z_]+)` \\|" AND CMAKE_MATCH_1 IN_LIST names)
    list(APPEND described "${CMAKE_MATCH_1}")
  endif()
  string(REGEX MATCHALL "`tests/[^`]*`" tests "${row}")
  if(NOT tests)
    message(SEND_ERROR "docs/reliability.md: this row names no test:${row}")
  endif()
  foreach(test IN LISTS tests)
    string(REPLACE "`" "" test "${test}")
    if(NOT EXISTS "${SOURCE}/${test}" OR IS_DIRECTORY "${SOURCE}/${test}")
      message(SEND_ERROR "docs/reliability.md: there is no file ${test}, which is named by:${row}")
    endif()
  endforeach()
endforeach()

foreach(name IN LISTS names)
  list(FIND described "${name}" at)
  if(at LESS 0)
    message(SEND_ERROR "docs/reliability.md has no row for errc::${name}: say what causes it, what is promised, and "
      "which test shows it")
  endif()
endforeach()
