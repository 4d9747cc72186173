// SPDX-License-Identifier: Apache-2.0
#ifdef WEFT_HAVE_PMIX
#include "wireup/job/pmix_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <weft/error.hpp>

namespace weft::wireup {

namespace {

constexpr const char* file_name = "libpmix.so.2";

[[noreturn]] void missing() {
  const char* why = ::dlerror();
  throw error(errc::unsupported,
              fmt::format("a PMIx launcher (mpirun, srun) started this process, but its library "
                          "cannot be loaded: {}; install libpmix2, or unset PMIX_NAMESPACE to run "
                          "the process alone",
                          why ? why : file_name));
}

template <class Function>
void find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  if (!into) missing();
}

}  // namespace

pmix_library::pmix_library() {
  // Never closed: the library's own thread runs its code until the process ends.
  void* library = ::dlopen(file_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) missing();
  find(library, "PMIx_Init", init);
  find(library, "PMIx_Finalize", finalize);
  find(library, "PMIx_Put", put);
  find(library, "PMIx_Commit", commit);
  find(library, "PMIx_Get", get);
  find(library, "PMIx_Get_nb", get_nb);
  find(library, "PMIx_Error_string", error_string);
}

}  // namespace weft::wireup
#endif
