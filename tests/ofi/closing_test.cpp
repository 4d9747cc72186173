// SPDX-License-Identifier: Apache-2.0
// What an endpoint has accepted, or owes, leaves before fi_close returns.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "memory.hpp"
#include "side.hpp"

using namespace ofi_test;

TEST_CASE("ofi: injected messages arrive, also when their endpoint is closed at once") {
  ::setenv("WEFT_LINGER", "60000", 1);  // a busy machine
  pair p;
  ::unsetenv("WEFT_LINGER");
  const bool met_before = GENERATE(true, false);
  constexpr std::uint32_t many = 20'000;
  std::array<std::uint32_t, 50> out{}, in{};
  if (met_before) {
    REQUIRE(fi_inject(p.b.ep.get(), out.data(), 4, p.to_a) == 0);
    REQUIRE(fi_recv(p.a.ep.get(), in.data(), 4, nullptr, p.to_b, nullptr) == 0);
    p.next(p.a);
  }
  for (std::uint32_t i = 0; i != many; ++i) {
    out[0] = i;
    ssize_t n = 0;
    while ((n = fi_inject(p.a.ep.get(), out.data(), sizeof out, p.to_b)) == -FI_EAGAIN)
      pair::move(p.a);
    REQUIRE(n == 0);
  }
  std::uint32_t in_order = 0;
  // More than the credit of a peer that receives nothing: the last ones leave as it receives.
  std::jthread receives([&] {
    for (std::uint32_t i = 0; i != many; ++i) {
      if (fi_recv(p.b.ep.get(), in.data(), sizeof in, nullptr, p.to_a, nullptr) != 0) return;
      fi_cq_tagged_entry e{};
      ssize_t n = 0;
      while ((n = fi_cq_read(p.b.cq.get(), &e, 1)) == -FI_EAGAIN) continue;
      if (n != 1) return;
      in_order += in[0] == i ? 1 : 0;
    }
  });
  p.a.ep.reset();
  receives.join();
  CHECK(in_order == many);
}

TEST_CASE("ofi: a delivery is confirmed, also when the receiver closes at once") {
  pair p;
  std::uint64_t out = 7, in = 0;
  iovec piece{&out, sizeof out};
  fi_msg m{};
  m.msg_iov = &piece;
  m.iov_count = 1;
  m.addr = p.to_b;
  REQUIRE(fi_recv(p.b.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
  REQUIRE(fi_sendmsg(p.a.ep.get(), &m, FI_COMPLETION | FI_DELIVERY_COMPLETE) == 0);
  p.next(p.b);
  p.b.ep.reset();
  fi_cq_tagged_entry e{};
  ssize_t n = 0;
  while ((n = fi_cq_read(p.a.cq.get(), &e, 1)) == -FI_EAGAIN) continue;
  CHECK(n == 1);
  CHECK((e.flags & FI_SEND) != 0);
  CHECK(in == 7);
}
