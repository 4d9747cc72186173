# SPDX-License-Identifier: Apache-2.0
# Warnings and hardening of our own targets; users of the library get none of it.
include_guard()

function(weft_own_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${WEFT_WERROR}>:-Werror>)
  if(WEFT_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
  # Costs nothing on the paths that are measured: checks of known object sizes, a read-only GOT.
  if(NOT WEFT_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
  target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)

  if(WEFT_IPO AND WEFT_IPO_WORKS)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # The installed archives must serve other compilers too, so they keep ordinary code as well.
      target_compile_options(${target} PRIVATE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>:-ffat-lto-objects>)
    endif()
  endif()
endfunction()
