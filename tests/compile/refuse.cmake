# SPDX-License-Identifier: Apache-2.0
# The program compiles without the line that is marked by WRONG, and fails with the text of its line "// says:" with it.
cmake_minimum_required(VERSION 3.25)

file(STRINGS "${PROGRAM}" wanted REGEX "^// says: ")
string(REGEX REPLACE "^// says: " "" wanted "${wanted}")
set(compile "${CXX}" -std=c++20 -Werror=unused-result -fsyntax-only "-I${INCLUDE}" "${PROGRAM}")

execute_process(COMMAND ${compile} RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
  message(FATAL_ERROR "without its mistake it does not compile either:\n${said}")
endif()
execute_process(COMMAND ${compile} -DWRONG RESULT_VARIABLE failed ERROR_VARIABLE said)
if(NOT failed)
  message(FATAL_ERROR "it compiles")
endif()
string(REGEX REPLACE "[ \n]+" " " said "${said}")
string(FIND "${said}" "${wanted}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the error does not say \"${wanted}\":\n${said}")
endif()
