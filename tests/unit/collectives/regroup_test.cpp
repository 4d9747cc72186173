// SPDX-License-Identifier: Apache-2.0
// What one member sees of a shrink, as the others send it.
#include "collectives/regroup.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <weft/coro/detail/detached_task.hpp>

#include "collectives/communicator.hpp"
#include "unit/proto/net.hpp"

using namespace net;
using namespace weft::collectives;
using namespace weft::proto;
using weft::errc;
using weft::peer_id;
using weft::task;
using weft::detail::communicator_ptr;
using weft::detail::send_mode;

namespace {

const bytes nothing;

/// A job that has lost its coordinator.
struct last_view final : member_views {
  explicit last_view(std::vector<peer_id> all) : ranks(std::move(all)) {}
  job_view now() override { return {1, ranks}; }
  task<job_view> changed(std::uint64_t) override {
    throw weft::error(errc::peer_lost, "the coordinator has gone");
    co_return job_view{};
  }
  job_attempts& attempts_of_job() override { return attempts; }
  std::vector<peer_id> ranks;
  job_attempts attempts;
};

/// A shrink by one node, begun in one of its passes.
class shrinking final : weft::detail::detached_task_owner, weft::operation {
 public:
  shrinking(side& at, const communicator_ptr& old, member_views& job, peer_id self)
      : operation(&begin), engine_(at.engine), task_(regroup(regrouping::shrink, old, job, self)) {
    engine_.post(*this);
  }
  communicator_ptr group;
  std::optional<errc> failure;

 private:
  static void begin(weft::operation& op) noexcept {
    auto& self = static_cast<shrinking&>(op);
    weft::detail::start_detached(self, {nullptr, {}, &self.engine_, &self.engine_},
                                 std::move(self.task_),
                                 [&self](communicator_ptr made) { self.group = std::move(made); });
  }
  void task_ended(std::exception_ptr why) noexcept override {
    if (!why) return;
    try {
      std::rethrow_exception(why);
    } catch (const weft::error& e) {
      failure = e.kind();
    }
  }

  engine& engine_;
  task<communicator_ptr> task_;
};

}  // namespace

TEST_CASE("shrink: a group that this member itself gives up does not come about") {
  nodes n(4);
  const auto old = std::make_shared<communicator>(n[2].messages, 77, 1, group_shape{3, true},
                                                  std::vector<peer_id>{1, 2, 3});
  // Rank 3 has left, and has said before that it has lost this member; rank 1 does not know that,
  // and has begun a group of the two that are left.
  const auto lost = statement{1, 0, {}}.packed(statement_use::lost);
  const auto said = n[3].send(2, nothing, weft::tag{statement_tag(77, statement_use::lost)},
                              send_mode::signal, lost.first);
  const auto crossed = n[1].send(
      2, nothing, weft::tag{barrier_tag(old->shrinks_to({1, 2}).number(0), 0)}, send_mode::signal);
  const auto linked = n[2].send(1, nothing, weft::tag{1});
  n.settle();
  last_view job({0, 1, 2});
  shrinking it(n[2], old, job, 2);
  n.settle();
  CHECK_FALSE(it.group);
  CHECK(it.failure == errc::closed);
}
