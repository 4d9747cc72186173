// SPDX-License-Identifier: Apache-2.0
// Where ended operations are kept.
#include <vector>

#include <weft/coro/executor.hpp>

#include "runtime/completion/completion_queue.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

struct plain_operation final : operation {
  plain_operation() noexcept : operation([](operation&) noexcept {}) {}
};

struct elsewhere_executor final : executor {
  void post(operation&) noexcept override {}
};

using operations = std::vector<operation*>;

operations taken(operation_list list) {
  operations all;
  while (operation* op = list.pop()) all.push_back(op);
  return all;
}

}  // namespace

TEST_CASE("completion queue: operations end for the thread inside run(), or for their executor") {
  completion_queue queue;
  elsewhere_executor other;
  plain_operation home, remote, elsewhere;
  elsewhere.on = &other;
  queue.add_pending(home);
  queue.add_pending(elsewhere);
  CHECK(queue.pending() == 2);
  CHECK(queue.has_pending_elsewhere());
  CHECK_FALSE(queue.has_for_caller());

  queue.remove_pending(elsewhere);
  queue.push(elsewhere, errc::truncated);
  CHECK(queue.has_elsewhere());
  CHECK_FALSE(queue.has_pending_elsewhere());
  CHECK_FALSE(queue.has_home());

  queue.end_pending_home(home);
  CHECK(queue.pending() == 0);
  CHECK(queue.has_home());
  queue.remote().push(remote);

  CHECK(taken(queue.take_for_caller()) == operations{&home, &remote});
  CHECK(home.status == errc::ok);
  CHECK(taken(queue.take_elsewhere()) == operations{&elsewhere});
  CHECK(elsewhere.status == errc::truncated);
  CHECK_FALSE(queue.has_for_caller());
  CHECK_FALSE(queue.has_elsewhere());
}

TEST_CASE("completion queue: what other threads pushed stays when only the home list is taken") {
  completion_queue queue;
  plain_operation home, remote;
  queue.push(home, errc::ok);
  queue.remote().push(remote);
  CHECK(taken(queue.take_home()) == operations{&home});
  CHECK_FALSE(queue.has_home());
  CHECK(queue.has_for_caller());
  CHECK(taken(queue.take_for_caller()) == operations{&remote});
}
