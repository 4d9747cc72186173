// SPDX-License-Identifier: Apache-2.0
// Cards, signals and shared memory of a hostile process.
#include "ends.hpp"
#include "support/catch.hpp"

namespace {

using namespace weft::tests::qdma;
using weft::errc;

qd::device_address_body body_of(const weft::transports::wireup_message& p) {
  qd::device_address_body b{};
  std::memcpy(&b, p.bytes.data(), sizeof b);
  return b;
}

/// A card of the second side, changed, as the first side takes it.
template <class F>
void refused(F change) {
  qd::table t = qd::table::make();
  side a(qd::table::from(weft::runtime::duplicate(t.fd())));
  side b(qd::table::from(weft::runtime::duplicate(t.fd())));
  weft::transports::wireup_message p = b.device.card();
  change(p, a, b);
  CHECK_THROWS_AS(a.device.meet(p, ::getpid()), weft::error);
  CHECK(a.device.known() == 0);
  a.device.meet(b.device.card(), ::getpid());
  CHECK(a.device.known() == 1);
}

template <class F>
auto with_body(F f) {
  return [f](weft::transports::wireup_message& p, side& a, side&) {
    qd::device_address_body b = body_of(p);
    f(b, a);
    std::memcpy(p.bytes.data(), &b, sizeof b);
  };
}

TEST_CASE("qdma hostile: cards that are not what they say are refused", "[qdma]") {
  refused(with_body([](qd::device_address_body& b, side&) { b.magic = 0; }));
  refused(with_body([](qd::device_address_body& b, side&) { ++b.version; }));
  refused(with_body([](qd::device_address_body& b, side&) { b.who = 0; }));
  refused(with_body([](qd::device_address_body& b, side& a) { b.who = a.device.self(); }));
  refused(with_body([](qd::device_address_body& b, side&) { b.who += qd::entry_count; }));
  refused(with_body([](qd::device_address_body& b, side&) { b.arena_bytes = ~std::uint64_t{0}; }));
  refused(with_body([](qd::device_address_body& b, side&) { b.arena_bytes += 4096; }));
  refused([](weft::transports::wireup_message& p, side&, side&) { p.fds.pop_back(); });
  refused([](weft::transports::wireup_message& p, side&, side&) { p.bytes.resize(7); });
  refused([](weft::transports::wireup_message& p, side&, side&) { std::swap(p.fds[1], p.fds[2]); });
  refused([](weft::transports::wireup_message& p, side&, side&) {
    p.fds[0] = weft::runtime::make_memory_file("t", sizeof(qd::table_memory));
  });
  refused([](weft::transports::wireup_message& p, side&, side&) {
    p.fds[1] = weft::runtime::make_memory_file("t", sizeof(qd::segment_memory));
  });
}

TEST_CASE("qdma hostile: signals of unknown nodes, for no event, of no size are dropped",
          "[qdma]") {
  node n(2);
  std::uint64_t e = 0;
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    e = n[1].device.make_event(1, false);
  }
  trigger t(n[1], e);
  for (const std::uint64_t forged :
       {std::uint64_t{0}, e + 1, e + (std::uint64_t{1} << 32), ~std::uint64_t{0}})
    n[0].start({signalling(n[1].id(), forged)});
  n[0].start({posting(n[1].id(), 0, "not a signal")});
  const qd::signal_body honest{e, 0, 0};
  qd::queue_writer unknown(n[1].device.segment().queue[0], n[1].device.regions().progress_of(0),
                           4711);  // with which no process has connected
  REQUIRE(unknown.post(std::as_bytes(std::span(&honest, 1))));
  n.settle();
  CHECK_FALSE(t.over);
  CHECK(n[1].device.refused_signals() == 6);
  // A status and hops that are impossible.
  const qd::signal_body wild{e, ~0u, ~0u};
  const std::string_view text(reinterpret_cast<const char*>(&wild), sizeof wild);
  n[0].start({posting(n[1].id(), 0, text)});
  n.settle();
  CHECK(t.status == errc::protocol_error);
}

TEST_CASE("qdma hostile: a catalog that points out of its arena hurts only its owner", "[qdma]") {
  node n(2);
  std::uint64_t mine = 0, theirs = 0;
  std::vector<std::byte> memory(64);
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    mine = n[0].device.regions().add(memory, wq::rights::none);
  }
  const weft::runtime::engine::holder hold(n[1].engine);
  theirs = n[1].device.regions().add(n[1].device.regions().allocate(64), wq::rights::read_write);
  auto& record = const_cast<qd::region_directory&>(n[1].device.regions().catalog())
                     .region[qd::record_of(theirs)];
  for (const auto& [base, size] :
       {std::pair{std::uint64_t{n[1].device.regions().arena_bytes()}, std::uint64_t{64}},
        std::pair{~std::uint64_t{0} - 10, std::uint64_t{64}},
        std::pair{std::uint64_t{0}, ~std::uint64_t{0}}}) {
    record.base = base;
    record.size = size;
    const auto before = n[0].device.failures();
    n[0].start({copying(wq::descriptor::what::write, mine, n[1].id(), theirs, 64)});
    CHECK(n[0].device.failures() == before + 1);
    CHECK_THAT(n[0].device.describe(), weft::tests::contains("outside of its owner's arena"));
  }
  // An address without memory: the kernel refuses.
  record.base = 4096;
  record.size = 64;
  record.arena = 0;
  const auto before = n[0].device.failures();
  n[0].start({copying(wq::descriptor::what::write, mine, n[1].id(), theirs, 64)});
  CHECK(n[0].device.failures() == before + 1);
}

}  // namespace
