// SPDX-License-Identifier: Apache-2.0
// Payloads that receiver and sender copy together, between two transports on the test's thread.
#include <sys/mman.h>

#include "shm_two.hpp"

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/progress/engine.hpp"
#include "support/foreign_memory.hpp"
#include "support/pattern.hpp"
#include "transports/shm/shared_copy.hpp"

using weft::metrics;
using weft::tests::bytes;
using weft::tests::pattern;
using progress = shared_copy_receiver::progress;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// A payload of `a` that `b` gets.
struct get {
  get(two& t, std::size_t size) : ends(t), out(pattern(size, 7)), in(size) {
    at = ends.a.out->expose(const_buffer(out.data(), out.size()));
    REQUIRE(at);
    REQUIRE(at->region == 0);
  }
  post begin(std::uint64_t cookie = 1) {
    pieces[0] = mutable_buffer(in.data(), in.size());
    return ends.b.out->get(scatter(std::span<const mutable_buffer>(pieces)), *at, in.size(),
                           cookie);
  }
  bool ended(std::uint64_t cookie = 1) const {
    const auto found = ends.b.peer.transferred.find(cookie);
    if (found == ends.b.peer.transferred.end()) return false;
    CHECK(found->second);
    return true;
  }

  two& ends;
  bytes out, in;
  std::optional<remote_address> at;
  mutable_buffer pieces[1];
};

std::uint64_t written_by(const side& s) {
  metrics m;
  s.transport.add_to(m);
  return m.shared_copy_chunks;
}

}  // namespace

TEST_CASE("shared copy: both sides copy chunks of one payload") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, 4 * mib);
  REQUIRE(g.begin() == post::posted);
  while (!g.ended()) {
    t.a.transport.poll();
    t.b.transport.poll();
  }
  CHECK((g.in == g.out));
  CHECK(written_by(t.a) > 0);
  CHECK(written_by(t.a) < shared_copy::chunks_of(4 * mib));
}

TEST_CASE("shared copy: the receiver copies all for a sender that computes") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, 4 * mib);
  REQUIRE(g.begin() == post::posted);
  while (!g.ended()) t.b.transport.poll();
  CHECK((g.in == g.out));
  CHECK(written_by(t.a) == 0);
}

TEST_CASE("shared copy: the sender copies what the receiver has no time for") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, mib);
  REQUIRE(g.begin() == post::posted);
  CHECK(t.a.transport.has_work());
  while (t.a.transport.poll() != 0) {
  }
  CHECK_FALSE(t.a.transport.has_work());
  CHECK((g.in == g.out));  // the receiver has not been told of it yet
  CHECK_FALSE(g.ended());
  t.b.transport.poll();
  CHECK(g.ended());
}

TEST_CASE("shared copy: a short payload is copied at once outside of a pass, a long one is not") {
  if (weft::tests::skipped_without_cma()) return;
  runtime::engine e(weft::progress_mode::polling, {}, "epoll");
  {
    two t(copy_method::automatic, ::getpid(), {}, &e);
    const runtime::engine::holder hold(e);
    get g(t, 64 * 1024);
    REQUIRE(g.begin() == post::done);
    CHECK((g.in == g.out));
    get longer(t, mib);
    REQUIRE(longer.begin(2) == post::posted);
    while (!longer.ended(2)) t.b.transport.poll();
    CHECK((longer.in == longer.out));
    CHECK_FALSE(g.ended());
  }
  e.stop();
}

TEST_CASE("shared copy: nothing is copied by the number of a process that has ended") {
  if (weft::tests::skipped_without_cma()) return;
  runtime::event_fd end;
  two t(copy_method::automatic, ::getpid(),
        std::make_shared<const weft::unique_fd>(runtime::duplicate(end.fd())));
  get g(t, mib);
  REQUIRE(g.begin() == post::posted);
  CHECK(t.a.transport.has_work());
  end.ring();
  while (t.a.transport.poll() != 0) {
  }
  t.b.transport.poll();
  CHECK((g.in == bytes(mib)));
  CHECK(t.b.peer.transferred == std::map<std::uint64_t, bool>{{1, false}});
}

TEST_CASE("shared copy: several payloads at once, in turns") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get first(t, 2 * mib), second(t, 3 * mib), third(t, mib / 2);
  REQUIRE(first.begin(1) == post::posted);
  REQUIRE(second.begin(2) == post::posted);
  REQUIRE(third.begin(3) == post::posted);
  while (!first.ended(1) || !second.ended(2) || !third.ended(3)) {
    t.b.transport.poll();
    t.a.transport.poll();
  }
  CHECK((first.in == first.out));
  CHECK((second.in == second.out));
  CHECK((third.in == third.out));
  CHECK(written_by(t.a) > 0);
}

TEST_CASE("shared copy: of a receive of several pieces only the last one is shared") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, mib);
  mutable_buffer pieces[] = {{g.in.data(), mib / 4}, {g.in.data() + mib / 4, 3 * mib / 4}};
  CHECK_FALSE(t.a.transport.has_work());
  REQUIRE(t.b.out->get(scatter(std::span<const mutable_buffer>(pieces)), *g.at, mib, 1) ==
          post::posted);
  while (!g.ended()) {
    t.a.transport.poll();
    t.b.transport.poll();
  }
  CHECK((g.in == g.out));
}

TEST_CASE("shared copy: only exposed memory is written, and only until it is withdrawn") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, mib);
  const bool withdrawn = GENERATE(true, false);
  if (withdrawn) {
    t.a.out->withdraw(*g.at);
  } else {  // a peer that asks for more than was exposed
    g.at->offset += page;
  }
  REQUIRE(g.begin() == post::posted);
  CHECK_FALSE(t.a.transport.has_work());
  for (int n = 0; n != 20; ++n) t.a.transport.poll();
  CHECK(written_by(t.a) == 0);
  t.b.transport.forget(t.b.peer);
}

