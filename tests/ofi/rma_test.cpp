// SPDX-License-Identifier: Apache-2.0
// Memory of a peer: read, written, refused; and what the peer is told.
#include <algorithm>
#include <optional>
#include <string>

#include "memory.hpp"

using namespace ofi_test;

TEST_CASE("ofi: memory of a peer is written and read, in all sizes, over shared memory and TCP",
          "[memory]") {
  const through way(GENERATE("self,shm", "self,tcp"));
  const int mode = GENERATE(0, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
  pair p({}, mode);
  bytes there((8u << 20) + 5);
  const exposed mine(p.b, there);
  for (const std::size_t size :
       {0u, 1u, 8u, 37u, 4096u, 8192u, 8193u, 70'000u, 1'000'001u, 8u << 20}) {
    CAPTURE(size, mode, way.name);
    const bytes out = pattern(size);
    bytes back(size);
    std::fill(there.begin(), there.end(), std::byte{0x55});
    REQUIRE(fi_write(p.a.ep.get(), out.data(), size, nullptr, p.to_b, mine.at(3), mine.key(),
                     &there) == 0);
    fi_cq_tagged_entry e = p.next(p.a);
    CHECK(e.op_context == &there);
    CHECK(e.flags == (FI_RMA | FI_WRITE));
    // The operation has ended, so the data is there.
    CHECK(std::equal(out.begin(), out.end(), there.begin() + 3));
    CHECK(there[2] == std::byte{0x55});
    CHECK(there[3 + size] == std::byte{0x55});
    REQUIRE(fi_read(p.a.ep.get(), back.data(), size, nullptr, p.to_b, mine.at(3), mine.key(),
                    &back) == 0);
    e = p.next(p.a);
    CHECK(e.op_context == &back);
    CHECK(e.flags == (FI_RMA | FI_READ));
    CHECK(back == out);
  }
}

TEST_CASE("ofi: what lies in pieces here and there is one operation", "[memory]") {
  pair p({}, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
  const std::size_t size = GENERATE(1'000u, 100'000u);
  bytes there(size), other(size);
  const exposed mine(p.b, there), second(p.b, other);
  bytes out = pattern(2 * size - 20), back(out.size());
  const auto pieces_of = [&](bytes& b) {
    return std::array<iovec, 4>{{{b.data(), 10},
                                 {b.data() + 10, 0},
                                 {b.data() + 10, size / 2},
                                 {b.data() + 10 + size / 2, b.size() - 10 - size / 2}}};
  };
  const std::array<fi_rma_iov, 3> places{{{mine.at(0), size - 20, mine.key()},
                                          {second.at(7), 0, second.key()},
                                          {second.at(0), size, second.key()}}};
  const auto ask = [&](bytes& here, auto call, std::uint64_t flags) {
    const auto pieces = pieces_of(here);
    fi_msg_rma m{};
    m.msg_iov = pieces.data();
    m.iov_count = pieces.size();
    m.addr = p.to_b;
    m.rma_iov = places.data();
    m.rma_iov_count = places.size();
    m.context = &here;
    m.data = 77;
    REQUIRE(call(p.a.ep.get(), &m, flags) == 0);
  };
  ask(out, fi_writemsg, FI_COMPLETION | FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE);
  CHECK(p.next(p.b).data == 77);
  CHECK(
      std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size) - 20, there.begin()));
  CHECK(
      std::equal(other.begin(), other.end(), out.begin() + static_cast<std::ptrdiff_t>(size) - 20));
  CHECK(p.next(p.a).op_context == &out);
  ask(back, fi_readmsg, FI_COMPLETION);
  CHECK(p.next(p.a).op_context == &back);
  CHECK(back == out);

  const auto pieces = pieces_of(out);
  std::fill(back.begin(), back.end(), std::byte{0});
  std::fill(there.begin(), there.end(), std::byte{0});
  REQUIRE(fi_writev(p.a.ep.get(), pieces.data(), nullptr, 3, p.to_b, mine.at(1), mine.key(),
                    &out) == 0);
  CHECK(p.next(p.a).op_context == &out);
  const auto again = pieces_of(back);
  REQUIRE(fi_readv(p.a.ep.get(), again.data(), nullptr, 3, p.to_b, mine.at(1), mine.key(), &back) ==
          0);
  p.next(p.a);
  CHECK(std::equal(out.begin(), out.begin() + 10 + static_cast<std::ptrdiff_t>(size) / 2,
                   back.begin()));

  // One of the parts fails: so does the whole operation, once.
  std::array<fi_rma_iov, 2> half{places[0], {second.at(0), size, second.key() + 1}};
  fi_msg_rma m{};
  m.msg_iov = pieces.data();
  m.iov_count = pieces.size();
  m.addr = p.to_b;
  m.rma_iov = half.data();
  m.rma_iov_count = half.size();
  m.context = &half;
  m.data = 1;
  REQUIRE(fi_writemsg(p.a.ep.get(), &m, FI_REMOTE_CQ_DATA) == 0);
  const fi_cq_err_entry e = p.next_error(p.a);
  CHECK(e.err == FI_EKEYREJECTED);
  CHECK(e.op_context == &half);
  half[1].len -= 1;
  CHECK(fi_writemsg(p.a.ep.get(), &m, 0) == -FI_EINVAL);
  pair::move(p.a);
  pair::move(p.b);
}

TEST_CASE("ofi: remote CQ data tells the peer that the bytes are there", "[memory]") {
  const through way(GENERATE("self,shm", "self,tcp"));
  pair p({}, GENERATE(0, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY));
  bytes there(1'000'000);
  const exposed mine(p.b, there);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, there.size()}) {
    CAPTURE(size, way.name);
    const bytes out = pattern(size, 5);
    REQUIRE(fi_writedata(p.a.ep.get(), out.data(), size, nullptr, 0xfeedf00d, p.to_b, mine.at(0),
                         mine.key(), nullptr) == 0);
    fi_addr_t from = FI_ADDR_UNSPEC;
    const fi_cq_tagged_entry e = p.next(p.b, &from);
    CHECK(e.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
    CHECK(e.data == 0xfeedf00d);
    CHECK(from == p.to_a);
    CHECK(std::equal(out.begin(), out.end(), there.begin()));
    p.next(p.a);
  }
  // More than a region keeps. They may overtake each other, but their bytes may not; their source
  // memory belongs to the caller at once.
  constexpr std::uint64_t many = 5000;
  std::vector<bool> heard(many);
  std::uint64_t sent = 0;
  for (std::uint64_t n = 0; n != many; ++n) {
    for (; sent != many && sent - n < 900; ++sent) {
      std::uint64_t word = sent;
      REQUIRE(fi_inject_writedata(p.a.ep.get(), &word, sizeof word, sent, p.to_b, mine.at(8 * sent),
                                  mine.key()) == 0);
      word = ~word;
    }
    const std::uint64_t data = p.next(p.b).data;
    REQUIRE(data < many);
    REQUIRE_FALSE(heard[data]);
    heard[data] = true;
    std::uint64_t word = 0;
    std::memcpy(&word, there.data() + 8 * data, sizeof word);
    REQUIRE(word == data);
  }
  pair::move(p.a);
}

