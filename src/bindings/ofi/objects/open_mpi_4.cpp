// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/open_mpi_4.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <string_view>

namespace weft::ofi {

namespace {

bool is_open_mpi_4() noexcept {
  void* const mpi = ::dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
  if (mpi == nullptr) return false;
  using get_version = int(char*, int*);
  auto* const version = reinterpret_cast<get_version*>(::dlsym(mpi, "PMPI_Get_library_version"));
  char text[256] = {};  // MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  const bool told = version != nullptr && version(text, &length) == 0;
  ::dlclose(mpi);
  return told && std::string_view(text).starts_with("Open MPI v4.");
}

/// The folder of this library, with a slash: it has the other one, too.
std::string_view own_folder() noexcept {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&own_folder), &here) == 0) return {};
  const std::string_view file = here.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

bool check() noexcept {
  if (::dlsym(RTLD_DEFAULT, "weft_open_mpi_4") != nullptr || !is_open_mpi_4()) return true;
  const std::string_view folder = own_folder();
  std::fprintf(stderr,
               "weft: without libweft-open-mpi-4.so persistent sends of Open MPI 4 may send wrong "
               "data, so nothing is sent: start the job with weft-mpirun, or give mpirun "
               "-x LD_PRELOAD=%.*slibweft-open-mpi-4.so\n",
               static_cast<int>(folder.size()), folder.data());
  return false;
}

}  // namespace

bool persistent_sends_are_right() noexcept {
  static const bool right = check();
  return right;
}

}  // namespace weft::ofi
