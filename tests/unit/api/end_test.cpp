// SPDX-License-Identifier: Apache-2.0
// What is under way when a coroutine or a context ends.
#include <catch2/catch.hpp>

#include <array>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

namespace {

task<void> leave_by_exception(endpoint self) {
  std::array<std::byte, 8> early{}, late{}, data{};
  scope fly;
  fly.start(self.recv(late, tag{1}));
  fly.start(self.send(data, tag{2}));
  fly.start(self.send(data, tag{1}));
  // Both receives end in one pass: the other one is complete but not completed when this goes on.
  co_await self.recv(early, tag{2});
  throw std::runtime_error("out");
}

task<void> serve(context& ctx, std::vector<errc>& ends) {
  listener door = co_await ctx.listen("any://127.0.0.1:0");
  try {
    co_await door.accept();
  } catch (const error& e) {
    ends.push_back(e.kind());
  }
  try {
    co_await ctx.connect(door.address());
  } catch (const error& e) {
    ends.push_back(e.kind());
  }
}

task<void> hold_a_door(context& ctx, std::vector<errc>& ends) {
  const listener door = co_await ctx.listen("any://127.0.0.1:0");
  std::array<std::byte, 8> in{};
  try {
    co_await ctx.recv(in, any_tag);
  } catch (const error& e) {
    ends.push_back(e.kind());
  }
}

task<void> nothing() { co_return; }

}  // namespace

TEST_CASE("a scope that is left by an exception waits for what has ended in the same pass") {
  context ctx;
  CHECK_THROWS_AS(run(ctx, leave_by_exception(ctx.world()[0])), std::runtime_error);
}

TEST_CASE("the end of a context ends what waits at a door, and what it does next") {
  std::vector<errc> ends;
  {
    context ctx;
    spawn(ctx, serve(ctx, ends));
    run(ctx, nothing());
  }
  CHECK(ends == std::vector{errc::closed, errc::closed});
}

TEST_CASE("a listener may be dropped while its context ends") {
  std::vector<errc> ends;
  {
    context ctx;
    spawn(ctx, hold_a_door(ctx, ends));
    run(ctx, nothing());
  }
  CHECK(ends == std::vector{errc::closed});
}
