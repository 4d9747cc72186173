// SPDX-License-Identifier: Apache-2.0
// The name of weft::options.
#pragma once

#include <cstddef>  // the standard library's settings

namespace weft {

// Strings, containers and functions of another standard library, and of some settings of libstdc++,
// have another layout: such a program must not link to a weft that was built without them. Every
// program that makes a context names this type, and so the linker names the setting.
#ifdef _LIBCPP_VERSION
inline namespace with_libcxx {
#endif
#ifdef _GLIBCXX_DEBUG
inline namespace with_GLIBCXX_DEBUG {
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
inline namespace without_GLIBCXX_USE_CXX11_ABI {
#endif

struct options;

#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
}  // namespace without_GLIBCXX_USE_CXX11_ABI
#endif
#ifdef _GLIBCXX_DEBUG
}  // namespace with_GLIBCXX_DEBUG
#endif
#ifdef _LIBCPP_VERSION
}  // namespace with_libcxx
#endif

}  // namespace weft
