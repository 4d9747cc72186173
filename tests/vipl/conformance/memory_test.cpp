// SPDX-License-Identifier: Apache-2.0
// Registered memory: what may be registered, what posted descriptors keep, and who may use it.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

constexpr std::size_t page = 4096;

/// Pages of this process, until the end.
class pages {
 public:
  explicit pages(std::size_t count, int rights = PROT_READ | PROT_WRITE)
      : size_(count * page),
        begin_(static_cast<std::byte*>(
            ::mmap(away(), size_, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(begin_ != MAP_FAILED);
  }
  ~pages() { ::munmap(begin_, size_); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  std::byte* at(std::size_t n) const { return begin_ + n; }

 private:
  /// Where nothing is mapped that does not ask for it: a hole between pages stays one.
  static void* away() { return reinterpret_cast<void*>(std::uintptr_t{1} << 28); }

  std::size_t size_;
  std::byte* begin_;
};

struct registered {
  registered(side& s, std::byte* at, std::size_t size, VIP_PROTECTION_HANDLE tag)
      : of(s), address(at) {
    VIP_MEM_ATTRIBUTES a{tag, VIP_FALSE, VIP_FALSE};
    REQUIRE(VipRegisterMem(s.nic, at, size, &a, &handle) == VIP_SUCCESS);
  }
  VIP_RETURN end() { return VipDeregisterMem(of.nic, address, handle); }

  side& of;
  std::byte* address;
  VIP_MEM_HANDLE handle = 0;
};

/// A receive with one buffer in other memory than the descriptor.
VIP_DESCRIPTOR* describe_in(side& s, std::size_t n, const registered& r, std::size_t size) {
  VIP_DESCRIPTOR* const d = s.describe(n, {{0, size}});
  d->DS[0].Local = {{.Address = r.address}, r.handle, static_cast<VIP_UINT32>(size)};
  return d;
}

void exchange(connection& c, VIP_DESCRIPTOR* in, std::size_t size) {
  VIP_DESCRIPTOR* const d = c.of.a.describe(0, {{0, size}});
  c.send(d);
  REQUIRE(c.received(in) == 0);
  CHECK(c.sent(d) == 0);
}

}  // namespace

TEST_CASE("memory: what is not mapped, or not to be written, is not registered") {
  side s;
  VIP_MEM_ATTRIBUTES a{s.tag, VIP_FALSE, VIP_FALSE};
  VIP_MEM_HANDLE handle = 0;
  const auto registers = [&](std::byte* at, std::size_t size) {
    const VIP_RETURN r = VipRegisterMem(s.nic, at, size, &a, &handle);
    if (r == VIP_SUCCESS) REQUIRE(VipDeregisterMem(s.nic, at, handle) == VIP_SUCCESS);
    return r;
  };
  const pages all(4);
  CHECK(registers(all.at(0), 4 * page) == VIP_SUCCESS);
  // Two mappings side by side.
  REQUIRE(::mprotect(all.at(2 * page), page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  CHECK(registers(all.at(100), 4 * page - 200) == VIP_SUCCESS);
  REQUIRE(::mprotect(all.at(2 * page), page, PROT_READ) == 0);
  CHECK(registers(all.at(0), 4 * page) == VIP_INVALID_PARAMETER);
  CHECK(registers(all.at(2 * page), 10) == VIP_INVALID_PARAMETER);
  CHECK(registers(all.at(0), 2 * page) == VIP_SUCCESS);
  REQUIRE(::munmap(all.at(2 * page), page) == 0);
  CHECK(registers(all.at(page), page + 1) == VIP_INVALID_PARAMETER);
  CHECK(registers(all.at(2 * page), 1) == VIP_INVALID_PARAMETER);
  CHECK(registers(all.at(3 * page), page) == VIP_SUCCESS);
  CHECK(registers(all.at(0), ~std::size_t{0}) == VIP_INVALID_PARAMETER);
}

TEST_CASE(
    "memory: it stays registered while a receive waits that is in it, or has a buffer in it") {
  at_each_level([](pair& p, level l) {
    const pages memory(32);
    for (const std::size_t size : {100U, 50'000U}) {
      CAPTURE(size);
      registered r(p.b, memory.at(0), 32 * page, p.b.tag);
      connection c(p, l);
      VIP_DESCRIPTOR* const in = describe_in(p.b, 0, r, size);
      c.receive(in);
      CHECK(r.end() == VIP_ERROR_RESOURCE);
      fill(p.a.data(), size, 3);
      exchange(c, in, size);
      CHECK(filled(memory.at(0), size, 3));
      CHECK(r.end() == VIP_SUCCESS);
      // What it held is nobody's now.
      VIP_DESCRIPTOR* const late = describe_in(p.b, 1, r, size);
      c.receive(late);
      CHECK(c.received(late) == VIP_STATUS_PROTECTION_ERROR);
    }
    registered r(p.b, memory.at(0), page, p.b.tag);
    connection c(p, l);
    auto* const in = new (memory.at(0)) VIP_DESCRIPTOR{};  // without a buffer
    REQUIRE(VipPostRecv(c.to, in, r.handle) == VIP_SUCCESS);
    CHECK(r.end() == VIP_ERROR_RESOURCE);
    // The end of the connection gives it back.
    REQUIRE(VipDisconnect(c.to) == VIP_SUCCESS);
    CHECK(take_all(c.to, true) == 1);
    CHECK(r.end() == VIP_SUCCESS);
  });
}

TEST_CASE("memory: a descriptor in memory of another protection tag is refused") {
  over_each_transport([](pair& p) {
    VIP_PROTECTION_HANDLE other = nullptr;
    REQUIRE(VipCreatePtag(p.b.nic, &other) == VIP_SUCCESS);
    const pages memory(1);
    registered r(p.b, memory.at(0), page, other);
    connection c(p, VIP_SERVICE_RELIABLE_DELIVERY);
    auto* const d = new (memory.at(0)) VIP_DESCRIPTOR{};
    CHECK(VipPostRecv(c.to, d, r.handle) == VIP_INVALID_PARAMETER);
    CHECK(p.b.has_reported(VIP_ERROR_POST_DESC, c.to));
    CHECK(VipPostSend(c.to, d, r.handle) == VIP_INVALID_PARAMETER);
    CHECK(c.connected());
    CHECK(r.end() == VIP_SUCCESS);
    CHECK(VipDestroyPtag(p.b.nic, other) == VIP_SUCCESS);
  });
}

TEST_CASE("memory: a buffer that ends behind its registration takes what fits in front of that") {
  at_each_level([](pair& p, level l) {
    struct ending {
      std::size_t left, buffer, fits, beyond;
    };
    for (const ending& e : {ending{100, 1000, 100, 101}, ending{20'000, 100'000, 20'000, 20'001},
                            ending{20'000, 100'000, 5, 100'000}}) {
      CAPTURE(e.left, e.fits, e.beyond);
      const std::size_t at = side::data_bytes - e.left;
      connection c(p, l);
      VIP_DESCRIPTOR* in = p.b.describe(0, {{at, e.buffer}});
      c.receive(in);
      fill(p.a.data(), e.fits, 4);
      exchange(c, in, e.fits);
      CHECK(filled(p.b.data(at), e.fits, 4));
      fill(p.b.data(at), e.left, 5);
      in = p.b.describe(0, {{at, e.buffer}});
      c.receive(in);
      VIP_DESCRIPTOR* const d = p.a.describe(1, {{0, e.beyond}});
      c.send(d);
      CHECK(c.received(in) == VIP_STATUS_PROTECTION_ERROR);
      CHECK(c.sent(d) == (l == VIP_SERVICE_RELIABLE_RECEPTION ? VIP_STATUS_REMOTE_DESC_ERROR : 0U));
      CHECK(filled(p.b.data(at), e.left, 5));
      CHECK((l == VIP_SERVICE_UNRELIABLE ? c.connected() : c.broken()));
    }
  });
}
