// SPDX-License-Identifier: Apache-2.0
// One topic of a job of 5 ranks: 2 publishes it twice, 3 until it kills itself, 4 when both are
// gone. 1 takes all values, and then loses the directory.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <weft/weft.hpp>

#include "support/expect.hpp"

namespace {

using namespace weft;
using tests::expect;
using namespace std::chrono_literals;

constexpr tag go{1};

task<void> publish_some(publisher<int>& out, int n) {
  while (out.info().subscribers.empty()) co_await sleep_for(100us);
  for (int i = 1; i <= n; ++i) co_await out.publish(i);
}

task<void> take_from_all(context& ctx) {
  group all = ctx.world();
  subscriber<int> in(ctx, "prices", {.policy = when_full::block, .depth = 8});
  std::array<int, 5> came{};
  for (int n = 0; n != 25; ++n) {
    auto price = co_await in.next();
    expect(price && price->source() < came.size(), "a value of a rank");
    const int count = ++came[price->source()];
    expect(price->value() == (count - 1) % 10 + 1, "the values of a publisher, in order");
  }
  expect(came[2] == 20 && came[3] == 5, "the values of two publishers");
  co_await all[3].send_value(go, 0);
  while (in.counts().publishers != 0) co_await sleep_for(100us);
  co_await all[4].send_value(go, 0);
  for (int n = 1; n != 4; ++n) {
    auto price = co_await in.next();
    expect(price && price->source() == 4 && price->value() == n, "a publisher that came later");
  }
  co_await all[2].send_value(go, 0);
  co_await all[4].recv_value<int>(go);  // it has asked rank 0
  co_await all[0].send_value(go, 0);
  const auto end = co_await as_result(in.next());
  expect(is_loss(end.code()), "no publisher is left, and none can be found");
  const std::string why = end.failure().what();
  expect(why.find("directory of topics") != std::string::npos, "the reason: " + why);
}

task<void> publish_twice(context& ctx) {
  group all = ctx.world();
  for (int twice = 0; twice != 2; ++twice) {
    publisher<int> out(ctx, "prices");
    co_await publish_some(out, 10);
    out.close();
    co_await out.closed();
  }
  co_await all[1].recv_value<int>(go);
}

task<void> publish_and_die(context& ctx) {
  group all = ctx.world();
  publisher<int> out(ctx, "prices");
  co_await publish_some(out, 5);
  co_await all[1].recv_value<int>(go);
  ::kill(::getpid(), SIGKILL);
}

task<void> publish_last(context& ctx) {
  group all = ctx.world();
  co_await all[1].recv_value<int>(go);
  publisher<int> out(ctx, "prices", {.history = 3});
  for (int i = 1; i != 4; ++i) co_await out.publish(i);
  subscriber<int> own(ctx, "prices");
  for (int i = 1; i != 4; ++i) {
    auto price = co_await own.next();
    expect(price && price->source() == 4 && price->value() == i, "its own values");
  }
  bool listed = false;
  for (const topic_info& t : co_await topics_of(all[0]))
    listed = listed || (t.name == "prices" && t.publishers == std::vector<peer_id>{4});
  expect(listed, "the directory has no publisher that is gone");
  co_await all[1].send_value(go, 0);
  while (out.info().subscribers.size() != 2) co_await sleep_for(100us);
  own.close();
  out.close();
  co_await out.closed();
}

task<void> act(context& ctx) {
  group all = ctx.world();
  if (all.size() != 5) throw std::runtime_error("start it with weft-run -n 5");
  switch (all.rank()) {
    case 1:
      co_await take_from_all(ctx);
      break;
    case 2:
      co_await publish_twice(ctx);
      break;
    case 3:
      co_await publish_and_die(ctx);
      break;
    case 4:
      co_await publish_last(ctx);
      break;
    default:
      co_await all[1].recv_value<int>(go);
  }
  std::printf("rank %u is done\n", all.rank());
}

}  // namespace

int main() { return weft::run_main(act); }
