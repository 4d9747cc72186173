// SPDX-License-Identifier: Apache-2.0
// Atomics on memory of a peer: each alone, many at once, and the ones that are not offered.
#include <rdma/fi_atomic.h>

#include <atomic>
#include <optional>

#include "memory.hpp"

using namespace ofi_test;

namespace {

constexpr int by_address = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;

/// Neighbouring values; operations of all kinds change the one in the middle.
template <class T>
struct changed {
  pair& p;
  alignas(8) std::array<T, 24> there{};
  exposed mine{p.b, std::as_writable_bytes(std::span(there))};
  fi_datatype type;
  static constexpr std::size_t middle = 11;

  changed(pair& both, fi_datatype t) : p(both), type(t) {}
  std::uint64_t place() const { return mine.at(middle * sizeof(T)); }

  T base(fi_op op, T before, T operand) {
    there[middle] = before;
    REQUIRE(fi_atomic(p.a.ep.get(), &operand, 1, nullptr, p.to_b, place(), mine.key(), type, op,
                      &there) == 0);
    const fi_cq_tagged_entry e = p.next(p.a);
    CHECK(e.op_context == &there);
    CHECK(e.flags == (FI_ATOMIC | FI_WRITE));
    return there[middle];
  }
  T fetch(fi_op op, T before, T operand) {
    there[middle] = before;
    T found{};
    REQUIRE(fi_fetch_atomic(p.a.ep.get(), op == FI_ATOMIC_READ ? nullptr : &operand, 1, nullptr,
                            &found, nullptr, p.to_b, place(), mine.key(), type, op, &there) == 0);
    const fi_cq_tagged_entry e = p.next(p.a);
    CHECK(e.flags == (FI_ATOMIC | FI_READ));
    CHECK(found == before);
    return there[middle];
  }
  T swap(T before, T expected, T operand, fi_op op = FI_CSWAP) {
    there[middle] = before;
    T found{};
    REQUIRE(fi_compare_atomic(p.a.ep.get(), &operand, 1, nullptr, &expected, nullptr, &found,
                              nullptr, p.to_b, place(), mine.key(), type, op, &there) == 0);
    p.next(p.a);
    CHECK(found == before);
    return there[middle];
  }
  void check_neighbours() const {
    for (std::size_t i = 0; i != there.size(); ++i)
      if (i != middle) CHECK(there[i] == T{});
  }
};

template <class T>
void check_arithmetic(pair& p, fi_datatype type) {
  CAPTURE(type);
  changed<T> c(p, type);
  const T three = 3, five = 5;
  CHECK(c.base(FI_SUM, three, five) == T{8});
  CHECK(c.fetch(FI_SUM, three, five) == T{8});
  CHECK(c.base(FI_SUM, three, T{0}) == three);
  CHECK(c.base(FI_PROD, three, five) == T{15});
  CHECK(c.base(FI_MIN, three, five) == three);
  CHECK(c.fetch(FI_MIN, five, three) == three);
  CHECK(c.base(FI_MAX, three, five) == five);
  CHECK(c.base(FI_ATOMIC_WRITE, three, five) == five);
  CHECK(c.fetch(FI_ATOMIC_WRITE, three, five) == five);
  CHECK(c.fetch(FI_ATOMIC_READ, three, five) == three);
  c.check_neighbours();
}

template <class T>
void check_integers(pair& p, fi_datatype type) {
  CAPTURE(type);
  check_arithmetic<T>(p, type);
  changed<T> c(p, type);
  const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  CHECK(c.base(FI_SUM, most, T{1}) == least);
  CHECK(c.fetch(FI_SUM, least, static_cast<T>(-1)) == most);
  CHECK(c.base(FI_MIN, least, most) == least);
  CHECK(c.base(FI_MAX, least, most) == most);
  CHECK(c.base(FI_BOR, T{5}, T{6}) == T{7});
  CHECK(c.fetch(FI_BAND, T{5}, T{6}) == T{4});
  CHECK(c.base(FI_BXOR, T{5}, T{6}) == T{3});
  CHECK(c.base(FI_LOR, T{0}, T{6}) == T{1});
  CHECK(c.base(FI_LAND, T{5}, T{0}) == T{0});
  CHECK(c.base(FI_LXOR, T{5}, T{6}) == T{0});
  CHECK(c.swap(T{5}, T{5}, most) == most);
  CHECK(c.swap(T{5}, T{6}, most) == T{5});
  CHECK(c.swap(T{5}, T{6}, T{2}, FI_MSWAP) == T{3});  // the bits of the mask
  CHECK(c.swap(T{5}, T{0}, most, FI_MSWAP) == T{5});
  CHECK(c.swap(least, static_cast<T>(-1), most, FI_MSWAP) == most);
  c.check_neighbours();
}

}  // namespace

