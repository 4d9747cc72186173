// SPDX-License-Identifier: Apache-2.0
// The counters of each peer and transport: what one side has sent is what the other has received.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>
#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/expect.hpp"
#include "support/skip.hpp"
#include "support/transports.hpp"

using namespace weft;

namespace {

constexpr am twice{7};
constexpr std::size_t long_message = std::size_t{1} << 20;

options over(const std::string& transport) {
  options o;
  o.standalone = true;
  o.transports = {transport};
  return o;
}

/// What each of the two sides does, in the same way: messages of three sizes, a synchronous one, a
/// loan, a call, and access to the memory of the other side.
task<void> exchange(context& ctx, endpoint other) {
  std::vector<std::byte> memory(4096), mine(4096);
  const region shown(ctx, memory, rights::read_write);
  remote_region there;
  co_await when_all(other.send_value(tag{1}, shown.remote()), other.recv_value(tag{1}, there));
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{9000}, long_message}) {
    std::vector<std::byte> out(size), in(size);
    co_await when_all(other.send(out, tag{2}), other.recv(in, tag{2}));
    co_await when_all(other.send_synchronous(out, tag{3}), other.recv(in, tag{3}));
  }
  loan<int> lent_out = ctx.make_loan<int>(1000);
  co_await other.send_loan(tag{4}, std::move(lent_out));
  { const lent<int> read = co_await other.recv_loan<int>(tag{4}); }
  weft::tests::expect(co_await other.call<int>(twice, 21) == 42, "the call answers 42");
  co_await other.put(mine, there);
  co_await other.get(mine, there);
  co_await other.fetch_add(there, 1);
  // Both sides have done all of it.
  int end = 0;
  co_await when_all(other.send_value(tag{5}, 0), other.recv_value(tag{5}, end));
}

struct side {
  explicit side(const options& o)
      : ctx(o), served(ctx.on<int(int)>(twice, [](int n) { return 2 * n; })) {}
  context ctx;
  handler served;
  std::optional<endpoint> other;
  lane_metrics counted() const { return ctx.snapshot_lanes().at(0); }
};

const peer_metrics& only_peer(const lane_metrics& all) {
  const auto it = std::ranges::find_if(all.peers, [](const peer_metrics& p) {
    return p.messages_sent != 0 || p.messages_received != 0;
  });
  REQUIRE(it != all.peers.end());
  return *it;
}

void check_equal(const traffic_metrics& here, const traffic_metrics& there) {
  CHECK(here.messages_sent == there.messages_received);
  CHECK(here.bytes_sent == there.bytes_received);
  CHECK(here.calls_made == there.calls_served);
  CHECK(here.loans_sent >= there.loans_viewed);  // some are copied
  CHECK(here.rma_started == there.rma_served);
  CHECK(here.bytes_put == there.bytes_put_here);
  CHECK(here.bytes_got == there.bytes_got_here);
}

void meet(side& one, side& two) {
  listener listening =
      run(one.ctx, one.ctx.listen("unix://weft-metrics-" + std::to_string(::getpid())));
  std::thread thread([&, address = listening.address()] {
    two.other = run(two.ctx, two.ctx.connect(address));
    run(two.ctx, exchange(two.ctx, *two.other));
  });
  one.other = run(one.ctx, listening.accept());
  run(one.ctx, exchange(one.ctx, *one.other));
  thread.join();
}

}  // namespace

