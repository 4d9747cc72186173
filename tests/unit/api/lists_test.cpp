// SPDX-License-Identifier: Apache-2.0
// Two sides with different lists of transports.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;

namespace {

using list = std::vector<std::string>;

context with(const list& transports) {
  options o = options::from_environment();
  o.standalone = true;
  o.transports = transports;
  return context(std::move(o));
}

task<void> answer(listener& listening) {
  const endpoint from = co_await listening.accept();
  const result<int> got = co_await as_result(from.recv_value<int>(tag{1}));
  if (got.code() == errc::ok) co_await from.send_value(tag{2}, 1);
}

task<int> ask(context& ctx, std::string address) {
  const endpoint to = co_await ctx.connect(std::move(address));
  co_await to.send_value(tag{1}, 1);
  co_return co_await to.recv_value<int>(tag{2});
}

/// What the side that sends first learns; empty: an answer came.
std::string asked(const list& mine, const list& theirs) {
  context here = with(mine), there = with(theirs);
  listener listening = run(there, there.listen("any://127.0.0.1:0"));
  std::jthread other([&] { run(there, answer(listening)); });
  try {
    return run(here, ask(here, listening.address())) == 1 ? "" : "a wrong answer";
  } catch (const error& e) {
    CHECK(e.kind() == errc::unreachable);
    return e.what();
  }
}

}  // namespace

TEST_CASE("lists: sides whose lists begin alike use what both have") {
  CHECK(asked({"self", "shm"}, {"self", "shm", "tcp"}).empty());
  CHECK(asked({"self", "shm", "tcp"}, {"self", "shm"}).empty());
}

TEST_CASE("lists: sides with other lists get an error that names both") {
  const auto [mine, theirs] = GENERATE(table<list, list>({
      {{"self", "tcp"}, {"self", "shm", "tcp"}},
      {{"self", "shm", "tcp"}, {"self", "tcp"}},
      {{"self", "shm", "tcp"}, {"self", "tcp", "shm"}},
  }));
  const std::string told = asked(mine, theirs);
  for (const std::string& name : mine)
    if (name != "self")
      CHECK_THAT(told, weft::tests::contains(name + ": the other side has another"));
  std::string all = theirs[0];
  for (std::size_t i = 1; i != theirs.size(); ++i) all += "," + theirs[i];
  CHECK_THAT(told, weft::tests::contains(all));
  CHECK_THAT(told, weft::tests::contains("WEFT_TRANSPORTS"));
}
