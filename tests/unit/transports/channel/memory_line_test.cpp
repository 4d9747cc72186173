// SPDX-License-Identifier: Apache-2.0
// RDMA channels over shared memory: bytes in order on each rung, ends that go, and peers that lie.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>

#include "support/channels.hpp"
#include "transports/channel/channel.hpp"
#include "transports/channel/memory_line.hpp"

using namespace channels;
using wire::memory_card;
using wire::memory_head;

namespace {

std::unique_ptr<rdma_channel> open_one(const rdma_channel::settings& s) {
  wire::check(s);
  return wire::make(std::make_unique<wire::memory_line>(s), s);
}

struct memory_pair {
  std::unique_ptr<rdma_channel> a, b;

  explicit memory_pair(const rdma_channel::settings& s) : a(open_one(s)), b(open_one(s)) {
    meet(*a, *b);
  }
};

memory_card card_of(const rdma_channel& c) {
  memory_card card;
  REQUIRE(c.card().size() == sizeof card);
  std::memcpy(&card, c.card().data(), sizeof card);
  return card;
}

std::span<const std::byte> bytes_of(const memory_card& c) {
  return std::as_bytes(std::span(&c, 1));
}

/// What a peer can write to: the memory that an end shows.
class shown_memory {
 public:
  explicit shown_memory(const rdma_channel& of)
      : card_(card_of(of)),
        memory_(
            runtime::map_own(unique_fd(::fcntl(card_.descriptor, F_DUPFD_CLOEXEC, 0)), size())) {}

  memory_head& head() { return *static_cast<memory_head*>(memory_.get()); }
  wire::words& words() { return *reinterpret_cast<wire::words*>(at(wire::words_behind(ring()))); }
  /// Ends the first chunk.
  void chunk(const wire::trailer& t) {
    std::memcpy(at(card_.chosen.chunk - sizeof t), &t, sizeof t);
  }
  void offer(const wire::offer& o) {
    std::memcpy(at(card_.chosen.chunk - sizeof(wire::trailer) - sizeof o), &o, sizeof o);
    chunk({0, sizeof o, 2, 1});
  }
  void say(wire::word& w, std::uint64_t value) { w = {value, ~value}; }

 private:
  std::size_t ring() const { return card_.chosen.ring; }
  std::size_t size() const {
    return sizeof(memory_head) + wire::words_behind(ring()) + sizeof(wire::words);
  }
  std::byte* at(std::size_t offset) {
    return static_cast<std::byte*>(memory_.get()) + sizeof(memory_head) + offset;
  }

  memory_card card_;
  runtime::mapping memory_;
};

}  // namespace

TEST_CASE("memory channel: bytes arrive in order, whatever the calls are for") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  CAPTURE(int(step));
  const std::size_t many = WEFT_TEST_SANITIZED ? 2500 : 20'000;
  for (const std::size_t put_at_once : {1ul, 1023ul, 5000ul, 100'000ul})
    for (const std::size_t got_at_once : {3ul, 232ul, 4001ul, 100'000ul}) {
      memory_pair x(small(step));
      const bytes out = pattern(many, put_at_once + got_at_once);
      bytes in(out.size()), back(out.size());
      REQUIRE(cross(*x.a, *x.b, out, in, put_at_once, got_at_once));
      CHECK(in == out);
      REQUIRE(cross(*x.b, *x.a, out, back, got_at_once, put_at_once));
      CHECK(back == out);
    }
}

TEST_CASE("memory channel: between two processes, and after one of them dies") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  CAPTURE(int(step));
  const bytes out = pattern(300'000);
  const auto mine = open_one({.step = step});
  int there[2], back[2];
  REQUIRE((::pipe(there) == 0 && ::pipe(back) == 0));
  const pid_t child = ::fork();
  if (child == 0) {
    // Only calls that may fail with an exit status: Catch2 belongs to the parent.
    bytes in(out.size()), card(sizeof(memory_card));
    const auto its = open_one({.step = step});
    if (::read(there[0], card.data(), card.size()) != ssize_t(card.size())) ::_exit(1);
    its->meet(card);
    if (::write(back[1], its->card().data(), its->card().size()) < 0) ::_exit(1);
    for (mutable_buffer rest = in; !rest.empty();) rest = rest.subspan(get(*its, rest));
    for (const_buffer rest = in; !rest.empty();) rest = rest.subspan(put(*its, rest));
    ::raise(SIGKILL);
  }
  REQUIRE(child > 0);
  REQUIRE(::write(there[1], mine->card().data(), mine->card().size()) > 0);
  bytes card(sizeof(memory_card)), in(out.size());
  REQUIRE(::read(back[0], card.data(), card.size()) == ssize_t(card.size()));
  mine->meet(card);
  for (const_buffer rest = out; !rest.empty();) rest = rest.subspan(put(*mine, rest));
  for (mutable_buffer rest = in; !rest.empty();) rest = rest.subspan(get(*mine, rest));
  CHECK(in == out);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WTERMSIG(status) == SIGKILL);
  std::string why;
  const auto look = [&] {
    for (int i = 0; i != 5000; ++i) mine->progress();
  };
  CHECK(end_of(look, &why) == errc::peer_lost);
  CHECK(why.find("its other process has ended") != std::string::npos);
  for (const int fd : {there[0], there[1], back[0], back[1]}) ::close(fd);
}

TEST_CASE("memory channel: whose peer has closed finds out") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  memory_pair x(small(step));
  x.b->close();
  CHECK(end_of([&] { x.a->progress(); }) == errc::peer_lost);
  CHECK(end_of([&] { put(*x.a, pattern(8)); }) == errc::peer_lost);
  CHECK(end_of([&] { x.b->progress(); }) == errc::closed);
}