TEST_CASE("ofi: what may not be done is refused, and nothing is touched", "[memory]") {
  const int mode = GENERATE(0, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
  pair p({}, mode);
  bytes there(1000, std::byte{0x55}), here(1000);
  const exposed readable(p.b, there, FI_REMOTE_READ), writable(p.b, there, FI_REMOTE_WRITE);
  std::optional<exposed> gone(std::in_place, p.b, there);
  const std::uint64_t old_key = gone->key(), old_place = gone->at(0);
  gone.reset();
  const auto write_ends = [&](std::size_t size, std::uint64_t where, std::uint64_t key) {
    REQUIRE(fi_write(p.a.ep.get(), here.data(), size, nullptr, p.to_b, where, key, &here) == 0);
    return p.next_error(p.a);
  };
  const auto read_ends = [&](std::size_t size, std::uint64_t where, std::uint64_t key) {
    REQUIRE(fi_read(p.a.ep.get(), here.data(), size, nullptr, p.to_b, where, key, &here) == 0);
    return p.next_error(p.a);
  };
  CHECK(write_ends(1, old_place, old_key).err == FI_EKEYREJECTED);
  CHECK(read_ends(1, old_place, old_key).err == FI_EKEYREJECTED);
  CHECK(write_ends(1, writable.at(0), writable.key() ^ 0x40).err == FI_EKEYREJECTED);
  CHECK(write_ends(1, readable.at(0), readable.key()).err == FI_EACCES);
  CHECK(read_ends(1, writable.at(0), writable.key()).err == FI_EACCES);
  for (const std::uint64_t outside :
       {writable.at(1000), writable.at(0) - 1, std::uint64_t{1} << 40}) {
    CAPTURE(outside);
    const fi_cq_err_entry e = write_ends(1, outside, writable.key());
    CHECK((e.err == FI_EACCES || e.err == FI_EINVAL));
    CHECK(e.op_context == &here);
    CHECK(e.flags == (FI_RMA | FI_WRITE));
  }
  CHECK(write_ends(1000, writable.at(1), writable.key()).err == FI_EACCES);
  CHECK(std::count(there.begin(), there.end(), std::byte{0x55}) == 1000);

  CHECK(fi_write(p.a.ep.get(), here.data(), 1, nullptr, 4711, writable.at(0), writable.key(),
                 nullptr) == -FI_EINVAL);
  CHECK(fi_inject_write(p.a.ep.get(), here.data(), 1000, p.to_b, writable.at(0), writable.key()) ==
        -FI_EINVAL);
  // A failure is reported even if the end is not.
  REQUIRE(fi_inject_write(p.a.ep.get(), here.data(), 8, p.to_b, readable.at(0), readable.key()) ==
          0);
  CHECK(p.next_error(p.a).err == FI_EACCES);
  REQUIRE(fi_inject_write(p.a.ep.get(), here.data(), 8, p.to_b, writable.at(0), writable.key()) ==
          0);
  REQUIRE(fi_write(p.a.ep.get(), here.data(), 8, nullptr, p.to_b, writable.at(8), writable.key(),
                   &there) == 0);
  CHECK(p.next(p.a).op_context == &there);
}

TEST_CASE("ofi: keys are the application's, or drawn; a region ends with its object", "[memory]") {
  bytes memory(100);
  const auto reg = [&](side& s, std::uint64_t key, fid_mr** m) {
    return fi_mr_reg(s.domain.get(), memory.data(), memory.size(), FI_REMOTE_WRITE, 0, key, 0, m,
                     nullptr);
  };
  side chosen({}, access_hints(0));
  fid_mr* refused = nullptr;
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{1}}) {
    CAPTURE(key);
    for (int i = 0; i != 2; ++i) {
      const auto mr = made<fid_mr>([&](auto m) { return reg(chosen, key, m); });
      CHECK(fi_mr_key(mr.get()) == key);
      CHECK(reg(chosen, key, &refused) == -FI_ENOKEY);
    }
  }
  CHECK(reg(chosen, FI_KEY_NOTAVAIL, &refused) == -FI_EKEYREJECTED);
  const std::array<iovec, 2> two{{{memory.data(), 10}, {memory.data() + 20, 10}}};
  CHECK(fi_mr_regv(chosen.domain.get(), two.data(), 2, FI_REMOTE_READ, 0, 5, 0, &refused,
                   nullptr) == -FI_EINVAL);

  side drawn({}, access_hints());
  const auto a = made<fid_mr>([&](auto m) { return reg(drawn, 5, m); });
  auto b = made<fid_mr>([&](auto m) { return reg(drawn, 5, m); });
  CHECK(fi_mr_key(a.get()) != 5);
  CHECK(fi_mr_key(a.get()) != fi_mr_key(b.get()));
  drawn.ep.reset();  // regions belong to the domain
  b.reset();
}

