// SPDX-License-Identifier: Apache-2.0
// Descriptors that complete with an error: which, at which side, and what becomes of the
// connection.
#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

struct subject {
  pair& p;
  VIP_PROTECTION_HANDLE other_tag = nullptr;
  VIP_PVOID others = nullptr;  ///< memory with that tag
  VIP_MEM_HANDLE handle_of_others = 0;
};

struct wrong_descriptor {
  const char* what;
  VIP_DESCRIPTOR* (*make)(subject&);
  std::uint32_t status;
};

VIP_DESCRIPTOR* with_control(subject& s, unsigned control) {
  VIP_DESCRIPTOR* const d = s.p.a.describe(0, {{0, 8}});
  d->CS.Control = static_cast<VIP_UINT16>(control);
  return d;
}

const wrong_descriptor wrong_sends[] = {
    {"no such operation", [](subject& s) { return with_control(s, VIP_CONTROL_OP_RESERVED); },
     VIP_STATUS_FORMAT_ERROR},
    {"a reserved bit", [](subject& s) { return with_control(s, 0x8000); }, VIP_STATUS_FORMAT_ERROR},
    {"RDMA without an address segment",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, VIP_CONTROL_OP_RDMAWRITE);
       d->CS.SegCount = 0;
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"a read with immediate data",
     [](subject& s) { return with_control(s, VIP_CONTROL_OP_RDMAREAD | VIP_CONTROL_IMMEDIATE); },
     VIP_STATUS_FORMAT_ERROR},
    {"too many segments",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, 0);
       d->CS.SegCount = 65;
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"a handle of no memory",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, 0);
       d->DS[0].Local.Handle += 1;
       return d;
     },
     VIP_STATUS_PROTECTION_ERROR},
    {"memory of the other NIC",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, 0);
       d->DS[0].Local.Data.Address = s.p.b.data();
       return d;
     },
     VIP_STATUS_PROTECTION_ERROR},
    {"a byte behind the registration",
     [](subject& s) {
       return s.p.a.describe(0, {{side::data_bytes - 7, 8}});
     },
     VIP_STATUS_PROTECTION_ERROR},
    {"memory of another protection tag",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, 0);
       d->DS[0].Local = {{.Address = s.others}, s.handle_of_others, 8};
       return d;
     },
     VIP_STATUS_PROTECTION_ERROR},
    {"segments behind the registration",
     [](subject& s) {
       auto* const d = reinterpret_cast<VIP_DESCRIPTOR*>(s.p.a.data(side::data_bytes - 64));
       d->CS = {};
       d->CS.SegCount = 4;  // one more than there is room for
       for (VIP_DESCRIPTOR_SEGMENT& one : d->DS) one.Local = {};
       return d;
     },
     VIP_STATUS_PROTECTION_ERROR},
    {"a Length that is less than its segments",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, 0);
       d->CS.Length = 7;
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"a Length of no bytes, with some",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = with_control(s, 0);
       d->CS.Length = 0;
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"a write whose Length counts its address segment",
     [](subject& s) {
       VIP_DESCRIPTOR* const d =
           s.p.a.describe_rdma(0, VIP_CONTROL_OP_RDMAWRITE, s.p.b, 0, {{0, 8}});
       d->CS.Length = 8 + sizeof(VIP_ADDRESS_SEGMENT);
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"longer than the VI's longest transfer",
     [](subject& s) {
       return s.p.a.describe(0, {{0, 1 << 20}, {0, 1}});
     },
     VIP_STATUS_LENGTH_ERROR},
};

/// The same at the receive side, where the operation has to be a receive.
const wrong_descriptor wrong_receives[] = {
    {"an RDMA write",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = s.p.b.describe(0, {{0, 8}});
       d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"too many segments",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = s.p.b.describe(0, {{0, 8}});
       d->CS.SegCount = 65;
       return d;
     },
     VIP_STATUS_FORMAT_ERROR},
    {"memory of the other NIC",
     [](subject& s) {
       VIP_DESCRIPTOR* const d = s.p.b.describe(0, {{0, 8}});
       d->DS[0].Local.Data.Address = s.p.a.data();
       return d;
     },
     VIP_STATUS_PROTECTION_ERROR},
};

/// A reliable connection ends by it, and what was posted behind it is flushed.
void check_end(connection& c, level l, VIP_DESCRIPTOR* behind) {
  if (l == VIP_SERVICE_UNRELIABLE) {
    CHECK(c.sent(behind) == 0);
    CHECK(c.connected());
  } else {
    CHECK(c.sent(behind) == VIP_STATUS_DESC_FLUSHED_ERROR);
    CHECK(c.broken());
  }
}

}  // namespace