TEST_CASE("metrics: what one side has sent and done is what the other has received and served") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  side one(over(transport)), two(over(transport));
  meet(one, two);
  const lane_metrics first = one.counted(), second = two.counted();
  const peer_metrics &of_two = only_peer(first), &of_one = only_peer(second);
  check_equal(of_two, of_one);
  check_equal(of_one, of_two);
  CHECK(of_two.messages_sent >= 11);
  CHECK(of_two.bytes_sent >= 2 * (long_message + 9008));
  CHECK(of_two.calls_made == 1);
  CHECK(of_two.rma_started == 3);
  CHECK(of_two.bytes_put == 4096);
  CHECK(of_two.bytes_got == 4096);
  CHECK(of_two.transport == transport);
  CHECK(of_two.connected);
  CHECK(of_two.peer == one.other->id());
  CHECK(first.total.bytes_sent == of_two.bytes_sent);
  const auto sum = std::ranges::find(first.transports, transport, &transport_metrics::transport);
  REQUIRE(sum != first.transports.end());
  CHECK(sum->messages_sent == of_two.messages_sent);
  CHECK(sum->bytes_got_here == of_two.bytes_got_here);
}

TEST_CASE("metrics: what one side has encrypted is what the other has decrypted") {
  if (!weft::tests::has_part("tls")) {
    weft::tests::skip("weft is built without OpenSSL");
    return;
  }
  for (const bool encrypts : {true, false}) {
    options o = over("tcp");
    o.tcp_tls = encrypts ? tcp_encryption::yes : tcp_encryption::no;
    side one(o), two(o);
    meet(one, two);
    peer_metrics of_two, of_one;
    const auto look = [&] {
      of_two = only_peer(one.counted());
      of_one = only_peer(two.counted());
    };
    look();
    // Acknowledgements may be on their way.
    const auto same = [&] {
      return of_two.bytes_sealed == of_one.bytes_opened &&
             of_one.bytes_sealed == of_two.bytes_opened;
    };
    for (int tries = 0; tries != 1000 && !same(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      look();
    }
    CHECK(of_two.bytes_sealed == of_one.bytes_opened);
    CHECK(of_one.bytes_sealed == of_two.bytes_opened);
    CHECK((of_two.bytes_sealed >= of_two.bytes_sent) == encrypts);
    CHECK((of_two.bytes_opened != 0) == encrypts);
    CHECK(of_two.connections_encrypted == (encrypts ? 1 : 0));
    const metrics total = one.counted().total;
    CHECK(total.bytes_sealed == of_two.bytes_sealed);
    CHECK(total.connections_encrypted == of_two.connections_encrypted);
    CHECK(total.handshakes_failed == 0);
  }
}

TEST_CASE("metrics: what was exchanged with peers that have gone stays in the sums") {
  side one(over("shm"));
  std::uint64_t sent = 0;
  for (int peers = 0; peers != 40; ++peers) {  // more than are kept
    side two(over("shm"));
    listener listening =
        run(one.ctx, one.ctx.listen("unix://weft-metrics-" + std::to_string(::getpid())));
    std::thread thread([&, address = listening.address()] {
      run(two.ctx, [](context& ctx, std::string where) -> task<void> {
        int value = 0;
        endpoint to = co_await ctx.connect(where);
        co_await to.recv_value(tag{1}, value);
      }(two.ctx, address));
    });
    run(one.ctx, [](listener& at) -> task<void> {
      endpoint to = co_await at.accept();
      co_await to.send_value(tag{1}, 5);
    }(listening));
    thread.join();
    ++sent;
    const lane_metrics now = one.counted();
    CHECK(now.total.messages_sent == sent);
    CHECK(now.total.bytes_sent == sent * sizeof(int));
    const auto sum = std::ranges::find(now.transports, "shm", &transport_metrics::transport);
    REQUIRE(sum != now.transports.end());
    CHECK(sum->messages_sent == sent);
  }
  CHECK(one.counted().peers.size() < 40);
}

TEST_CASE("metrics: collectives count where they begin, also in groups that have gone") {
  options o = over("self");
  context ctx(o);
  const std::uint64_t before = ctx.snapshot().collectives;
  run(ctx, [](context& c) -> task<void> {
    group world = c.world();
    co_await world.barrier();
    static_cast<void>(co_await world.all_reduce(1));
  }(ctx));
  CHECK(ctx.snapshot().collectives == before + 2);
}
