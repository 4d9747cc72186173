# SPDX-License-Identifier: Apache-2.0
# A sanitizer must see every file of the program, so the flags are global and not per target.
include_guard()

if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  find_program(WEFT_LLD ld.lld)
  if(WEFT_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=lld)  # these programs are large and many, and it takes half as long
  endif()
  if(WEFT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # clang 14 cannot assemble a coroutine with this check ("Cannot represent a difference across sections").
      add_compile_options(-fno-sanitize=function)
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # One coroutine resumes the next by a tail call, and g++ makes none of them under a sanitizer.
    message(WARNING "weft: g++ with sanitizers gives up tail calls, so that a long chain of coroutines overflows the "
      "stack. Use clang++, as the presets asan and tsan do.")
  endif()
endif()
