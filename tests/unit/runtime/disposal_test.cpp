// SPDX-License-Identifier: Apache-2.0
// Where descriptors and mappings from peers are closed.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "runtime/memory_file.hpp"
#include "support/catch.hpp"

namespace weft::runtime::test {

TEST_CASE("disposal: closes what it is given, also more than may be blocked at a time") {
  const auto where = std::make_shared<disposal>();
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd reader(ends[0]);
  unique_fd writer(ends[1]);
  std::vector<unique_fd> all;
  for (int i = 0; i != 100; ++i) all.emplace_back(::dup(writer.get()), where);
  writer = {};
  all.clear();
  char one = 0;
  CHECK(::read(reader.get(), &one, 1) == 0);  // no writer is left
}

TEST_CASE("disposal: a little memory file is closed and unmapped at once") {
  const auto where = std::make_shared<disposal>();
  unique_fd own = make_memory_file("small", 4096);
  const int number = own.get();
  unique_fd file(own.release(), where);
  mapping memory = map_from_peer(file, 4096, false);
  const void* const at = memory.get();
  file = {};
  CHECK(::fcntl(number, F_GETFD) == -1);
  memory = {};
  // Nothing is mapped at that address any more, so this mapping is possible.
  mapping again(::mmap(const_cast<void*>(at), 4096, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
                4096);
  CHECK(again.get() == at);
}

TEST_CASE("disposal: what came from a peer is asked nothing that could block") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd a(ends[0]), b(ends[1]);
  CHECK(size_of(a) == 0);
  const unique_fd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(unsealed.get(), 4096) == 0);
  CHECK(size_of(unsealed) == 0);
  CHECK(size_of(make_memory_file("sealed", 4096)) == 4096);
}

}  // namespace weft::runtime::test
