// SPDX-License-Identifier: Apache-2.0
// RDMA: writes and reads over segments, immediate data, and the rights that they need.
#include <vector>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

constexpr VIP_UINT16 rdma_write = VIP_CONTROL_OP_RDMAWRITE, rdma_read = VIP_CONTROL_OP_RDMAREAD,
                     rdma_write_word = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;

}  // namespace

TEST_CASE("rdma: writes gather, reads scatter, and immediate data takes a receive") {
  at_each_level([](pair& p, level l) {
    connection c(p, l);
    unsigned seed = 0;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{90}, std::size_t{9000}, std::size_t{600'000}}) {
      CAPTURE(size);
      const std::size_t part = size / 3;
      fill(p.a.data(), size, ++seed);
      VIP_DESCRIPTOR* d =
          p.a.describe_rdma(0, rdma_write, p.b, 1000, {{0, part}, {part, 0}, {part, size - part}});
      c.send(d);
      REQUIRE(c.sent(d) == 0);
      CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE));
      CHECK(d->CS.Length == size);
      // A write is there at the latest when a later message is.
      VIP_DESCRIPTOR* const in = p.b.describe(0, {});
      c.receive(in);
      fill(p.a.data(1 << 20), size, seed + 100);
      d = p.a.describe_rdma(1, rdma_write_word, p.b, 1 << 20, {{1 << 20, size}});
      d->CS.ImmediateData = seed;
      c.send(d);
      REQUIRE(c.received(in) == 0);
      CHECK(in->CS.Status ==
            (VIP_STATUS_DONE | VIP_STATUS_OP_REMOTE_RDMA_WRITE | VIP_STATUS_IMMEDIATE));
      CHECK((in->CS.ImmediateData == seed && in->CS.Length == size));
      CHECK(filled(p.b.data(1000), size, seed));
      CHECK(filled(p.b.data(1 << 20), size, seed + 100));
      REQUIRE(c.sent(d) == 0);
      if (!may_read(l)) continue;
      fill(p.b.data(1000), size, seed + 200);
      d = p.a.describe_rdma(2, rdma_read, p.b, 1000,
                            {{2 << 20, part}, {(2 << 20) + part, size - part}});
      c.send(d);
      REQUIRE(c.sent(d) == 0);
      CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_READ));
      CHECK(filled(p.a.data(2 << 20), size, seed + 200));
    }
    CHECK(c.connected());
  });
}

TEST_CASE(
    "rdma: sixty-three segments and an address are a full descriptor, and one more is too many") {
  over_each_transport([](pair& p) {
    connection c(p, VIP_SERVICE_UNRELIABLE);
    std::vector<piece> all{{0, 0}};
    for (std::size_t i = 0; i != 63; ++i) all.push_back({i * 10, 10});
    fill(p.a.data(), 630, 5);
    VIP_DESCRIPTOR* const d = p.a.describe(0, all);
    d->CS.Control = rdma_write;
    d->DS[0].Remote = {{.Address = p.b.data(500)}, p.b.handle, 0};
    c.send(d);
    REQUIRE(c.sent(d) == 0);
    VIP_DESCRIPTOR* const in = p.b.describe(0, {});
    c.receive(in);
    VIP_DESCRIPTOR* const after = p.a.describe(1, {});
    c.send(after);
    REQUIRE(c.received(in) == 0);
    CHECK(filled(p.b.data(500), 630, 5));
    d->CS.SegCount = 65;
    REQUIRE(c.sent(after) == 0);
    c.send(d);
    CHECK(c.sent(d) == VIP_STATUS_FORMAT_ERROR);
  });
}

namespace {

/// Memory and VI of the side that is written to.
struct rights_of_target {
  const char* what;
  bool vi_allows, memory_allows, same_tag;
  std::size_t beyond;  ///< bytes behind the end of the registration
  bool allowed() const { return vi_allows && memory_allows && same_tag && beyond == 0; }
};

constexpr rights_of_target targets[] = {
    {"all allow it", true, true, true, 0},
    {"the VI does not", false, true, true, 0},
    {"the memory does not", true, false, true, 0},
    {"the memory has another protection tag", true, true, false, 0},
    {"it ends behind the memory", true, true, true, 1},
};

void try_rights(pair& p, level l, VIP_UINT16 control, const rights_of_target& t) {
  constexpr std::size_t size = 4096, length = 100;
  p.a.forget_reports();
  p.b.forget_reports();
  VIP_PROTECTION_HANDLE other = nullptr;
  REQUIRE(VipCreatePtag(p.b.nic, &other) == VIP_SUCCESS);
  VIP_MEM_ATTRIBUTES m{t.same_tag ? p.b.tag : other, VIP_FALSE, VIP_FALSE};
  (control == rdma_read ? m.EnableRdmaRead : m.EnableRdmaWrite) = t.memory_allows;
  VIP_PVOID memory = nullptr;
  VIP_MEM_HANDLE handle = 0;
  REQUIRE(VipAllocateMem(p.b.nic, &memory, size, &m, &handle) == VIP_SUCCESS);
  fill(static_cast<std::byte*>(memory), size, 1);
  VIP_VI_ATTRIBUTES a = p.b.attributes(l);
  a.EnableRdmaWrite = control != rdma_read && t.vi_allows;
  a.EnableRdmaRead = control == rdma_read && t.vi_allows;
  VIP_VI_HANDLE to = nullptr;
  REQUIRE(VipCreateVi(p.b.nic, &a, nullptr, nullptr, &to) == VIP_SUCCESS);
  {
    connection c(p, p.a.make_vi(l), to);
    VIP_DESCRIPTOR* const d = p.a.describe_rdma(0, control, p.b, 0, {{0, length}});
    d->DS[0].Remote = {
        {.Address = static_cast<std::byte*>(memory) + size - length + t.beyond}, handle, 0};
    fill(p.a.data(), length, 2);
    c.send(d);
    CHECK(c.sent(d) == (t.allowed() ? 0u : VIP_STATUS_RDMA_PROT_ERROR));
    if (!t.allowed())
      CHECK(p.b.has_reported(control == rdma_read ? VIP_ERROR_RDMAR_PROT : VIP_ERROR_RDMAW_PROT,
                             c.to));
    if (t.allowed() || l == VIP_SERVICE_UNRELIABLE) {
      CHECK(c.connected());
    } else {
      CHECK(c.broken());
      CHECK(p.a.has_reported(VIP_ERROR_CONN_LOST, c.from));
    }
  }
  if (!t.allowed()) CHECK(filled(static_cast<std::byte*>(memory), size, 1));
  REQUIRE(VipFreeMem(p.b.nic, memory, handle) == VIP_SUCCESS);
  REQUIRE(VipDestroyPtag(p.b.nic, other) == VIP_SUCCESS);
}

}  // namespace

TEST_CASE("rdma: without the right nothing is written or read, and reliable connections break") {
  at_each_level([](pair& p, level l) {
    for (const rights_of_target& t : targets) {
      INFO(t.what);
      try_rights(p, l, rdma_write, t);
      if (may_read(l)) try_rights(p, l, rdma_read, t);
    }
  });
}
