// SPDX-License-Identifier: Apache-2.0
// Contexts that claim the rank of another context are refused, over a Unix socket and over TCP,
// where no kernel tells which process it is. The real rank is not affected.

#include <unistd.h>

#include <future>
#include <memory>
#include <string>

#include <weft/weft.hpp>

#include "api/core/core.hpp"
#include "support/catch.hpp"
#include "support/no_events.hpp"
#include "wireup/manager/connection_manager.hpp"

using namespace weft;

namespace {

const std::string a_key(32, 'a');

/// A context that consists of its control plane only.
class claimant final : public weft::tests::no_events {
 public:
  explicit claimant(const wireup::identity& self = {}) {
    manager_ = std::make_unique<wireup::connection_manager>(
        self, static_cast<wireup::manager_events&>(*this),
        wireup::tcp_settings{wireup::job_key::from_text(a_key, "the test"), {"lo"}});
    manager_->start_accepting();
  }
  std::future<wireup::channel_ptr> request_connection(const std::string& listening) {
    auto answer = std::make_shared<std::promise<wireup::channel_ptr>>();
    manager_->request_connection(listening, "hello",
                                 [answer](wireup::channel_ptr c, const wireup::failure&) {
                                   answer->set_value(std::move(c));
                                 });
    return answer->get_future();
  }

 private:
  std::unique_ptr<wireup::connection_manager> manager_;
};

task<endpoint> let_in(listener& at, claimant& who) {
  const auto answer = who.request_connection(at.address());
  listener::connection_request v = co_await at.next();
  co_return co_await v.accept();
}

task<void> receive(context& ctx, const std::string& listening) {
  listener at = co_await ctx.listen(listening);
  claimant asks;
  auto answer = asks.request_connection(at.address());
  listener::connection_request first = co_await at.next();
  co_await first.accept();
  wireup::identity claimed = answer.get()->peer();  // the job, and this context's own rank

  claimant own_rank(claimed);
  CHECK((co_await as_result(let_in(at, own_rank))).code() == errc::protocol_error);

  claimed.rank = 5;
  claimant honest(claimed), late(claimed);
  endpoint peer = co_await let_in(at, honest);
  CHECK((co_await as_result(let_in(at, late))).code() == errc::protocol_error);
  // The connection has not ended.
  const auto end = co_await as_result(within(std::chrono::milliseconds(20), peer.closed()));
  CHECK(end.code() == errc::timed_out);
}

task<endpoint> let_in_at(context& lane, std::string listening, claimant& who) {
  listener at = co_await lane.listen(std::move(listening));
  co_return co_await let_in(at, who);
}

}  // namespace

TEST_CASE("impostor: a rank that one lane has met is that process in all lanes") {
  const std::string name = "unix://weft-impostor-" + std::to_string(::getpid());
  options o;
  o.lanes = 2;
  context ctx(o);
  wireup::identity claimed;
  claimed.job = weft::detail::core_of(ctx).job()->id();
  claimed.rank = 5;
  claimant honest(claimed), late(claimed);
  const endpoint first = run(ctx, let_in_at(ctx, name + "-0", honest));
  const auto second = [&]() -> task<errc> {
    co_return (co_await as_result(let_in_at(ctx.lane(1), name + "-1", late))).code();
  };
  CHECK(run(ctx.lane(1), second()) == errc::protocol_error);
  const endpoint other = run(ctx.lane(1), let_in_at(ctx.lane(1), name + "-2", honest));
  CHECK(other.rank() == 5);
}

TEST_CASE("impostor: a rank that one process has belongs to no other") {
  for (const std::string& listening :
       {"unix://weft-impostor-" + std::to_string(::getpid()), std::string("tcp://127.0.0.1:0")}) {
    CAPTURE(listening);
    options o;
    o.job_key = a_key;
    context ctx(o);
    run(ctx, receive(ctx, listening));
  }
}