TEST_CASE("memory channel: what is long is not moved after its end has closed") {
  const rung step = GENERATE(rung::read, rung::written);
  memory_pair x(small(step));
  const bytes out = pattern(9000);
  bytes in(9000);
  CHECK(put(*x.a, out) == 0);
  if (step == rung::read) {
    x.a->close();
    CHECK(end_of([&] { get(*x.b, in); }) == errc::peer_lost);
  } else {
    CHECK(get(*x.b, in) == 0);  // it invites
    x.b->close();
    CHECK(end_of([&] { put(*x.a, out); }) == errc::peer_lost);
    CHECK(in == bytes(9000));
  }
}

TEST_CASE("memory channel: an end that has met no peer says so, and meets one only") {
  const auto a = open_one({}), b = open_one({});
  std::string why;
  CHECK(end_of([&] { put(*a, pattern(8)); }, &why) == errc::invalid_argument);
  CHECK(why.find("pass the card of the other end to meet") != std::string::npos);
  CHECK(end_of([&] { a->progress(); }) == errc::invalid_argument);
  meet(*a, *b);
  CHECK(end_of([&] { a->meet(b->card()); }) == errc::invalid_argument);
  CHECK(put(*a, pattern(8)) == 8);
}

TEST_CASE("memory channel: cards that do not fit are refused with the reason") {
  const auto a = open_one(small(rung::pipelined)), b = open_one(small(rung::pipelined));
  memory_card c = card_of(*b);
  std::string why;
  const auto meets = [&] { a->meet(bytes_of(c)); };
  SECTION("half a card") {
    CHECK(end_of([&] { a->meet(b->card().first(20)); }) == errc::protocol_error);
  }
  SECTION("of something else") {
    c.magic ^= 1;
    CHECK(end_of(meets) == errc::protocol_error);
  }
  SECTION("another rung") {
    c.chosen.step = 0;
    CHECK(end_of(meets, &why) == errc::invalid_argument);
    CHECK(why.find("rung 2, ring 1024, chunk 256 here, rung 0") != std::string::npos);
  }
  SECTION("no such process") {
    c.process = -1;
    CHECK(end_of(meets, &why) == errc::unreachable);
    CHECK(why.find("one user, on one host") != std::string::npos);
  }
  SECTION("a file that is no memory") {
    c.descriptor = 0;
    CHECK(end_of(meets) != errc::ok);
  }
  SECTION("another channel's file") {
    c.nonce ^= 1;
    CHECK(end_of(meets, &why) == errc::protocol_error);
    CHECK(why.find("names another file") != std::string::npos);
  }
  CHECK(end_of([&] { put(*a, pattern(8)); }) != errc::ok);
}

TEST_CASE("memory channel: a peer that lies is an error, and the error stays") {
  bytes memory(5000);
  SECTION("more written than the ring holds") {
    memory_pair x(small(rung::basic));
    shown_memory there(*x.a);
    there.say(there.words().head, 1025);
    CHECK(end_of([&] { get(*x.a, memory); }) == errc::protocol_error);
    CHECK(end_of([&] { x.a->progress(); }) == errc::protocol_error);
  }
  SECTION("a chunk that carries more than fits") {
    memory_pair x(small(rung::pipelined));
    shown_memory(*x.a).chunk({0, 233, 1, 1});
    CHECK(end_of([&] { get(*x.a, memory); }) == errc::protocol_error);
  }
  SECTION("an offer of memory that it does not have") {
    memory_pair x(small(rung::read));
    shown_memory(*x.a).offer({8, 4000});
    std::string why;
    CHECK(end_of([&] { get(*x.a, memory); }, &why) == errc::peer_lost);
    CHECK(why.find("memory that it does not have") != std::string::npos);
  }
  SECTION("an invitation to more than was offered") {
    memory_pair x(small(rung::written));
    CHECK(put(*x.a, memory) == 0);
    shown_memory there(*x.a);
    there.words().invited.size = 5001;
    there.say(there.words().invited.number, 1);
    CHECK(end_of([&] { put(*x.a, memory); }) == errc::protocol_error);
  }
}

TEST_CASE("memory channel: close waits for a peer that writes, and not for ever") {
  auto s = small(rung::written);
  s.timeout = std::chrono::seconds(0);
  memory_pair x(s);
  shown_memory(*x.a).head().moving = 1;
  x.a->close();
  CHECK(end_of([&] { put(*x.a, pattern(8)); }) == errc::closed);
}

TEST_CASE("memory channel: settings that make no sense are refused") {
  CHECK(end_of([] { open_one({.ring = 1000, .chunk = 256}); }) == errc::invalid_argument);
  CHECK(end_of([] { open_one({.step = static_cast<rung>(9)}); }) == errc::invalid_argument);
}
