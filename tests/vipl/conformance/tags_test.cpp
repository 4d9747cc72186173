// SPDX-License-Identifier: Apache-2.0
// Protection tags, and VIs and memory without one, as programs for Giganet's cards have them.
#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

/// Memory of a NIC with a tag of its own, or without one.
struct tagged_memory {
  tagged_memory(side& s, VIP_PROTECTION_HANDLE tag) : of(s) {
    VIP_MEM_ATTRIBUTES a{tag, VIP_TRUE, VIP_TRUE};
    VIP_PVOID p = nullptr;
    REQUIRE(VipAllocateMem(s.nic, &p, size, &a, &handle) == VIP_SUCCESS);
    at = static_cast<std::byte*>(p);
  }
  ~tagged_memory() { CHECK(VipFreeMem(of.nic, at, handle) == VIP_SUCCESS); }
  tagged_memory(const tagged_memory&) = delete;
  tagged_memory& operator=(const tagged_memory&) = delete;

  /// The same descriptor with its buffer here.
  VIP_DESCRIPTOR* hold_buffer(VIP_DESCRIPTOR* d) const {
    d->DS[0].Local.Data.Address = at;
    d->DS[0].Local.Handle = handle;
    return d;
  }
  VIP_DESCRIPTOR* aim_here(VIP_DESCRIPTOR* d) const {
    d->DS[0].Remote = {{.Address = at}, handle, 0};
    return d;
  }

  static constexpr std::size_t size = 65'536;
  side& of;
  std::byte* at = nullptr;
  VIP_MEM_HANDLE handle = 0;
};

VIP_VI_HANDLE make_vi_with(side& s, level l, VIP_PROTECTION_HANDLE tag) {
  VIP_VI_ATTRIBUTES a = s.attributes(l);
  a.Ptag = tag;
  VIP_VI_HANDLE v = nullptr;
  REQUIRE(VipCreateVi(s.nic, &a, nullptr, nullptr, &v) == VIP_SUCCESS);
  return v;
}

/// A write, and where the level has them a read, of the peer to that memory.
std::uint32_t reach(connection& c, const tagged_memory& there, VIP_UINT16 control) {
  VIP_DESCRIPTOR* const d = there.aim_here(c.of.a.describe_rdma(0, control, c.of.b, 0, {{0, 100}}));
  c.send(d);
  return c.sent(d);
}

}  // namespace

TEST_CASE("tags: a VI without a tag uses all memory of its NIC, and its peer does") {
  at_each_level([](pair& p, level l) {
    // Some of the memory is older than the first VI without a tag.
    const tagged_memory older(p.b, p.b.tag);
    connection c(p, make_vi_with(p.a, l, nullptr), make_vi_with(p.b, l, nullptr));
    VIP_VI_ATTRIBUTES about{};
    REQUIRE(VipQueryVi(c.to, nullptr, &about, nullptr, nullptr) == VIP_SUCCESS);
    CHECK(about.Ptag == nullptr);
    const tagged_memory newer(p.b, p.b.tag), without(p.b, nullptr);
    for (const tagged_memory* const m : {&older, &newer, &without})
      for (const std::size_t size : {100U, 30'000U}) {
        CAPTURE(size);
        VIP_DESCRIPTOR* const in = m->hold_buffer(p.b.describe(0, {{0, size}}));
        c.receive(in);
        fill(p.a.data(), size, 7);
        VIP_DESCRIPTOR* const d = p.a.describe(0, {{0, size}});
        c.send(d);
        REQUIRE(c.received(in) == 0);
        CHECK(c.sent(d) == 0);
        CHECK(filled(m->at, size, 7));
        CHECK(reach(c, *m, VIP_CONTROL_OP_RDMAWRITE) == 0);
        if (may_read(l)) CHECK(reach(c, *m, VIP_CONTROL_OP_RDMAREAD) == 0);
      }
    CHECK(c.connected());
  });
}

TEST_CASE("tags: memory without a tag is for VIs without one") {
  at_each_level([](pair& p, level l) {
    const tagged_memory without(p.b, nullptr);
    {
      connection c(p, l);
      VIP_DESCRIPTOR* const in = without.hold_buffer(p.b.describe(0, {{0, 8}}));
      c.receive(in);
      CHECK(c.received(in) == VIP_STATUS_PROTECTION_ERROR);
    }
    connection c(p, l);
    CHECK(reach(c, without, VIP_CONTROL_OP_RDMAWRITE) == VIP_STATUS_RDMA_PROT_ERROR);
  });
}

TEST_CASE("tags: a VI without one leaves memory of other tags closed to VIs that have one") {
  at_each_level([](pair& p, level l) {
    VIP_PROTECTION_HANDLE other = nullptr;
    REQUIRE(VipCreatePtag(p.b.nic, &other) == VIP_SUCCESS);
    {
      const tagged_memory theirs(p.b, other);
      const VIP_VI_HANDLE open = make_vi_with(p.b, l, nullptr);
      connection c(p, l);
      CHECK(reach(c, theirs, VIP_CONTROL_OP_RDMAWRITE) == VIP_STATUS_RDMA_PROT_ERROR);
      CHECK(VipDestroyVi(open) == VIP_SUCCESS);
    }
    CHECK(VipDestroyPtag(p.b.nic, other) == VIP_SUCCESS);
  });
}

TEST_CASE("tags: attributes are changed to none and back") {
  over_each_transport([](pair& p) {
    const VIP_VI_HANDLE v = p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY);
    VIP_VI_ATTRIBUTES a = p.a.attributes(VIP_SERVICE_RELIABLE_DELIVERY);
    a.Ptag = nullptr;
    CHECK(VipSetViAttributes(v, &a) == VIP_SUCCESS);
    const tagged_memory m(p.a, nullptr);
    VIP_MEM_ATTRIBUTES rights{p.a.tag, VIP_TRUE, VIP_FALSE};
    CHECK(VipSetMemAttributes(p.a.nic, m.at, m.handle, &rights) == VIP_SUCCESS);
    a.Ptag = p.a.tag;
    CHECK(VipSetViAttributes(v, &a) == VIP_SUCCESS);
    CHECK(VipDestroyPtag(p.a.nic, p.a.tag) == VIP_ERROR_RESOURCE);
    rights.Ptag = nullptr;
    CHECK(VipSetMemAttributes(p.a.nic, m.at, m.handle, &rights) == VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES now{p.a.tag, VIP_FALSE, VIP_FALSE};
    CHECK(VipQueryMem(p.a.nic, m.at, m.handle, &now) == VIP_SUCCESS);
    CHECK(now.Ptag == nullptr);
    CHECK(VipDestroyVi(v) == VIP_SUCCESS);
  });
}