TEST_CASE("ofi: atomics on all types compute what they say, and leave what is beside it",
          "[memory]") {
  pair p({}, GENERATE(0, by_address));
  check_integers<std::int8_t>(p, FI_INT8);
  check_integers<std::uint8_t>(p, FI_UINT8);
  check_integers<std::int16_t>(p, FI_INT16);
  check_integers<std::uint16_t>(p, FI_UINT16);
  check_integers<std::int32_t>(p, FI_INT32);
  check_integers<std::uint32_t>(p, FI_UINT32);
  check_integers<std::int64_t>(p, FI_INT64);
  check_integers<std::uint64_t>(p, FI_UINT64);
  check_arithmetic<float>(p, FI_FLOAT);
  check_arithmetic<double>(p, FI_DOUBLE);
}

TEST_CASE("ofi: atomics of several peers, and of the owner, on one word add up", "[memory]") {
  const through way(GENERATE("self,shm", "self,tcp"));
  side owner({}, access_hints());
  pair others({}, by_address);
  // Halves of a word, and a whole word.
  struct {
    alignas(8) std::uint32_t low = 0, high = 0;
    std::uint64_t whole = 0;
    double sum = 0;
  } there;
  const exposed mine(owner, std::as_writable_bytes(std::span(&there, 1)));
  constexpr unsigned each = 300;
  constexpr unsigned in_flight = 4;
  const std::uint32_t one = 1;
  const std::uint64_t one_long = 1;
  const double half = 0.5;
  struct asking {
    side* by;
    fi_addr_t to;
    unsigned asked = 0, ended = 0;
  };
  std::array<asking, 2> all{{{&others.a, others.a.meet(owner)}, {&others.b, others.b.meet(owner)}}};
  const auto ask = [&](const asking& a, unsigned i) {
    const auto where = [&](const void* field) {
      return mine.at(static_cast<std::uint64_t>(static_cast<const std::byte*>(field) -
                                                reinterpret_cast<const std::byte*>(&there)));
    };
    fid_ep* const ep = a.by->ep.get();
    switch (i % 4) {
      case 0:
        return fi_atomic(ep, &one, 1, nullptr, a.to, where(&there.low), mine.key(), FI_UINT32,
                         FI_SUM, nullptr);
      case 1:
        return fi_atomic(ep, &one, 1, nullptr, a.to, where(&there.high), mine.key(), FI_UINT32,
                         FI_SUM, nullptr);
      case 2:
        return fi_atomic(ep, &one_long, 1, nullptr, a.to, where(&there.whole), mine.key(),
                         FI_UINT64, FI_SUM, nullptr);
      default:
        return fi_atomic(ep, &half, 1, nullptr, a.to, where(&there.sum), mine.key(), FI_DOUBLE,
                         FI_SUM, nullptr);
    }
  };
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  unsigned turns = 0, by_owner = 0;
  while (all[0].ended + all[1].ended != 2 * 4 * each) {
    for (asking& a : all) {
      for (; a.asked != 4 * each && a.asked - a.ended < 4 * in_flight; ++a.asked)
        REQUIRE(ask(a, a.asked) == 0);
      fi_cq_tagged_entry e{};
      while (fi_cq_read(a.by->cq.get(), &e, 1) == 1) ++a.ended;
    }
    pair::move(owner);
    if (++turns % 16 == 0) {  // rarely, or no compare-swap would find its expected value
      std::atomic_ref<std::uint32_t>(there.high).fetch_add(1);
      std::atomic_ref<std::uint64_t>(there.whole).fetch_add(1);
      ++by_owner;
    }
    REQUIRE(std::chrono::steady_clock::now() < late);
  }
  CHECK(there.low == 2 * each);
  CHECK(there.high == 2 * each + by_owner);
  CHECK(there.whole == 2 * each + by_owner);
  CHECK(there.sum == each);
}