TEST_CASE("ofi: memory is reached through endpoints that are made before it and after it",
          "[memory]") {
  side a({}, access_hints()), b({}, access_hints());
  bytes there(100);
  const exposed mine(b, there);
  const auto later =
      made<fid_ep>([&](auto e) { return fi_endpoint(b.domain.get(), b.info.get(), e, nullptr); });
  REQUIRE(fi_ep_bind(later.get(), &b.av->fid, 0) == 0);
  REQUIRE(fi_ep_bind(later.get(), &b.cq->fid, FI_TRANSMIT | FI_RECV) == 0);
  REQUIRE(fi_enable(later.get()) == 0);
  std::array<std::byte, 64> name{};
  std::size_t size = name.size();
  REQUIRE(fi_getname(&later->fid, name.data(), &size) == 0);
  fi_addr_t second = FI_ADDR_NOTAVAIL;
  REQUIRE(fi_av_insert(a.av.get(), name.data(), 1, &second, 0, nullptr) == 1);
  for (const fi_addr_t to : {a.meet(b), second}) {
    const bytes out = pattern(100, static_cast<unsigned>(to));
    REQUIRE(fi_write(a.ep.get(), out.data(), 100, nullptr, to, mine.at(0), mine.key(), nullptr) ==
            0);
    fi_cq_tagged_entry e{};
    while (fi_cq_read(a.cq.get(), &e, 1) == -FI_EAGAIN) pair::move(b);
    CHECK(there == out);
  }
}

