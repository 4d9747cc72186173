// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/open_mpi_4.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bindings/ofi/object.hpp"

namespace weft::ofi {

namespace {

// The binary interface of Open MPI 4, because weft builds without an MPI.
using handle = void*;

/// The beginning of a datatype.
struct datatype {
  static constexpr std::uint16_t contiguous = 0x10;  // one item has no holes
  static constexpr std::uint16_t no_gaps = 0x20;     // nor have several

  struct {
    void* of_class;
    std::int32_t references;
  } object;
  std::uint16_t flags;
  std::uint16_t number;
  std::uint32_t basic_types;
  std::size_t size;
  std::ptrdiff_t begin;  // of its data, from the buffer's address
  std::ptrdiff_t end;
};
static_assert(sizeof(void*) != 8 ||
              (offsetof(datatype, flags) == 16 && offsetof(datatype, begin) == 32));

using init_send = int (*)(const void* buffer, std::size_t count, datatype* type, int to, int tag,
                          int mode, handle communicator, handle* request);

/// The beginning of `mca_pml`, by which all of Open MPI sends and receives.
struct message_calls {
  void* others[9];
  init_send init;
};

struct library {
  bool is_loaded = false;
  datatype* byte = nullptr;        ///< MPI_BYTE
  message_calls* calls = nullptr;  ///< nothing: they are not as described above
  init_send init = nullptr;        ///< Open MPI's own
};

template <class T>
T* find(void* in, const char* name) noexcept {
  return reinterpret_cast<T*>(::dlsym(in, name));
}

bool is_as_known(const datatype* type, std::ptrdiff_t size) noexcept {
  constexpr auto flags = datatype::contiguous | datatype::no_gaps;
  return type != nullptr && static_cast<std::ptrdiff_t>(type->size) == size && type->begin == 0 &&
         type->end == size && (type->flags & flags) == flags;
}

library find_open_mpi_4() noexcept {
  library found;
  void* const mpi = ::dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
  if (mpi == nullptr) return found;
  auto* const version = find<int(char*, int*)>(mpi, "PMPI_Get_library_version");
  char text[256] = {};  // MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  if (version == nullptr || version(text, &length) != 0) return found;
  found.is_loaded = std::string_view(text).starts_with("Open MPI v4.");
  if (!found.is_loaded) return found;
  found.byte = find<datatype>(mpi, "ompi_mpi_byte");
  auto* const calls = find<message_calls>(mpi, "mca_pml");
  if (!is_as_known(found.byte, 1) || !is_as_known(find<datatype>(mpi, "ompi_mpi_double"), 8) ||
      calls == nullptr || calls->init == nullptr)
    return found;
  found.calls = calls;
  found.init = calls->init;
  return found;
}

/// Of the process, because Open MPI's call has no argument that could carry it.
const library& open_mpi() noexcept {
  static const library found = find_open_mpi_4();
  return found;
}

/// Data without holes are the bytes that they are.
int init_send_of_bytes(const void* buffer, std::size_t count, datatype* type, int to, int tag,
                       int mode, handle communicator, handle* request) {
  const library& mpi = open_mpi();
  const auto whole = count == 1 ? datatype::contiguous : datatype::no_gaps;
  if (type->begin == 0 || (type->flags & whole) == 0)
    return mpi.init(buffer, count, type, to, tag, mode, communicator, request);
  return mpi.init(static_cast<const std::byte*>(buffer) + type->begin, count * type->size, mpi.byte,
                  to, tag, mode, communicator, request);
}

}  // namespace

bool mend_persistent_sends() noexcept {
  const library& mpi = open_mpi();
  if (!mpi.is_loaded) return true;
  if (mpi.calls == nullptr) {
    warn(
        "this Open MPI 4 is built in another way than Debian's, and its persistent sends of "
        "datatypes that do not begin at the buffer would send wrong data: use Open MPI 5, or "
        "another transport than weft");
    return false;
  }
  mpi.calls->init = init_send_of_bytes;
  return true;
}

}  // namespace weft::ofi
