// SPDX-License-Identifier: Apache-2.0
// Every wait ends: whatever a peer does, or leaves undone, each operation with it returns from
// `within` at its deadline, or when the peer has had its time to answer the stop.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <weft/call.hpp>
#include <weft/coro/as_result.hpp>
#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>
#include <weft/value.hpp>

#include "hostile_frame_sink.hpp"
#include "proto/operations/closed_operation.hpp"
#include "proto/streams/stream.hpp"

using namespace net;
using namespace std::chrono_literals;
using weft::const_buffer;
using weft::mutable_buffer;
using weft::task;
using weft::proto::eager_ends;
using weft::proto::frame_extension;
using weft::proto::frame_header;
using weft::proto::frame_kind;
using weft::transports::has_extension;
using weft::transports::has_immediate;
using weft::transports::remote_address;

namespace {

using weft::detail::operator co_await;  // NOLINT(misc-unused-using-decls): it is used

/// How a peer goes half of the way.
struct half_way {
  std::size_t room = 0;  ///< frames that it reads
  bool answers = false;  ///< it asks for what is announced, and grants what is asked for
  bool copies = false;   ///< memory is shown and copied, and no copy ends
};

/// The link to that peer.
class half_way_link final : public weft::tests::silent_link {
 public:
  using listener = std::function<void(const frame_header&, const frame_extension&)>;
  half_way_link(const half_way& how, listener heard) noexcept
      : silent_link(kind), how_(how), heard_(std::move(heard)) {}

  weft::transports::post send(const frame_header& h, const frame_extension* x,
                              weft::transports::gather& data) noexcept override {
    if (sent_ == how_.room) return weft::transports::post::busy;
    ++sent_;
    heard_(h, x ? *x : frame_extension{});
    return silent_link::send(h, x, data);
  }
  weft::transports::post get(weft::transports::scatter, remote_address, std::size_t,
                             std::uint64_t) noexcept override {
    return how_.copies ? weft::transports::post::posted : weft::transports::post::failed;
  }
  weft::transports::post put(weft::transports::gather, remote_address, std::size_t,
                             std::uint64_t) noexcept override {
    return how_.copies ? weft::transports::post::posted : weft::transports::post::failed;
  }
  weft::transports::preference prefers_get(remote_address, std::size_t) const noexcept override {
    return how_.copies ? weft::transports::preference::yes : weft::transports::preference::no;
  }
  bool prefers_put(std::size_t) const noexcept override { return how_.copies; }
  std::optional<remote_address> expose(const_buffer) noexcept override { return place(); }
  std::optional<remote_address> expect(mutable_buffer) noexcept override { return place(); }

 private:
  std::optional<remote_address> place() const noexcept {
    return how_.copies ? std::optional(remote_address{1, 0}) : std::nullopt;
  }

  static constexpr weft::transports::traits kind{
      .name = "half way", .max_payload = 64 * 1024, .fragment = 64 * 1024};
  const half_way how_;
  const listener heard_;
  std::size_t sent_ = 0;
};

/// A chain of coroutines on node 0.
class chain final : weft::detail::detached_task_owner {
 public:
  chain(engine& e, task<void> t) {
    weft::detail::start_detached(*this, {nullptr, {}, &e, &e}, std::move(t), [] {});
  }
  bool ended = false;
  std::exception_ptr failure;

 private:
  void task_ended(std::exception_ptr f) noexcept override {
    failure = std::move(f);
    ended = true;
  }
};

/// Node 0, and node 2, which goes half of the way.
struct half_met : frame_sink_attack {
  static constexpr auto patience = 3s;

  explicit half_met(const half_way& how)
      : frame_sink_attack(
            {},
            {.unexpected_budget = 8u << 20, .eager_limit = 64u << 10, .stop_timeout = patience}) {
    peer& to = villain();
    const engine::holder hold(n[0].engine);
    to.opened(std::make_unique<half_way_link>(
                  how,
                  [this, how](const frame_header& h, const frame_extension& x) {
                    if (how.answers) answer(h, x);
                  }),
              1000);
  }
  ~half_met() { n[0].end(); }

  weft::endpoint other() {
    return weft::detail::internals::endpoint_of(villain().shared_from_this());
  }

  /// It sends that frame soon.
  void soon(frame_kind kind, std::uint8_t flags, frame_extension x, std::uint64_t tag = 5) {
    n.world.at(n.world.elapsed() + 10us, [this, kind, flags, x, tag] {
      if (villain().has_ended()) return;
      const frame_header h = weft::proto::header_of(
          kind, tag, 0,
          static_cast<std::uint8_t>(has_extension | flags | (x.immediate ? has_immediate : 0)));
      frame(h, &x);
    });
  }