TEST_CASE("ofi: reads and writes have counters of their own, and are told only if that is asked",
          "[memory]") {
  settings s;
  s.counts = true;
  s.bind_flags |= FI_SELECTIVE_COMPLETION;
  pair p(s, 0);
  bytes there(1000), here = pattern(1000);
  const exposed mine(p.b, there);
  for (int i = 0; i != 3; ++i)
    REQUIRE(fi_write(p.a.ep.get(), here.data(), 1000, nullptr, p.to_b, 0, mine.key(), nullptr) ==
            0);
  REQUIRE(fi_inject_write(p.a.ep.get(), here.data(), 8, p.to_b, 0, mine.key()) == 0);
  for (int i = 0; i != 2; ++i)
    REQUIRE(fi_read(p.a.ep.get(), here.data(), 1000, nullptr, p.to_b, 0, mine.key(), nullptr) == 0);
  CHECK(fi_cntr_wait(p.a.written.get(), 4, 30'000) == 0);
  CHECK(fi_cntr_wait(p.a.read.get(), 2, 30'000) == 0);
  CHECK(fi_cntr_read(p.a.written.get()) == 4);
  CHECK(fi_cntr_read(p.a.read.get()) == 2);
  CHECK(fi_cntr_read(p.a.sent.get()) == 0);
  pair::move(p.a);
  const iovec piece{here.data(), 10};
  const fi_rma_iov place{0, 10, mine.key()};
  fi_msg_rma m{};
  m.msg_iov = &piece;
  m.iov_count = m.rma_iov_count = 1;
  m.addr = p.to_b;
  m.rma_iov = &place;
  m.context = &there;
  REQUIRE(fi_readmsg(p.a.ep.get(), &m, FI_COMPLETION) == 0);
  CHECK(p.next(p.a).op_context == &there);
  REQUIRE(fi_read(p.a.ep.get(), here.data(), 10, nullptr, p.to_b, 0, mine.key() + 1, nullptr) == 0);
  CHECK(fi_cntr_wait(p.a.read.get(), 4, 30'000) == -FI_EAVAIL);
  CHECK(p.next_error(p.a).err == FI_EKEYREJECTED);

  const auto bare = made<fid_ep>(
      [&](auto e) { return fi_endpoint(p.a.domain.get(), p.a.info.get(), e, nullptr); });
  CHECK(fi_ep_bind(bare.get(), &p.a.read->fid, FI_REMOTE_WRITE) == -FI_EOPNOTSUPP);
}

TEST_CASE("ofi: an endpoint that is enabled takes counters and nothing else", "[memory]") {
  settings s;
  s.bind_flags |= FI_SELECTIVE_COMPLETION;
  pair p(s, 0);
  bytes there(1000), here = pattern(1000);
  const exposed mine(p.b, there);
  const auto write = [&] {
    return fi_write(p.a.ep.get(), here.data(), 1000, nullptr, p.to_b, 0, mine.key(), nullptr);
  };
  fi_cntr_attr plain{};
  const auto make = [&](auto c) { return fi_cntr_open(p.a.domain.get(), &plain, c, nullptr); };
  p.a.written = made<fid_cntr>(make);
  p.a.read = made<fid_cntr>(make);
  fid_ep* const ep = p.a.ep.get();
  REQUIRE(fi_ep_bind(ep, &p.a.written->fid, FI_WRITE) == 0);
  REQUIRE(fi_ep_bind(ep, &p.a.read->fid, FI_READ) == 0);
  CHECK(fi_ep_bind(ep, &p.a.read->fid, FI_READ) == -FI_EINVAL);
  CHECK(fi_ep_bind(ep, &p.a.av->fid, 0) == -FI_EOPBADSTATE);
  CHECK(fi_ep_bind(ep, &p.a.cq->fid, FI_RECV) == -FI_EOPBADSTATE);
  REQUIRE(write() == 0);
  REQUIRE(fi_read(ep, here.data(), 1000, nullptr, p.to_b, 0, mine.key(), nullptr) == 0);
  CHECK(fi_cntr_wait(p.a.written.get(), 1, 30'000) == 0);
  CHECK(fi_cntr_wait(p.a.read.get(), 1, 30'000) == 0);
  CHECK(there == pattern(1000));
}

TEST_CASE("ofi: a peer that has gone ends what was asked of its memory", "[memory]") {
  side a({}, access_hints());
  auto b = std::make_unique<side>(settings{}, access_hints());
  const fi_addr_t there = a.meet(*b);
  bytes memory(1000), here(1000);
  auto mine = std::make_unique<exposed>(*b, memory);
  const std::uint64_t key = mine->key(), place = mine->at(0);
  fi_cq_tagged_entry e{};
  REQUIRE(fi_write(a.ep.get(), here.data(), 1000, nullptr, there, place, key, &here) == 0);
  while (fi_cq_read(a.cq.get(), &e, 1) == -FI_EAGAIN) pair::move(*b);
  mine.reset();
  b.reset();
  REQUIRE(fi_read(a.ep.get(), here.data(), 1000, nullptr, there, place, key, &memory) == 0);
  CHECK(fi_cq_sread(a.cq.get(), &e, 1, nullptr, 30'000) == -FI_EAVAIL);
  fi_cq_err_entry error{};
  REQUIRE(fi_cq_readerr(a.cq.get(), &error, 0) == 1);
  CHECK((error.err == FI_ESHUTDOWN || error.err == FI_ECONNRESET));
  CHECK(error.op_context == &memory);
}

TEST_CASE("ofi: memory and endpoints can be closed with everything in flight", "[memory]") {
  pair p({}, 0);
  bytes there(4'000'000), here(there.size());
  std::optional<exposed> mine(std::in_place, p.b, there);
  for (int i = 0; i != 4; ++i) {
    REQUIRE(fi_read(p.a.ep.get(), here.data(), here.size(), nullptr, p.to_b, 0, mine->key(),
                    nullptr) == 0);
    REQUIRE(fi_writedata(p.a.ep.get(), here.data(), 10, nullptr, 1, p.to_b, 0, mine->key(),
                         nullptr) == 0);
  }
  pair::move(p.b);
  const bool the_memory = GENERATE(true, false);
  if (the_memory) mine.reset();
  CHECK(fi_close(&p.b.ep.release()->fid) == 0);
  CHECK(fi_close(&p.a.ep.release()->fid) == 0);
}
