// SPDX-License-Identifier: Apache-2.0
// A group of a job that processes have joined, and what it says when there is none.
#include <unistd.h>

#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;

namespace {

options lone_job_options() {
  options o;
  o.standalone = true;
  return o;
}

/// A job of one, and a process that has joined it.
struct grown_job {
  context host{lone_job_options()};
  std::string at = membership(host).open("unix://weft-grow-" + std::to_string(::getpid()));
  std::optional<context> guest{join(at)};
};

task<std::vector<peer_id>> sum_in_grown(context& ctx) {
  const group all = co_await ctx.world().grow();
  const auto sum = co_await all.all_reduce(peer_id{1} << membership(ctx).rank());
  co_return std::vector<peer_id>{all.rank(), all.size(), sum};
}

/// \return how replace ends
task<errc> replaced(context& ctx) {
  const auto made = co_await as_result(ctx.world().replace());
  co_return made.code();
}

}  // namespace

TEST_CASE("grow: a process that joined is in the group, behind those that have a place") {
  grown_job job;
  for (int times = 0; times != 2; ++times) {  // also once more, in the same view
    auto there =
        std::async(std::launch::async, [&] { return run(*job.guest, sum_in_grown(*job.guest)); });
    CHECK(run(job.host, sum_in_grown(job.host)) == std::vector<peer_id>{0, 2, 3});
    CHECK(there.get() == std::vector<peer_id>{1, 2, 3});
  }
}

TEST_CASE("replace: a process that joined has no place, and none is missing without it") {
  grown_job job;
  CHECK(run(*job.guest, replaced(*job.guest)) == errc::closed);
  CHECK(run(job.host, replaced(job.host)) == errc::ok);
}

TEST_CASE("grow and replace: after the end of rank 0 they say so") {
  std::optional<grown_job> job(std::in_place);
  std::optional<context> guest(std::move(job->guest));
  job.reset();
  const auto after = [&]() -> task<errc> {
    // Until this side has heard of it.
    static_cast<void>(co_await as_result(membership(*guest).changed(1000)));
    const auto grown = co_await as_result(guest->world().grow());
    co_return grown.code();
  };
  CHECK(is_loss(run(*guest, after())));
}