TEST_CASE("shared copy: a sender that cannot write leaves all to the receiver, from then on") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, mib);
  // Only whole pages inside of the receive's memory.
  const auto begin = (reinterpret_cast<std::uintptr_t>(g.in.data()) + page - 1) / page * page;
  void* const inside = reinterpret_cast<void*>(begin);
  REQUIRE(g.begin() == post::posted);
  REQUIRE(::mprotect(inside, mib - 2 * page, PROT_READ) == 0);
  CHECK(t.a.transport.poll() == 1);  // it tries
  REQUIRE(::mprotect(inside, mib - 2 * page, PROT_READ | PROT_WRITE) == 0);
  while (!g.ended()) {
    t.b.transport.poll();
    t.a.transport.poll();
  }
  CHECK((g.in == g.out));
  get again(t, mib);
  REQUIRE(again.begin(2) == post::posted);
  CHECK_FALSE(t.a.transport.has_work());
  while (!again.ended(2)) t.b.transport.poll();
  CHECK((again.in == again.out));
}

TEST_CASE("shared copy: a sender writes to no process that it has not probed") {
  if (weft::tests::skipped_without_cma()) return;
  two t(copy_method::automatic, 1 << 22);  // the number of no process
  get g(t, mib);
  REQUIRE(g.begin() == post::posted);
  CHECK_FALSE(t.a.transport.has_work());
  for (int n = 0; n != 20; ++n) t.a.transport.poll();
  CHECK(written_by(t.a) == 0);
  while (!g.ended()) t.b.transport.poll();
  CHECK((g.in == g.out));
}

TEST_CASE("shared copy: memory that is unmapped meanwhile ends this copy, and says so") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  void* const there =
      ::mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(there != MAP_FAILED);
  const auto at = t.a.out->expose(const_buffer(static_cast<std::byte*>(there), mib));
  REQUIRE(at);
  bytes in(mib);
  const mutable_buffer pieces[] = {mutable_buffer(in.data(), in.size())};
  REQUIRE(t.b.out->get(scatter(std::span<const mutable_buffer>(pieces)), *at, mib, 1) ==
          post::posted);
  REQUIRE(::munmap(there, mib) == 0);
  const bool sender_first = GENERATE(true, false);
  if (sender_first) t.a.transport.poll();
  while (t.b.peer.transferred.empty()) t.b.transport.poll();
  CHECK_FALSE(t.b.peer.transferred.at(1));
}

TEST_CASE("shared copy: no chunk is written after the receiver has given the memory back") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  get g(t, mib);
  REQUIRE(g.begin() == post::posted);
  const bool by_link = GENERATE(true, false);
  by_link ? t.b.out->let_go() : t.b.transport.forget(t.b.peer);
  const bytes before = g.in;
  CHECK_FALSE(t.a.transport.has_work());
  for (int n = 0; n != 20; ++n) t.a.transport.poll();
  CHECK((g.in == before));
  CHECK_FALSE(g.ended());
}

TEST_CASE("shared copy: a sender that lies harms its own message only") {
  shared_copy words{};
  shared_copy_receiver r(words);
  const std::uint64_t size = 8 * shared_copy::largest_chunk;
  r.open(0, 0, size);
  REQUIRE(r.claim());
  CHECK(r.now() == progress::under_way);
  SECTION("it has written more than there is") {
    words.written = shared_copy::word(1, 9);
    CHECK(r.now() == progress::broken);
  }
  SECTION("it refuses") {
    words.written = shared_copy::word(1, shared_copy::refused);
    CHECK(r.now() == progress::broken);
    CHECK(r.close());
    CHECK_FALSE(r.is_writing());
  }
  SECTION("it counts chunks of another payload") {
    words.written = shared_copy::word(7, 7);
    CHECK(r.now() == progress::under_way);
  }
  SECTION("it sets the next chunk back for ever") {
    int claimed = 1;
    for (int n = 0; n != 100; ++n) {
      words.next = shared_copy::word(1, 0);
      claimed += r.claim().has_value();
    }
    CHECK(claimed == 8);
    CHECK(r.now() != progress::under_way);
  }
  SECTION("it names chunks beyond the end") {
    words.next = shared_copy::word(1, 1000);
    CHECK_FALSE(r.claim());
    CHECK(r.now() == progress::broken);
    CHECK_FALSE(r.close());
    CHECK_FALSE(r.is_writing());
  }
  SECTION("it names another payload") {
    words.next = shared_copy::word(5, 1);
    CHECK_FALSE(r.claim());
    CHECK(r.now() == progress::broken);
    CHECK_FALSE(r.close());
  }
}

TEST_CASE("shared copy: chunks cover every payload once") {
  const std::uint64_t size =
      GENERATE(std::uint64_t{64 * 1024}, std::uint64_t{65'537}, std::uint64_t{999'999},
               std::uint64_t{4 * mib}, std::uint64_t{100'000'001});
  shared_copy words{};
  shared_copy_receiver r(words);
  r.open(1'000, 2'000, size);
  shared_copy_sender s(words);
  std::uint64_t end = 0;
  for (bool mine = true;; mine = !mine) {
    if (mine) {
      const auto c = r.claim();
      if (!c) break;
      CHECK(c->offset == end);
      end += c->bytes;
      continue;
    }
    const auto o = s.offered();
    if (!o) break;
    const auto c = s.claim(*o);
    REQUIRE(c);
    CHECK(c->from == 1'000 + end);
    CHECK(c->to == 2'000 + end);
    end += c->bytes;
    s.wrote(true);
  }
  CHECK(end == size);
  CHECK(r.now() == progress::whole);
}
