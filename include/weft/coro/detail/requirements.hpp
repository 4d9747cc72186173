// SPDX-License-Identifier: Apache-2.0
// What weft asks of a compiler and its standard library: a lack is one line, and not a page of
// errors from inside a header.
#pragma once

#include <version>

#if __cplusplus < 202002L
#error "weft needs C++20 or later: compile with -std=c++20"
#elif !defined(__cpp_exceptions)
#error "weft reports errors by exceptions: compile without -fno-exceptions"
#elif defined(_LIBCPP_VERSION) && !defined(__cpp_lib_jthread)
#error "weft needs std::stop_token: libc++ before 20 has it with -fexperimental-library only"
#endif
