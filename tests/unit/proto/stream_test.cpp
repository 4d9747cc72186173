// SPDX-License-Identifier: Apache-2.0
// Streams under virtual time: the window, stops in the middle of a message, a peer that dies, and a
// peer that sends invalid messages.
#include <cstring>

#include "net.hpp"
#include "proto/streams/stream.hpp"

using namespace net;
namespace proto = weft::proto;
using weft::const_buffer;
using weft::mutable_buffer;

namespace {

constexpr std::size_t window = 64u << 10;
constexpr std::size_t longest = window / proto::stream_pieces;

using writing = tracked<weft::stream_write_operation>;
using reading = tracked<weft::stream_read_operation>;
using closing = tracked<weft::stream_closed_operation>;

/// One end, which is destroyed as an application does it.
class end {
 public:
  end(side& here, fake::node other, std::uint32_t number = 1)
      : state_(proto::stream::open(here.messages.peers().at(other), number, window)) {}
  end(const end&) = delete;
  end& operator=(const end&) = delete;
  ~end() { state_->drop(); }

  proto::stream* get() const { return state_.get(); }
  void finish() {
    const engine::holder hold(state_->engine());
    state_->writer().finish(true);
  }
  void close() {
    const engine::holder hold(state_->engine());
    state_->close();
  }
  std::size_t put(const bytes& data) {
    const engine::holder hold(state_->engine());
    return state_->writer().put(const_buffer(data));
  }
  std::size_t take(mutable_buffer into) {
    const engine::holder hold(state_->engine());
    return state_->reader().get(into);
  }
  errc read_status() {
    const engine::holder hold(state_->engine());
    return state_->reader().status();
  }
  std::uint64_t written() {
    const engine::holder hold(state_->engine());
    return state_->writer().written();
  }

 private:
  std::shared_ptr<proto::stream> state_;
};

struct written_data {
  bytes data;
  writing op;
  written_data(end& e, std::size_t size, std::uint64_t seed)
      : data(pattern(size, seed)), op(weft::stream_write_request{e.get(), const_buffer(data)}) {
    op.go();
  }
};
struct read_data {
  bytes data;
  reading op;
  read_data(end& e, std::size_t size)
      : data(size), op(weft::stream_read_request{e.get(), mutable_buffer(data)}) {
    op.go();
  }
  bytes got() const { return {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(op.got)}; }
};

/// All bytes up to the end, by reads of that length.
bytes rest_of(nodes& n, end& e, std::size_t length) {
  bytes all;
  for (;;) {
    read_data r(e, length);
    n.settle();
    REQUIRE(r.op.ended_with(errc::ok));
    if (r.op.got == 0) return all;
    const bytes more = r.got();
    all.insert(all.end(), more.begin(), more.end());
  }
}

/// Sends a message that belongs to no stream.
void say(nodes& n, std::uint64_t tag_value, const bytes& what, std::uint64_t immediate = 0) {
  sending op(weft::send_request{&n[0].to(1), tag{tag_value}, const_buffer(what),
                                weft::detail::send_mode::standard, immediate});
  op.go();
  n.settle();
  REQUIRE(op.ended_with(errc::ok));
}

bytes allowance(std::uint32_t magic, std::uint32_t length, std::uint64_t limit) {
  proto::stream_allowance a;
  a.magic = magic;
  a.longest = length;
  a.limit = limit;
  bytes b(sizeof a);
  std::memcpy(b.data(), &a, sizeof a);
  return b;
}

constexpr auto forth = proto::stream_way::forth;
constexpr std::uint32_t magic = proto::stream_allowance::current_magic;

}  // namespace