TEST_CASE("descriptors: a wrong send fails, and only a reliable connection ends by it") {
  at_each_level([](pair& p, level l) {
    subject s{p};
    REQUIRE(VipCreatePtag(p.a.nic, &s.other_tag) == VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES m{s.other_tag, VIP_TRUE, VIP_TRUE};
    REQUIRE(VipAllocateMem(p.a.nic, &s.others, 64, &m, &s.handle_of_others) == VIP_SUCCESS);
    for (const wrong_descriptor& w : wrong_sends) {
      INFO(w.what);
      connection c(p, l);
      VIP_DESCRIPTOR* const good = p.a.describe(1, {{0, 8}});
      VIP_DESCRIPTOR* const behind = p.a.describe(2, {{0, 8}});
      VIP_DESCRIPTOR* const in = p.b.describe(1, {{0, 8}});
      c.receive(in);
      c.receive(p.b.describe(2, {{0, 8}}));
      c.send(good);
      REQUIRE(c.received(in) == 0);
      VIP_DESCRIPTOR* const bad = w.make(s);
      c.send(bad);
      CHECK(c.sent(good) == 0);
      CHECK(c.sent(bad) == w.status);
      c.send(behind);
      check_end(c, l, behind);
    }
    REQUIRE(VipFreeMem(p.a.nic, s.others, s.handle_of_others) == VIP_SUCCESS);
    REQUIRE(VipDestroyPtag(p.a.nic, s.other_tag) == VIP_SUCCESS);
  });
}

TEST_CASE("descriptors: a wrong receive fails at once, and only a reliable connection ends by it") {
  at_each_level([](pair& p, level l) {
    subject s{p};
    for (const wrong_descriptor& w : wrong_receives) {
      INFO(w.what);
      connection c(p, l);
      VIP_DESCRIPTOR* const bad = w.make(s);
      c.receive(bad);
      CHECK(c.received(bad) == w.status);
      if (l == VIP_SERVICE_UNRELIABLE)
        CHECK(c.connected());
      else
        CHECK(c.broken());
    }
  });
}

namespace {

/// What a message meets at the other side.
struct meeting {
  const char* what;
  std::size_t size;
  bool by_write;          ///< an RDMA write with immediate data
  bool has_receive;       ///< of 10 bytes
  std::uint32_t receive;  ///< errors of that receive
  VIP_ERROR_CODE code;    ///< that the reliable levels report there
};

constexpr meeting meetings[] = {
    {"no descriptor", 100, false, false, 0, VIP_ERROR_RECVQ_EMPTY},
    {"no descriptor for one in pieces", 20'000, false, false, 0, VIP_ERROR_RECVQ_EMPTY},
    {"no descriptor for a long one", 100'000, false, false, 0, VIP_ERROR_RECVQ_EMPTY},
    {"no descriptor for a write", 100, true, false, 0, VIP_ERROR_RECVQ_EMPTY},
    {"a shorter descriptor", 100, false, true, VIP_STATUS_LENGTH_ERROR, VIP_ERROR_CONN_LOST},
    {"a shorter descriptor for one in pieces", 20'000, false, true, VIP_STATUS_LENGTH_ERROR,
     VIP_ERROR_CONN_LOST},
    {"a much shorter descriptor", 100'000, false, true, VIP_STATUS_LENGTH_ERROR,
     VIP_ERROR_CONN_LOST},
};

void meet_at(pair& p, level l, const meeting& m) {
  connection marks(p, VIP_SERVICE_UNRELIABLE);
  connection c(p, l);
  VIP_DESCRIPTOR* const in = p.b.describe(0, {{0, 10}});
  if (m.has_receive) c.receive(in);
  VIP_DESCRIPTOR* d = p.a.describe(0, {{0, m.size}});
  if (m.by_write)
    d = p.a.describe_rdma(0, VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE, p.b, 0,
                          {{0, m.size}});
  c.send(d);
  // Only VIP_SERVICE_RELIABLE_RECEPTION shows it at the sender's descriptor.
  CHECK(c.sent(d) == (l == VIP_SERVICE_RELIABLE_RECEPTION ? VIP_STATUS_REMOTE_DESC_ERROR : 0u));
  if (m.has_receive) CHECK(c.received(in) == m.receive);
  if (l != VIP_SERVICE_UNRELIABLE) {
    CHECK(c.broken());
    CHECK(p.b.has_reported(m.code, c.to));
    CHECK(p.a.has_reported(VIP_ERROR_CONN_LOST, c.from));
    return;
  }
  // Messages to one NIC keep their order, also those of two VIs.
  VIP_DESCRIPTOR* const mark = p.b.describe(2, {});
  marks.receive(mark);
  VIP_DESCRIPTOR* const marks_it = p.a.describe(2, {});
  marks.send(marks_it);
  REQUIRE(marks.received(mark) == 0);
  REQUIRE(marks.sent(marks_it) == 0);
  // So it was dropped, and the next one finds the next descriptor.
  VIP_DESCRIPTOR* const next = p.b.describe(1, {{50'000, 30'000}});
  c.receive(next);
  fill(p.a.data(), 30'000, 3);
  d = p.a.describe(1, {{0, 30'000}});
  c.send(d);
  REQUIRE(c.received(next) == 0);
  CHECK(filled(p.b.data(50'000), 30'000, 3));
  CHECK(c.sent(d) == 0);
}

}  // namespace

TEST_CASE("descriptors: a message that finds none, or a shorter one, fails as its level promises") {
  at_each_level([](pair& p, level l) {
    for (const meeting& m : meetings) {
      INFO(m.what);
      meet_at(p, l, m);
    }
  });
}
