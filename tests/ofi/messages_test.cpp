// SPDX-License-Identifier: Apache-2.0
// Messages, and the content of their completions.
#include <algorithm>
#include <array>
#include <cstddef>

#include "side.hpp"

using namespace ofi_test;

TEST_CASE("ofi: messages of all sizes, with and without tags, both ways") {
  pair p;
  const auto both = [&](bool tagged) {
    for (const std::size_t size : {0u, 1u, 8u, 36u, 37u, 256u, 4096u, 70'000u, 3'000'000u}) {
      CAPTURE(tagged, size);
      const bytes out = pattern(size), back = pattern(size, 2);
      bytes in(size), in_back(size);
      if (tagged) {
        REQUIRE(fi_trecv(p.b.ep.get(), in.data(), size, nullptr, FI_ADDR_UNSPEC, 7, 0, &in) == 0);
        REQUIRE(fi_trecv(p.a.ep.get(), in_back.data(), size, nullptr, p.to_b, 8, 0, &in_back) == 0);
        REQUIRE(fi_tsend(p.a.ep.get(), out.data(), size, nullptr, p.to_b, 7, nullptr) == 0);
        REQUIRE(fi_tsend(p.b.ep.get(), back.data(), size, nullptr, p.to_a, 8, nullptr) == 0);
      } else {
        REQUIRE(fi_recv(p.b.ep.get(), in.data(), size, nullptr, FI_ADDR_UNSPEC, &in) == 0);
        REQUIRE(fi_recv(p.a.ep.get(), in_back.data(), size, nullptr, p.to_b, &in_back) == 0);
        REQUIRE(fi_send(p.a.ep.get(), out.data(), size, nullptr, p.to_b, nullptr) == 0);
        REQUIRE(fi_send(p.b.ep.get(), back.data(), size, nullptr, p.to_a, nullptr) == 0);
      }
      for (side* s : {&p.a, &p.b}) {
        std::uint64_t seen = 0;
        for (int i = 0; i != 2; ++i) {
          const fi_cq_tagged_entry e = p.next(*s);
          seen |= e.flags & (FI_SEND | FI_RECV);
          CHECK((e.flags & (FI_MSG | FI_TAGGED)) == (tagged ? FI_TAGGED : FI_MSG));
          if ((e.flags & FI_RECV) == 0) continue;
          CHECK(e.len == size);
          CHECK((e.flags & FI_REMOTE_CQ_DATA) == 0);
          CHECK(e.op_context == (s == &p.a ? &in_back : &in));
          if (tagged) CHECK(e.tag == (s == &p.a ? 8 : 7));
        }
        CHECK(seen == (FI_SEND | FI_RECV));
      }
      CHECK(in == out);
      CHECK(in_back == back);
    }
  };
  both(true);
  both(false);
}

TEST_CASE("ofi: remote CQ data goes along with messages that come early, late, and injected") {
  pair p;
  const bytes small = pattern(20), large = pattern(1'000'000);
  bytes in(large.size());
  for (const bool early : {true, false}) {
    CAPTURE(early);
    for (const bytes* out : {&small, &large}) {
      const auto post = [&] {
        REQUIRE(fi_trecv(p.b.ep.get(), in.data(), in.size(), nullptr, p.to_a, 1, 0, nullptr) == 0);
      };
      if (!early) post();
      REQUIRE(fi_tsenddata(p.a.ep.get(), out->data(), out->size(), nullptr, 0xfeedf00d, p.to_b, 1,
                           nullptr) == 0);
      if (early) {
        for (int i = 0; i != 1000; ++i) pair::move(p.b);
        post();
      }
      fi_addr_t from = FI_ADDR_UNSPEC;
      const fi_cq_tagged_entry e = p.next(p.b, &from);
      CHECK((e.flags & FI_REMOTE_CQ_DATA) != 0);
      CHECK(e.data == 0xfeedf00d);
      CHECK(e.len == out->size());
      CHECK(from == p.to_a);
      CHECK(std::equal(out->begin(), out->end(), in.begin()));
      p.next(p.a);
    }
  }
  // The memory of an injected message belongs to the caller at once; no completion reports its end.
  REQUIRE(fi_trecv(p.b.ep.get(), in.data(), in.size(), nullptr, p.to_a, 1, 0, nullptr) == 0);
  bytes mine = small;
  REQUIRE(fi_tinjectdata(p.a.ep.get(), mine.data(), mine.size(), 7, p.to_b, 1) == 0);
  std::fill(mine.begin(), mine.end(), std::byte{0xee});
  CHECK(p.next(p.b).data == 7);
  CHECK(std::equal(small.begin(), small.end(), in.begin()));
  pair::move(p.a);
  CHECK(fi_tinject(p.a.ep.get(), large.data(), large.size(), p.to_b, 1) == -FI_EINVAL);
}

TEST_CASE("ofi: tags select by their bits; the highest is not theirs") {
  pair p;
  int odd = 0, any = 0, in = 0;
  REQUIRE(fi_trecv(p.b.ep.get(), &odd, sizeof odd, nullptr, FI_ADDR_UNSPEC, 1, ~1ull, &odd) == 0);
  REQUIRE(fi_trecv(p.b.ep.get(), &any, sizeof any, nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &any) == 0);
  REQUIRE(fi_recv(p.b.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, &in) == 0);
  const int words[] = {10, 11, 12};
  REQUIRE(fi_inject(p.a.ep.get(), &words[2], sizeof(int), p.to_b) == 0);
  REQUIRE(fi_tinject(p.a.ep.get(), &words[0], sizeof(int), p.to_b, 100) == 0);
  REQUIRE(fi_tinject(p.a.ep.get(), &words[1], sizeof(int), p.to_b, 101) == 0);
  for (int i = 0; i != 3; ++i) p.next(p.b);
  CHECK(odd == 11);
  CHECK(any == 10);
  CHECK(in == 12);
  CHECK(fi_tinject(p.a.ep.get(), &words[0], sizeof(int), p.to_b, 1ull << 63) == -FI_EINVAL);
}

TEST_CASE("ofi: messages in pieces") {
  pair p;
  bytes out = pattern(100'000), in(out.size());
  const auto pieces_of = [](bytes& b) {
    return std::array<iovec, 4>{{{b.data(), 10},
                                 {b.data() + 10, 0},
                                 {b.data() + 10, 50'000},
                                 {b.data() + 50'010, b.size() - 50'010}}};
  };
  const auto from = pieces_of(out), into = pieces_of(in);
  REQUIRE(fi_trecvv(p.b.ep.get(), into.data(), nullptr, 4, FI_ADDR_UNSPEC, 3, 0, nullptr) == 0);
  REQUIRE(fi_tsendv(p.a.ep.get(), from.data(), nullptr, 4, p.to_b, 3, nullptr) == 0);
  CHECK(p.next(p.b).len == out.size());
  CHECK(in == out);
  p.next(p.a);  // its progress thread may read `out` until then
  const std::array<iovec, 5> too_many{};
  CHECK(fi_tsendv(p.a.ep.get(), too_many.data(), nullptr, 5, p.to_b, 3, nullptr) == -FI_EINVAL);
}

TEST_CASE("ofi: a message that is too long fills its buffer and is told as cut off") {
  pair p;
  const bytes out = pattern(500'000);
  bytes in(100, std::byte{0});
  for (const std::size_t size : {std::size_t{200}, out.size()}) {
    REQUIRE(fi_trecv(p.b.ep.get(), in.data(), in.size(), nullptr, p.to_a, 1, 0, &in) == 0);
    REQUIRE(fi_tsenddata(p.a.ep.get(), out.data(), size, nullptr, 5, p.to_b, 1, nullptr) == 0);
    const fi_cq_err_entry e = p.next_error(p.b);
    CHECK(e.err == FI_ETRUNC);
    CHECK(e.len == in.size());
    CHECK(e.olen == size - in.size());
    CHECK(e.data == 5);
    CHECK(e.op_context == &in);
    CHECK(std::equal(in.begin(), in.end(), out.begin()));
    p.next(p.a);
    CHECK(*fi_cq_strerror(p.b.cq.get(), e.prov_errno, nullptr, nullptr, 0) != 0);
  }
}

TEST_CASE("ofi: a cancelled receive ends once, and never with a message lost") {
  pair p;
  int in = 0, out = 5;
  REQUIRE(fi_trecv(p.b.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &in) == 0);
  CHECK(fi_cancel(&p.b.ep->fid, &out) == -FI_ENOENT);
  CHECK(fi_cancel(&p.b.ep->fid, &in) == 0);
  const fi_cq_err_entry e = p.next_error(p.b);
  CHECK(e.err == FI_ECANCELED);
  CHECK(e.op_context == &in);
  CHECK(fi_cancel(&p.b.ep->fid, &in) == -FI_ENOENT);

  // A receive that has matched a large message goes on.
  const bytes large = pattern(30'000'000);
  bytes into(large.size());
  REQUIRE(fi_trecv(p.b.ep.get(), into.data(), into.size(), nullptr, p.to_a, 1, 0, &into) == 0);
  REQUIRE(fi_tsend(p.a.ep.get(), large.data(), large.size(), nullptr, p.to_b, 1, nullptr) == 0);
  for (int i = 0; i != 50; ++i) pair::move(p.b);
  if (fi_cancel(&p.b.ep->fid, &into) == 0) {
    CHECK(p.next_error(p.b).err == FI_ECANCELED);
    REQUIRE(fi_trecv(p.b.ep.get(), into.data(), into.size(), nullptr, p.to_a, 1, 0, &into) == 0);
  }
  CHECK(p.next(p.b).len == large.size());
  CHECK(into == large);
}

TEST_CASE("ofi: peeking, claiming, discarding") {
  pair p;
  const auto ask = [&](std::uint64_t flags, void* context, bytes* into = nullptr) {
    iovec piece{into ? into->data() : nullptr, into ? into->size() : 0};
    fi_msg_tagged m{};
    m.msg_iov = &piece;
    m.iov_count = into ? 1 : 0;
    m.addr = FI_ADDR_UNSPEC;
    m.tag = 9;
    m.context = context;
    REQUIRE(fi_trecvmsg(p.b.ep.get(), &m, flags | FI_COMPLETION) == 0);
  };
  int first = 0, second = 0;
  ask(FI_PEEK, &first);
  CHECK(p.next_error(p.b).err == FI_ENOMSG);

  const bytes out = pattern(3000), other = pattern(200'000, 3);
  REQUIRE(fi_tsenddata(p.a.ep.get(), out.data(), out.size(), nullptr, 1, p.to_b, 9, nullptr) == 0);
  REQUIRE(fi_tsenddata(p.a.ep.get(), other.data(), other.size(), nullptr, 2, p.to_b, 9, nullptr) ==
          0);
  p.next(p.a);
  for (int i = 0; i != 1000; ++i) pair::move(p.b);
  ask(FI_PEEK, &first);
  const fi_cq_tagged_entry seen = p.next(p.b);
  CHECK(seen.len == out.size());
  CHECK(seen.data == 1);
  CHECK(seen.op_context == &first);
  ask(FI_PEEK | FI_CLAIM, &first);
  CHECK(p.next(p.b).data == 1);
  // The claimed message is not in the way of the next one.
  ask(FI_PEEK | FI_CLAIM, &second);
  CHECK(p.next(p.b).data == 2);
  bytes in(other.size());
  ask(FI_CLAIM, &second, &in);
  CHECK(p.next(p.b).len == other.size());
  CHECK(in == other);
  ask(FI_CLAIM | FI_DISCARD, &first);
  CHECK(p.next(p.b).op_context == &first);
  CHECK((p.next(p.a).flags & FI_SEND) != 0);
  REQUIRE(fi_tinject(p.a.ep.get(), out.data(), 10, p.to_b, 9) == 0);
  for (int i = 0; i != 1000; ++i) pair::move(p.b);
  ask(FI_PEEK | FI_DISCARD, &first);
  CHECK(p.next(p.b).len == 10);
  ask(FI_PEEK, &first);
  CHECK(p.next_error(p.b).err == FI_ENOMSG);
}

TEST_CASE("ofi: a buffer for several messages is given back with its last one") {
  pair p;
  const std::size_t least = 100;
  REQUIRE(fi_setopt(&p.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least) ==
          0);
  bytes room(1000);
  iovec piece{room.data(), room.size()};
  fi_msg m{};
  m.msg_iov = &piece;
  m.iov_count = 1;
  m.addr = FI_ADDR_UNSPEC;
  m.context = &room;
  REQUIRE(fi_recvmsg(p.b.ep.get(), &m, FI_MULTI_RECV | FI_COMPLETION) == 0);
  std::size_t taken = 0;
  for (unsigned i = 0; i != 5; ++i) {
    CAPTURE(i);
    const bytes out = pattern(190, i);
    REQUIRE(fi_inject(p.a.ep.get(), out.data(), out.size(), p.to_b) == 0);
    const fi_cq_tagged_entry e = p.next(p.b);
    CHECK(e.op_context == &room);
    CHECK(e.buf == room.data() + taken);
    CHECK(e.len == out.size());
    CHECK(std::equal(out.begin(), out.end(), room.begin() + static_cast<std::ptrdiff_t>(taken)));
    CHECK(((e.flags & FI_MULTI_RECV) != 0) == (i == 4));
    taken += out.size();
  }
}

TEST_CASE("ofi: an endpoint can be closed with everything in flight") {
  ::setenv("WEFT_LINGER", "200", 1);  // the long send never leaves
  pair p;
  ::unsetenv("WEFT_LINGER");
  bytes room(1000);
  const bytes large = pattern(1'000'000);
  iovec piece{room.data(), room.size()};
  fi_msg m{};
  m.msg_iov = &piece;
  m.iov_count = 1;
  m.addr = FI_ADDR_UNSPEC;
  REQUIRE(fi_recvmsg(p.b.ep.get(), &m, FI_MULTI_RECV) == 0);
  REQUIRE(fi_inject(p.a.ep.get(), large.data(), 10, p.to_b) == 0);
  const bool read = GENERATE(true, false);
  if (read) p.next(p.b);
  REQUIRE(fi_trecv(p.b.ep.get(), room.data(), 10, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  REQUIRE(fi_tsend(p.b.ep.get(), large.data(), large.size(), nullptr, p.to_a, 1, nullptr) == 0);
  CHECK(fi_close(&p.b.ep.release()->fid) == 0);
  CHECK(fi_close(&p.b.cq.release()->fid) == 0);
}

TEST_CASE("ofi: completions that were not asked for are not reported; failures are") {
  settings s;
  s.bind_flags |= FI_SELECTIVE_COMPLETION;
  pair p(s);
  int in = 0, next_in = 0, out = 3;
  REQUIRE(fi_trecv(p.b.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &in) == 0);
  iovec room{&next_in, sizeof next_in};
  fi_msg_tagged wanted{};
  wanted.msg_iov = &room;
  wanted.iov_count = 1;
  wanted.addr = FI_ADDR_UNSPEC;
  wanted.tag = 2;
  wanted.context = &next_in;
  REQUIRE(fi_trecvmsg(p.b.ep.get(), &wanted, FI_COMPLETION) == 0);
  REQUIRE(fi_tsend(p.a.ep.get(), &out, sizeof out, nullptr, p.to_b, 1, nullptr) == 0);
  fi_msg_tagged m{};
  iovec piece{&out, sizeof out};
  m.msg_iov = &piece;
  m.iov_count = 1;
  m.addr = p.to_b;
  m.tag = 2;
  m.context = &out;
  REQUIRE(fi_tsendmsg(p.a.ep.get(), &m, FI_COMPLETION) == 0);
  CHECK(p.next(p.a).op_context == &out);
  // The second message comes after the first: its completion says that both are here.
  CHECK(p.next(p.b).op_context == &next_in);
  CHECK(in == out);
  CHECK(next_in == out);
  pair::move(p.b);
  // Its address is that of a process that never existed.
  REQUIRE(fi_trecv(p.b.ep.get(), &in, 1, nullptr, FI_ADDR_UNSPEC, 3, 0, &in) == 0);
  REQUIRE(fi_tsend(p.a.ep.get(), &out, sizeof out, nullptr, p.to_b, 3, nullptr) == 0);
  CHECK(p.next_error(p.b).err == FI_ETRUNC);
}

TEST_CASE("ofi: a peer that has gone ends what waits for it") {
  side a;
  auto b = std::make_unique<side>();
  const fi_addr_t there = a.meet(*b);
  int in = 0, out = 1;
  REQUIRE(fi_tinject(a.ep.get(), &out, sizeof out, there, 1) == 0);
  fi_cq_tagged_entry e{};
  fi_addr_t from = 0;
  REQUIRE(fi_trecv(b->ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &in) == 0);
  REQUIRE(fi_cq_sreadfrom(b->cq.get(), &e, 1, &from, nullptr, 30'000) == 1);
  CHECK(from == FI_ADDR_NOTAVAIL);  // the receiver does not know the sender
  REQUIRE(fi_trecv(a.ep.get(), &in, sizeof in, nullptr, there, 2, 0, &in) == 0);
  b.reset();
  CHECK(fi_cq_sread(a.cq.get(), &e, 1, nullptr, 30'000) == -FI_EAVAIL);
  // A program of libfabric 1.17 has an entry that ends with err_data_size; later ones have more.
  constexpr std::size_t oldest =
      offsetof(fi_cq_err_entry, err_data_size) + sizeof(fi_cq_err_entry::err_data_size);
  constexpr std::byte untouched{0xa5};
  alignas(fi_cq_err_entry) std::array<std::byte, oldest + 64> memory;
  memory.fill(untouched);
  auto& error = reinterpret_cast<fi_cq_err_entry&>(memory);
  // As its fi_cq_readerr does; that of libfabric 2 sets src_addr itself.
  REQUIRE(a.cq->ops->readerr(a.cq.get(), &error, 0) == 1);
  CHECK(error.err == FI_ESHUTDOWN);
  CHECK(error.op_context == &in);
  CHECK(std::all_of(memory.begin() + oldest, memory.end(),
                    [](std::byte b) { return b == untouched; }));
}
