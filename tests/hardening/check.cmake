# SPDX-License-Identifier: Apache-2.0
# Fails when a program lacks one of the protections that docs/security.md lists and that can be seen in it.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${READELF} --wide --file-header --program-headers --dynamic --dyn-syms ${PROGRAM}
  OUTPUT_VARIABLE seen COMMAND_ERROR_IS_FATAL ANY)

function(expect what pattern)
  if(NOT seen MATCHES "${pattern}")
    message(SEND_ERROR "${PROGRAM}: ${what} (nothing like '${pattern}' in what readelf shows)")
  endif()
endfunction()

expect("it is loaded at a fixed address" "Type: +DYN")
expect("its table of addresses stays writable" "GNU_RELRO")
expect("it looks up functions when they are called" "BIND_NOW|FLAGS_1[^\n]*NOW")
expect("its stack can be executed" "GNU_STACK[^\n]* RW ")
expect("no function of it has a canary" "__stack_chk_fail")
