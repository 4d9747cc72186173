# SPDX-License-Identifier: Apache-2.0
# Warnings and hardening of our own targets; users of the library get none of it.
include_guard()
include(CheckCXXCompilerFlag)

# Each where the compiler and the processor know it.
set(WEFT_HARDENING)
foreach(flag -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "WEFT_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND WEFT_HARDENING ${flag})
  endif()
endforeach()

function(weft_own_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion
    $<$<BOOL:${WEFT_WERROR}>:-Werror>)
  # Files that are compiled together see each other's names, and g++ takes what is theirs alone for a header's.
  # `./dev lint` and `./dev test --long` look at each file alone.
  if(NOT CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE -Wshadow)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  # g++ 13 and newer do not know which parts of a coroutine's frame have been set, and warn of all others.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
  if(WEFT_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
  # docs/security.md. Costs nothing on the paths that are measured: checks of known object sizes, a read-only GOT, a mark
  # at the targets of indirect jumps, a probe per page of a large frame.
  if(NOT WEFT_SANITIZE)
    target_compile_options(${target} PRIVATE ${WEFT_HARDENING}
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
    # A canary costs a few instructions in each function that has one, among them four that every small message passes:
    # so not in the layers of its path.
    if(NOT target MATCHES "^weft_(runtime|proto|transport_)")
      target_compile_options(${target} PRIVATE -fstack-protector-strong)
    endif()
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
