// SPDX-License-Identifier: Apache-2.0
// Calls that make no sense end with invalid_argument and a text, and have no other effect.
#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include <weft/memory.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

using namespace weft;
using weft::tests::contains;
using weft::tests::refusal;

namespace {

options quiet() {
  options o;
  o.progress = progress_mode::polling;
  return o;
}

template <class Request>
std::string refusal_of(context& ctx, Request r) {
  return refusal([&] { sync_wait(ctx, std::move(r)); });
}

template <class X>
std::string failure_text(context& ctx, X x) {
  return run(ctx, as_result(std::move(x))).failure().what();
}

}  // namespace

TEST_CASE("misuse: an endpoint that names no peer") {
  context ctx(quiet());
  endpoint nobody;
  const auto said = contains("names no peer");
  std::byte memory[8];
  CHECK_THAT(refusal_of(ctx, nobody.send(memory, tag{1})), said);
  CHECK_THAT(refusal_of(ctx, nobody.send_synchronous(memory, tag{1})), said);
  CHECK_THAT(refusal_of(ctx, nobody.recv(memory, any_tag)), said);
  CHECK_THAT(refusal_of(ctx, nobody.probe(any_tag)), said);
  CHECK_THAT(refusal_of(ctx, within(std::chrono::seconds(1), nobody.recv(memory, any_tag))), said);
  CHECK_THAT(refusal([&] { run(ctx, nobody.closed()); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(nobody.try_probe(any_tag)); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(nobody.try_claim(any_tag)); }), said);
  CHECK_THAT(refusal([&] { nobody.close(); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(nobody.describe()); }), said);
  CHECK_THAT(refusal([&] { const stream none(nobody, 2); }), said);
}

TEST_CASE("misuse: a stop that was asked for before an operation of nobody's begins") {
  context ctx(quiet());
  std::stop_source stop;
  stop.request_stop();
  std::byte memory[8];
  CHECK_THAT(refusal([&] {
               run(ctx, [](std::span<std::byte> m, std::stop_token s) -> task<void> {
                 co_await stoppable(s, endpoint().send(m, tag{1}));
               }(memory, stop.get_token()));
             }),
             contains("names no peer"));
}

TEST_CASE("an error names the operation, the peer and the duration") {
  context ctx(quiet());
  const endpoint me = ctx.world()[0];
  CHECK_THAT(failure_text(ctx, within(std::chrono::milliseconds(1), me.recv_value<int>(tag{7}))),
             contains("the deadline of 1 ms passed: receive from rank 0, tag 7"));
  std::stop_source stop;
  stop.request_stop();
  CHECK_THAT(failure_text(ctx, stoppable(stop.get_token(), ctx.recv_value<int>(any_tag))),
             contains("receive from any peer, any tag: stopped"));
  endpoint gone = me;
  gone.close();
  run(ctx, gone.closed());
  CHECK_THAT(failure_text(ctx, gone.send_value(tag{9}, 1)), contains("send to rank 0, tag 9: "));
}

TEST_CASE("misuse: tags of weft's own") {
  context ctx(quiet());
  endpoint me = ctx.world()[0];
  const tag own{GENERATE(as<std::uint64_t>{}, first_reserved_tag, std::uint64_t{0xff} << 56,
                         ~std::uint64_t{0})};
  const tag_mask part(own.value, std::uint64_t{0xff} << 56);
  CAPTURE(own.value);
  const auto said = contains("weft's own");
  std::byte memory[8];
  CHECK_THAT(refusal_of(ctx, me.send(memory, own)), said);
  CHECK_THAT(refusal_of(ctx, me.send_synchronous(memory, own)), said);
  CHECK_THAT(refusal_of(ctx, me.recv(memory, own)), said);
  CHECK_THAT(refusal_of(ctx, me.recv(memory, part)), said);
  CHECK_THAT(refusal_of(ctx, me.probe(own)), said);
  CHECK_THAT(refusal_of(ctx, ctx.recv(memory, own)), said);
  CHECK_THAT(refusal_of(ctx, ctx.probe(part)), said);
  CHECK_THAT(refusal([&] { static_cast<void>(me.try_probe(own)); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(me.try_claim(own)); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(ctx.try_probe(part)); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(ctx.try_claim(part)); }), said);

  const tag last{first_reserved_tag - 1};
  sync_wait(ctx, me.send(memory, last));
  CHECK(sync_wait(ctx, me.recv(memory, any_tag)).tag == last);
}

TEST_CASE("misuse: a stream that is none") {
  context ctx(quiet());
  stream none;
  std::byte memory[8];
  const auto said = contains("never opened");
  CHECK_THAT(refusal_of(ctx, none.read(memory)), said);
  CHECK_THAT(refusal_of(ctx, none.write(memory)), said);
  CHECK_THAT(refusal_of(ctx, none.closed()), said);
  CHECK(none.try_write(memory).code() == errc::invalid_argument);
  CHECK(none.try_read(memory).code() == errc::invalid_argument);
  CHECK_THAT(refusal([&] { none.finish(); }), said);
  CHECK_THAT(refusal([&] { none.close(); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(none.written()); }), said);
  CHECK_THAT(refusal([&] { static_cast<void>(none.number()); }), said);
}

TEST_CASE("misuse: a receive from anybody leaves streams alone") {
  context ctx(quiet());
  endpoint me = ctx.world()[0];
  stream one(me, 7), other(me, 7);
  std::byte out[4]{}, in[4];
  sync_wait(ctx, one.write(out));
  CHECK_FALSE(ctx.try_probe(any_tag));
  CHECK_FALSE(me.try_claim(any_tag));
  CHECK(sync_wait(ctx, other.read(in)) == 4);
}

TEST_CASE("misuse: what this side has closed is said to be so") {
  context ctx(quiet());
  endpoint me = ctx.world()[0];
  std::byte memory[8];
  sync_wait(ctx, me.send(memory, tag{1}));
  me.close();
  for (int i = 0; i != 2; ++i) {
    const auto r = sync_wait(ctx, as_result(me.send(memory, tag{1})));
    REQUIRE_FALSE(r);
    CHECK(r.code() == errc::closed);
    CHECK_THAT(r.failure().what(), contains("this side closed it"));
    run(ctx, me.closed());
  }
}

TEST_CASE("misuse: memory of no bytes") {
  context ctx(quiet());
  CHECK_THAT(refusal([&] { const shared_memory none(ctx, 0); }), contains("0 bytes"));
}
