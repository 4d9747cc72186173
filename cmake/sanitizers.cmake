# SPDX-License-Identifier: Apache-2.0
# A sanitizer must see every file of the program, so the flags are global and not per target.
include_guard()

if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(WEFT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ warns at each fence that its ThreadSanitizer does not model it; that is known and reviewed.
    add_compile_options(-Wno-tsan)
  endif()
endif()