  bytes small = pattern(10), large = pattern(300'000);
  std::vector<const_buffer> several{3, const_buffer(large)};
  bytes in = bytes(300'000), in_later = bytes(100);
  weft::remote_region there{77, 0, 300'000};

 private:
  /// The first half of the answer to a frame of node 0.
  void answer(const frame_header& h, const frame_extension& x) {
    const std::uint64_t number = x.a >> 48, place = remote_address{1, 0}.packed();
    const auto kind = static_cast<frame_kind>(h.kind);
    const bool asks = (h.flags & weft::proto::access_asks) != 0;
    if (kind == frame_kind::rts) soon(frame_kind::cts, 0, {number, 7, place});
    if ((kind == frame_kind::put || kind == frame_kind::get) && asks)
      soon(frame_kind::granted, 0, {number, place, 0});
  }
};

struct wait_of_test {
  const char* what;
  task<void> (*begin)(half_met&);
};

/// A message is announced to which a receive of tag 5 belongs.
void announce(half_met& m, std::uint64_t tag = 5) {
  m.soon(frame_kind::rts, eager_ends, {numbered(1, m.in.size()), 0, 0}, tag);
}

task<void> next_of_stream(half_met& m) {
  auto values = weft::detail::values_from<int>(
      {&m.villain(), m.villain().shared_from_this(), weft::am{7}, weft::detail::pack_owned(1)});
  co_await values.next();
}

/// A stream of bytes with the peer, which an application destroys after the wait.
struct stream_of_bytes {
  explicit stream_of_bytes(half_met& m)
      : state(weft::proto::stream::open(m.villain().shared_from_this(), 1, 64u << 10)) {}
  stream_of_bytes(const stream_of_bytes&) = delete;
  stream_of_bytes& operator=(const stream_of_bytes&) = delete;
  ~stream_of_bytes() { state->drop(); }
  const std::shared_ptr<weft::proto::stream> state;
};

const std::vector<wait_of_test> all_waits{
    {"send", [](half_met& m) -> task<void> { co_await m.other().send(m.small, tag{5}); }},
    {"long send", [](half_met& m) -> task<void> { co_await m.other().send(m.large, tag{5}); }},
    {"synchronous send",
     [](half_met& m) -> task<void> { co_await m.other().send_synchronous(m.small, tag{5}); }},
    {"long synchronous send",
     [](half_met& m) -> task<void> { co_await m.other().send_synchronous(m.large, tag{5}); }},
    {"gathered send",
     [](half_met& m) -> task<void> {
       co_await m.other().send(std::span<const const_buffer>(m.several), tag{5});
     }},
    {"sends in a row",
     [](half_met& m) -> task<void> { co_await m.other().send_many(m.several, tag{5}); }},
    {"value",
     [](half_met& m) -> task<void> {
       co_await m.other().send_value(tag{5}, std::span(std::as_const(m.large)));
     }},
    {"receive of nothing",
     [](half_met& m) -> task<void> { co_await m.other().recv(m.in, tag{5}); }},
    {"receive",
     [](half_met& m) -> task<void> {
       announce(m);
       co_await m.other().recv(m.in, tag{5});
     }},
    {"receive of a short message, and another one behind",
     [](half_met& m) -> task<void> {
       m.soon(frame_kind::rts, eager_ends, {numbered(1, 100), 0, 0});
       co_await weft::when_all(m.other().recv(m.in, tag{5}), m.other().recv(m.in_later, tag{5}));
     }},
    {"receive of a value",
     [](half_met& m) -> task<void> {
       announce(m);
       co_await m.other().recv_value<std::vector<int>>(tag{5});
     }},
    {"probe", [](half_met& m) -> task<void> { co_await m.other().probe(tag{5}); }},
    {"call",
     [](half_met& m) -> task<void> { co_await m.other().call(weft::am{7}, m.small, m.in); }},
    {"long call",
     [](half_met& m) -> task<void> { co_await m.other().call(weft::am{7}, m.large, m.in); }},
    {"call with a long reply",
     [](half_met& m) -> task<void> {
       using weft::proto::call_kind;
       announce(m, weft::proto::call_tag{call_kind::reply, 1, 0}.packed());
       co_await m.other().call(weft::am{7}, m.small, m.in);
     }},
    {"typed call",
     [](half_met& m) -> task<void> {
       co_await m.other().call<int>(weft::am{7}, std::span(std::as_const(m.large)));
     }},
    {"post",
     [](half_met& m) -> task<void> { co_await m.other().post_bytes(weft::am{7}, m.large); }},
    {"stream of values", &next_of_stream},
    {"put", [](half_met& m) -> task<void> { co_await m.other().put(m.small, m.there); }},
    {"long put", [](half_met& m) -> task<void> { co_await m.other().put(m.large, m.there); }},
    {"get", [](half_met& m) -> task<void> { co_await m.other().get(m.in, m.there); }},
    {"fetch_add", [](half_met& m) -> task<void> { co_await m.other().fetch_add(m.there, 1); }},
    {"write",
     [](half_met& m) -> task<void> {
       const stream_of_bytes s(m);
       const weft::stream_write_request all{s.state.get(), const_buffer(m.large)};
       co_await all;
     }},
    {"read",
     [](half_met& m) -> task<void> {
       const stream_of_bytes s(m);
       const weft::stream_read_request some{s.state.get(), mutable_buffer(m.in)};
       co_await some;
     }},
    {"end of a stream",
     [](half_met& m) -> task<void> {
       const stream_of_bytes s(m);
       const weft::stream_closed_request end{s.state.get()};
       co_await end;
     }},
    {"end of a region",
     [](half_met& m) -> task<void> {
       weft::proto::messenger& mine = m.n[0].messages;
       const std::uint64_t key = mine.regions().add(m.in, weft::rights::read_write);
       m.soon(frame_kind::put, weft::proto::access_asks, {numbered(1, 0), m.in.size(), 0}, key);
       co_await weft::sleep_for(1ms);
       const weft::region_end_request end{&mine, key};
       co_await end;
     }},
    {"end of the peer",
     [](half_met& m) -> task<void> {
       m.villain().close();
       co_await weft::proto::closed(m.villain());
     }},
};

}  // namespace

TEST_CASE("stops: every wait ends in time, whatever its peer does or leaves") {
  for (const wait_of_test& w : all_waits)
    for (const std::size_t room : {0u, 1u, 2u, 3u, 5u, 100'000u})
      for (const bool answers : {false, true})
        for (const bool copies : {false, true}) {
          CAPTURE(w.what, room, answers, copies);
          half_met m({room, answers, copies});
          chain c(m.n[0].engine, weft::within(1s, w.begin(m)));
          m.n.settle();
          REQUIRE(c.ended);
          CHECK(m.n.world.elapsed() <= 1s + half_met::patience + 1ms);
          m.n[0].end();
          CHECK(m.n[0].clean());
        }
}

TEST_CASE("stops: a peer that has not let go in time is lost, and its other operations end") {
  half_met m({100'000, false, false});
  auto stopped = m.n[0].send(2, m.large, tag{5});
  auto other = m.n[0].send(2, m.large, tag{6});
  auto receive = m.n[0].recv(2, m.in, tag{9});
  m.n.world.at(1s, [&] { stopped->cancel(); });
  m.n.world.at(1s + half_met::patience - 1ms, [&] { CHECK_FALSE(stopped->ended()); });
  m.n.settle();
  CHECK(m.n.world.elapsed() == 1s + half_met::patience);
  CHECK(stopped->ended_with(errc::peer_lost));
  CHECK(other->ended_with(errc::peer_lost));
  CHECK(receive->ended_with(errc::peer_lost));
  CHECK(stopped->explain().find("WEFT_STOP_TIMEOUT") != std::string::npos);
}

TEST_CASE("stops: each has its own time, and one that was answered costs no connection") {
  half_met m({100'000, false, false});
  auto first = m.n[0].send(2, m.large, tag{5});
  auto second = m.n[0].send(2, m.large, tag{6});
  m.n.world.at(1s, [&] { first->cancel(); });
  m.n.world.at(3s, [&] { second->cancel(); });
  m.n.world.at(3500ms, [&] { m.frame(frame_kind::cancelled, 0, 0, {1, 0, 0}); });
  m.n.world.at(6s - 1ms, [&] {
    CHECK(first->ended_with(errc::stopped));
    CHECK_FALSE(second->ended());
  });
  SECTION("the second one is not answered") {
    m.n.settle();
    CHECK(m.n.world.elapsed() == 6s);
    CHECK(second->ended_with(errc::peer_lost));
  }
  SECTION("the second one is, too") {
    m.n.world.at(6s - 500us, [&] { m.frame(frame_kind::cancelled, 0, 0, {2, 0, 0}); });
    m.n.settle();
    CHECK(second->ended_with(errc::stopped));
    CHECK_FALSE(m.villain().has_ended());
  }
}

TEST_CASE("stops: a short receive that cannot give its message back has its own time") {
  half_met m({100'000, false, false});
  auto send = m.n[0].send(2, m.large, tag{6});
  auto receive = m.n[0].recv(2, m.in, tag{5});
  auto later = m.n[0].recv(2, m.in_later, tag{5});
  m.soon(frame_kind::rts, eager_ends, {numbered(1, 100), 0, 0});
  m.n.world.at(1s, [&] { send->cancel(); });
  m.n.world.at(2s, [&] { m.frame(frame_kind::cancelled, 0, 0, {1, 0, 0}); });
  m.n.world.at(3s, [&] { receive->cancel(); });
  m.n.world.at(6s - 1ms, [&] {
    CHECK(send->ended_with(errc::stopped));
    CHECK_FALSE(receive->ended());
    CHECK_FALSE(m.villain().has_ended());
  });
  m.n.settle();
  CHECK(m.n.world.elapsed() == 6s);
  CHECK(receive->ended_with(errc::peer_lost));
  CHECK(later->ended_with(errc::peer_lost));
}