TEST_CASE("stream: a write goes as far as the window, and on when it is read", "[stream]") {
  nodes n(2);
  {
    end a(n[0], 1), b(n[1], 0);
    n.settle();
    written_data w(a, 3 * window, 1);
    a.finish();
    n.settle();
    CHECK_FALSE(w.op.ended());
    CHECK(w.op.taken <= window);
    CHECK(w.op.taken >= window / 2);
    CHECK(n[1].messages.counts().unexpected_bytes_now <=
          window + (proto::stream_pieces + 1) * sizeof(proto::inbound_message) +
              sizeof(proto::stream_allowance));
    CHECK((rest_of(n, b, 5000) == w.data));
  }
  n.settle();
  CHECK(n.clean());
}

TEST_CASE("stream: nothing is in flight on one at rest", "[stream]") {
  nodes n(2);
  {
    end a(n[0], 1), b(n[1], 0);
    n.settle();
    for (int round = 0; round != 200; ++round) {
      const bytes out = pattern(1000, 1);
      bytes in(1000);
      REQUIRE(a.put(out) == out.size());
      n.settle();
      REQUIRE(b.take(in) == in.size());
      REQUIRE((in == out));
      n.settle();
    }
    CHECK(n[0].engine.outstanding() == 0);
    CHECK(n[1].engine.outstanding() == 0);
  }
  n.settle();
  CHECK(n.clean());
}

TEST_CASE("stream: a read that is stopped in the middle of a message leaves it whole", "[stream]") {
  // The small room of the link cuts a message into many frames; it is stopped after each number of
  // them.
  fake::settings narrow;
  narrow.room = 2;
  bool in_the_middle = false;
  for (int steps = 0; steps != 60; ++steps) {
    nodes n(2, narrow);
    {
      end a(n[0], 1), b(n[1], 0);
      n.settle();
      const std::size_t size = GENERATE(100u, longest);  // all, or only the beginning, is direct
      read_data r(b, size);
      written_data w(a, longest, 3);
      a.finish();
      for (int i = 0; i != steps && n.step(); ++i) {
      }
      in_the_middle = in_the_middle || (r.op.landing && r.op.landing->message);
      r.op.cancel();
      n[1].engine.poll_once();
      REQUIRE(r.op.ended());
      const bytes first = r.op.status == errc::ok ? r.got() : bytes();
      std::fill(r.data.begin(), r.data.end(), std::byte{0xee});
      bytes all = rest_of(n, b, 7000);
      all.insert(all.begin(), first.begin(), first.end());
      n.settle();
      REQUIRE((all == w.data));
      REQUIRE(w.op.ended_with(errc::ok));
    }
    n.settle();
    REQUIRE(n.clean());
  }
  CHECK(in_the_middle);
}