TEST_CASE("ofi: atomics that are not offered, or not allowed, are refused", "[memory]") {
  pair p({}, by_address);
  alignas(8) std::array<std::uint64_t, 4> there{};
  const exposed mine(p.b, std::as_writable_bytes(std::span(there)));
  const exposed half(p.b, std::as_writable_bytes(std::span(there)), FI_REMOTE_READ);
  fid_ep* const ep = p.a.ep.get();
  std::size_t count = 0;
  CHECK(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &count) == 0);
  CHECK(count == 1);
  CHECK(fi_fetch_atomicvalid(ep, FI_INT32, FI_ATOMIC_READ, &count) == 0);
  CHECK(fi_compare_atomicvalid(ep, FI_INT32, FI_CSWAP, &count) == 0);
  CHECK(fi_atomicvalid(ep, FI_UINT64, FI_ATOMIC_READ, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_atomicvalid(ep, FI_UINT64, FI_CSWAP, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_atomicvalid(ep, FI_LONG_DOUBLE, FI_SUM, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_atomicvalid(ep, FI_DOUBLE, FI_BOR, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_compare_atomicvalid(ep, FI_UINT64, FI_CSWAP_GE, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_compare_atomicvalid(ep, FI_FLOAT, FI_CSWAP, &count) == -FI_EOPNOTSUPP);
  fi_atomic_attr attr{};
  CHECK(fi_query_atomic(p.a.domain.get(), FI_INT16, FI_SUM, &attr, FI_FETCH_ATOMIC) == 0);
  CHECK(attr.count == 1);
  CHECK(attr.size == 2);
  CHECK(fi_query_atomic(p.a.domain.get(), FI_INT16, FI_SUM, &attr, FI_TAGGED) == -FI_EOPNOTSUPP);

  const std::uint64_t one = 1;
  std::uint64_t found = 0;
  const auto add = [&](std::uint64_t where, std::uint64_t key, fi_datatype type = FI_UINT64,
                       std::size_t values = 1, fi_op op = FI_SUM) {
    return fi_fetch_atomic(ep, &one, values, nullptr, &found, nullptr, p.to_b, where, key, type, op,
                           &found);
  };
  CHECK(add(mine.at(0), mine.key(), FI_UINT64, 2) == -FI_EINVAL);
  CHECK(add(mine.at(2), mine.key(), FI_UINT32) == -FI_EINVAL);
  CHECK(add(mine.at(0), mine.key(), FI_UINT64, 1, FI_MSWAP) == -FI_EOPNOTSUPP);
  REQUIRE(add(mine.at(32), mine.key()) == 0);
  CHECK(p.next_error(p.a).err == FI_EACCES);
  REQUIRE(add(mine.at(32), mine.key(), FI_UINT8) == 0);
  CHECK(p.next_error(p.a).err == FI_EACCES);
  REQUIRE(add(half.at(0), half.key()) == 0);
  CHECK(p.next_error(p.a).err == FI_EACCES);
  REQUIRE(add(mine.at(0), mine.key() + 1) == 0);
  const fi_cq_err_entry e = p.next_error(p.a);
  CHECK(e.err == FI_EKEYREJECTED);
  CHECK(e.op_context == &found);
  CHECK(e.flags == (FI_ATOMIC | FI_READ));
  CHECK(there == std::array<std::uint64_t, 4>{});

  info_ptr h = hints();
  h->caps = FI_MSG;
  const side messages({}, std::move(h));
  CHECK(fi_atomic(messages.ep.get(), &one, 1, nullptr, 0, 0, 0, FI_UINT64, FI_SUM, nullptr) ==
        -FI_EOPNOTSUPP);
}

TEST_CASE("ofi: atomics in all forms of their calls, with counters", "[memory]") {
  settings s;
  s.counts = true;
  s.bind_flags |= FI_SELECTIVE_COMPLETION;
  pair p(s, 0);
  alignas(8) std::array<std::uint64_t, 2> there{};
  const exposed mine(p.b, std::as_writable_bytes(std::span(there)));
  fid_ep* const ep = p.a.ep.get();
  std::uint64_t two = 2, nine = 9, found = 77;
  fi_ioc operand{&two, 1}, compare{&two, 1}, result{&found, 1};
  const fi_rma_ioc place{8, 1, mine.key()};
  fi_msg_atomic m{};
  m.msg_iov = &operand;
  m.iov_count = m.rma_iov_count = 1;
  m.addr = p.to_b;
  m.rma_iov = &place;
  m.datatype = FI_UINT64;
  m.op = FI_SUM;
  m.context = &there;
  const auto wait_for = [&](fid_cntr* c, std::uint64_t n) {
    CHECK(fi_cntr_wait(c, n, 30'000) == 0);
    CHECK(fi_cntr_read(c) == n);
  };
  REQUIRE(fi_inject_atomic(ep, &two, 1, p.to_b, 8, mine.key(), FI_UINT64, FI_SUM) == 0);
  REQUIRE(fi_atomicv(ep, &operand, nullptr, 1, p.to_b, 8, mine.key(), FI_UINT64, FI_SUM, nullptr) ==
          0);
  wait_for(p.a.written.get(), 2);
  CHECK(there[1] == 4);
  REQUIRE(fi_atomicmsg(ep, &m, FI_COMPLETION) == 0);
  CHECK(p.next(p.a).op_context == &there);
  CHECK(there[1] == 6);
  REQUIRE(fi_fetch_atomicv(ep, &operand, nullptr, 1, &result, nullptr, 1, p.to_b, 8, mine.key(),
                           FI_UINT64, FI_BXOR, nullptr) == 0);
  wait_for(p.a.read.get(), 1);
  CHECK(found == 6);
  CHECK(there[1] == 4);
  m.op = FI_ATOMIC_READ;
  m.iov_count = 0;
  REQUIRE(fi_fetch_atomicmsg(ep, &m, &result, nullptr, 1, FI_COMPLETION) == 0);
  p.next(p.a);
  CHECK(found == 4);
  operand.addr = &nine;
  compare.addr = &found;
  REQUIRE(fi_compare_atomicv(ep, &operand, nullptr, 1, &compare, nullptr, 1, &result, nullptr, 1,
                             p.to_b, 8, mine.key(), FI_UINT64, FI_CSWAP, nullptr) == 0);
  wait_for(p.a.read.get(), 3);
  CHECK(there[1] == 9);
  m.op = FI_CSWAP;
  m.iov_count = 1;
  REQUIRE(fi_compare_atomicmsg(ep, &m, &compare, nullptr, 1, &result, nullptr, 1, FI_COMPLETION) ==
          0);
  p.next(p.a);
  CHECK(found == 9);
  CHECK(there[1] == 9);
  CHECK(fi_atomicmsg(ep, &m, FI_REMOTE_CQ_DATA) == -FI_EBADFLAGS);
  wait_for(p.a.written.get(), 3);
  CHECK(there[0] == 0);
}

TEST_CASE("ofi: accesses in several steps go on while their initiator makes no call", "[memory]") {
  const through way(GENERATE("self,shm", "self,tcp"));
  pair p({}, by_address);
  std::uint64_t words[8] = {};
  const exposed there(p.b, std::as_writable_bytes(std::span(words)));
  const auto becomes = [&](unsigned at, auto value) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    decltype(value) found{};
    do {
      std::memcpy(&found, &words[at], sizeof found);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } while (found != value && std::chrono::steady_clock::now() < late);
    return found == value;
  };
  const std::uint64_t seven = 7;
  const std::uint32_t three = 3;
  const double half = 0.5;
  REQUIRE(fi_inject_atomic(p.a.ep.get(), &seven, 1, p.to_b, there.at(0), there.key(), FI_UINT64,
                           FI_ATOMIC_WRITE) == 0);
  CHECK(becomes(0, seven));
  REQUIRE(fi_inject_atomic(p.a.ep.get(), &three, 1, p.to_b, there.at(8), there.key(), FI_UINT32,
                           FI_SUM) == 0);
  CHECK(becomes(1, three));
  REQUIRE(fi_inject_atomic(p.a.ep.get(), &half, 1, p.to_b, there.at(16), there.key(), FI_DOUBLE,
                           FI_SUM) == 0);
  CHECK(becomes(2, half));

  // The data of a completion comes after all pieces of the write.
  std::uint64_t first = 1, second = 2;
  const iovec pieces[2] = {{&first, 8}, {&second, 8}};
  const fi_rma_iov place{there.at(24), 16, there.key()};
  fi_msg_rma m{};
  m.msg_iov = pieces;
  m.iov_count = 2;
  m.addr = p.to_b;
  m.rma_iov = &place;
  m.rma_iov_count = 1;
  m.data = 77;
  REQUIRE(fi_writemsg(p.a.ep.get(), &m, FI_REMOTE_CQ_DATA) == 0);
  fi_cq_tagged_entry e{};
  ssize_t n = 0;
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((n = fi_cq_read(p.b.cq.get(), &e, 1)) == -FI_EAGAIN &&
         std::chrono::steady_clock::now() < late) {
  }
  REQUIRE(n == 1);
  CHECK(e.data == 77);
  CHECK(words[3] == 1);
  CHECK(words[4] == 2);
  p.next(p.a);
}

TEST_CASE("ofi: atomics in several steps, injected, are done when their endpoint has been closed",
          "[memory]") {
  pair p({}, by_address);
  std::uint64_t words[8] = {};
  const exposed there(p.b, std::as_writable_bytes(std::span(words)));
  const double one = 1;
  for (int i = 0; i != 100; ++i)
    REQUIRE(fi_inject_atomic(p.a.ep.get(), &one, 1, p.to_b, there.at(0), there.key(), FI_DOUBLE,
                             FI_SUM) == 0);
  p.a.ep.reset();
  double found = 0;
  std::memcpy(&found, words, sizeof found);
  CHECK(found == 100);
}
