// SPDX-License-Identifier: Apache-2.0
#include "bindings/slim_libfabric/system_libfabric.hpp"

#include <dlfcn.h>

namespace weft::slim {

void* call_of_system(const char* name, const char* version) noexcept {
  // By its path: by its name the dynamic linker would find this library.
  static void* const library = ::dlopen(WEFT_SYSTEM_LIBFABRIC, RTLD_NOW | RTLD_LOCAL);
  return library ? ::dlvsym(library, name, version) : nullptr;
}

}  // namespace weft::slim