TEST_CASE("stream: a write that is stopped tells how far it was", "[stream]") {
  fake::settings narrow;
  narrow.room = 2;
  for (int steps = 0; steps != 40; ++steps) {
    nodes n(2, narrow, {64u << 20, 4096});  // pieces are longer than the eager limit
    {
      end a(n[0], 1), b(n[1], 0);
      n.settle();
      const bytes out = pattern(3 * window, 5);
      writing first(weft::stream_write_request{a.get(), const_buffer(out)});
      first.go();
      read_data early(b, 20'000);
      for (int i = 0; i != steps && n.step(); ++i) {
      }
      first.cancel();
      n.settle();
      REQUIRE(first.ended());
      const auto done = static_cast<std::size_t>(a.written());
      REQUIRE((first.status == errc::stopped ? done < out.size() : done == out.size()));
      const bytes remaining(out.begin() + static_cast<std::ptrdiff_t>(done), out.end());
      writing second(weft::stream_write_request{a.get(), const_buffer(remaining)});
      second.go();
      a.finish();
      n.settle();
      bytes all;
      if (!early.op.ended()) early.op.cancel();
      n.settle();
      if (early.op.status == errc::ok) all = early.got();
      const bytes more = rest_of(n, b, 30'000);
      all.insert(all.end(), more.begin(), more.end());
      REQUIRE((all == out));
      n.settle();
      REQUIRE(second.ended_with(errc::ok));
    }
    n.settle();
    REQUIRE(n.clean());
  }
}

TEST_CASE("stream: the end is said also if the last write is stopped after it", "[stream]") {
  nodes n(2);
  {
    end a(n[0], 1);
    written_data w(a, 100, 1);  // the reader has not allowed it yet
    a.finish();
    w.op.cancel();
    n.settle();
    REQUIRE(w.op.ended_with(errc::stopped));
    end b(n[1], 0);
    CHECK(rest_of(n, b, 1000).empty());
  }
  n.settle();
  CHECK(n.clean());
}

TEST_CASE("stream: a peer that dies ends both halves", "[stream]") {
  nodes n(2);
  end a(n[0], 1), b(n[1], 0);
  n.settle();
  CHECK(a.put(pattern(100, 1)) == 100);
  n.settle();
  read_data waits(a, 10);
  written_data w(a, 3 * window, 1);
  n.settle();
  n.world.kill(1);
  n.settle();
  CHECK(waits.op.ended_with(errc::peer_lost));
  CHECK(w.op.ended_with(errc::peer_lost));
  CHECK(a.put(pattern(100, 1)) == 0);
  CHECK(a.read_status() == errc::peer_lost);
}

TEST_CASE("stream: what was written before a death is still read", "[stream]") {
  nodes n(2);
  end b(n[1], 0);
  {
    end a(n[0], 1);
    n.settle();
    CHECK(a.put(pattern(100, 1)) == 100);
    n.settle();
    n.world.kill(0);
    n.settle();
  }
  bytes in(200);
  CHECK(b.take(in) == 100);
  CHECK(b.take(in) == 0);
  CHECK(b.read_status() == errc::peer_lost);
}

TEST_CASE("stream: a number is open once", "[stream]") {
  nodes n(2);
  end a(n[0], 1, 7);
  CHECK_THROWS_AS(end(n[0], 1, 7), weft::error);
  end other(n[0], 1, 8);
  CHECK_THROWS_AS(proto::stream::open(n[0].messages.peers().at(1), 9, 100), weft::error);
}

TEST_CASE("stream: closed on both sides, its number is free", "[stream]") {
  nodes n(2);
  for (int round = 0; round != 3; ++round) {
    end a(n[0], 1), b(n[1], 0);
    n.settle();
    CHECK(a.put(pattern(100, 1)) == 100);
    a.close();
    closing ended(weft::stream_closed_request{a.get()});
    ended.go();
    n.settle();
    CHECK_FALSE(ended.ended());
    CHECK((rest_of(n, b, 1000) == pattern(100, 1)));
    CHECK_FALSE(ended.ended());
    b.close();
    n.settle();
    CHECK(ended.ended_with(errc::ok));
  }
  CHECK(n.clean());
}

TEST_CASE("stream: a reader that speaks nonsense breaks the stream and nothing else", "[stream]") {
  const bytes what =
      GENERATE(bytes(3), bytes(17), bytes(16), bytes(), allowance(magic + 1, 1000, 1000),
               allowance(magic, 1u << 29, 1000), allowance(magic, 1000, ~0ull >> 1));
  nodes n(2);
  end b(n[1], 0);
  n.settle();
  say(n, proto::stream_allowance_tag(1, forth), what);
  written_data w(b, 100, 1);
  n.settle();
  CHECK(w.op.ended_with(errc::protocol_error));
  CHECK(n[1].to(0).now() == peer::state::open);
}

TEST_CASE("stream: a reader tells no more than there is to tell", "[stream]") {
  nodes n(2);
  end b(n[1], 0);
  n.settle();
  const auto many = static_cast<std::uint64_t>(proto::most_unheard_allowances) + 1;
  for (std::uint64_t i = 0; i != many; ++i)
    say(n, proto::stream_allowance_tag(1, forth), allowance(magic, 1000, 1000 + i));
  written_data w(b, 100, 1);
  n.settle();
  CHECK(w.op.ended_with(errc::protocol_error));
  CHECK(n[1].to(0).now() == peer::state::open);
}

TEST_CASE("stream: what nobody reads any more is dropped bit by bit", "[stream]") {
  nodes n(2);
  {
    end b(n[1], 0);
    n.settle();
    for (int i = 0; i != 1000; ++i) say(n, proto::stream_data_tag(1, forth), bytes(1));
    const auto kept = [&] { return n[1].messages.messages().in_use(); };
    REQUIRE(kept() >= 1000);
    b.close();
    CHECK(kept() > 500);
    say(n, proto::stream_data_tag(1, forth), {}, 1000);
    n.settle();
    CHECK(kept() == 0);
    say(n, proto::stream_allowance_tag(1, forth), allowance(magic, 0, 0));
  }
  n.settle();
  CHECK(n[1].messages.messages().in_use() == 0);
}

TEST_CASE("stream: an allowance is never taken back", "[stream]") {
  nodes n(2);
  end b(n[1], 0);
  n.settle();
  const auto tag_value = proto::stream_allowance_tag(1, forth);
  say(n, tag_value, allowance(magic, 1000, 1000));
  CHECK(b.put(pattern(100, 1)) == 100);
  say(n, tag_value, GENERATE(allowance(magic, 1000, 999), allowance(magic, 999, 1000)));
  CHECK(b.put(pattern(100, 1)) == 0);
  written_data w(b, 100, 1);
  n.settle();
  CHECK(w.op.ended_with(errc::protocol_error));
}

TEST_CASE("stream: a writer that does not keep to the window breaks the stream", "[stream]") {
  nodes n(2);
  end b(n[1], 0);
  n.settle();
  const auto tag_value = proto::stream_data_tag(1, forth);
  bytes in(2 * window);
  SECTION("a message that is too long") {
    say(n, tag_value, bytes(longest + 1));
    read_data r(b, 10);
    n.settle();
    CHECK(r.op.ended_with(errc::protocol_error));
  }
  SECTION("too many messages") {
    for (std::size_t i = 0; i <= proto::stream_pieces; ++i) say(n, tag_value, bytes(longest));
    std::size_t got = 0;
    for (std::size_t more = 1; more != 0; got += more) more = b.take(in);
    CHECK(got == window);
    CHECK(b.read_status() == errc::protocol_error);
  }
  SECTION("an end that tells of other bytes than came") {
    say(n, tag_value, bytes(10));
    say(n, tag_value, {}, 11);
    CHECK(b.take(in) == 10);
    CHECK(b.take(in) == 0);
    CHECK(b.read_status() == errc::protocol_error);
  }
  CHECK(n[1].to(0).now() == peer::state::open);
}

TEST_CASE(
    "stream: after this end has closed a read tells that, and not the end of the peer's bytes",
    "[stream]") {
  nodes n(2);
  {
    end a(n[0], 1), b(n[1], 0);
    n.settle();
    written_data w(a, 1000, 1);
    a.finish();
    a.close();
    n.settle();
    const bool reads_first = GENERATE(true, false);
    if (reads_first) CHECK((rest_of(n, b, 5000) == w.data));
    b.close();
    n.settle();
    read_data r(b, 100);
    n.settle();
    CHECK(r.op.ended_with(errc::closed));
    CHECK(b.read_status() == errc::closed);
    CHECK(r.op.explain() == "stream 1 with rank 0: this end is closed");
  }
  n.settle();
  CHECK(n.clean());
}

TEST_CASE("stream: at its end the peer has finished, and no end is closed", "[stream]") {
  nodes n(2);
  {
    end a(n[0], 1), b(n[1], 0);
    a.finish();
    n.settle();
    bytes in(10);
    CHECK(b.take(in) == 0);
    const engine::holder hold(n[1].engine);
    CHECK(b.get()->explain(errc::closed, b.get()->reader().cause()) ==
          "stream 1 with rank 0: the peer has finished, and all of it was read");
  }
  n.settle();
  CHECK(n.clean());
}
