// SPDX-License-Identifier: Apache-2.0
// The job's part for a rank that breaks the rules, and the checks of the other ranks.
#include <algorithm>

#include "proto/rma/rma.hpp"
#include "proto/select/select.hpp"
#include "sim/job.hpp"
#include "sim/work.hpp"

namespace sim {

using weft::errc;
using weft::runtime::engine;

namespace {

// Answers to messages and to accesses; frames that a rank sends unasked are few.
constexpr std::size_t most_waiting =
    weft::proto::most_unsent_answers + weft::proto::most_outstanding_rma + 1000;

// Basic blocks. The end of a peer checks each place where a receive may be, and releases the memory
// kept for it: 120,000 blocks were the most in 100,000 seeds. clang makes up to twice as many
// blocks of the same source under its sanitizers.
#ifdef __clang__
constexpr std::uint64_t work_of_a_pass = 200'000;
#else
constexpr std::uint64_t work_of_a_pass = 130'000;
#endif
constexpr std::uint64_t work_for_a_frame = 1000;
// With several links one frame says how much has arrived by a link that breaks: the sender goes
// through all frames that it has under way there: of three long messages in frames of 64 bytes
// those are 3,500, with a hundred steps for each.
constexpr std::uint64_t more_with_many_links = 4;

}  // namespace

void job::want_hostile_links(node to) {
  const node self = *plan_.hostile;
  if (!asked_by_hostile_.insert(to).second) return;
  const nanoseconds asks = world_.elapsed() + delay(self, to);
  world_.at(std::max(asks, plan_.ranks[to].joins), [this, self, to] {
    if (there(to) && !apart(to, self)) open(self, to);
  });
}

void job::knows(node owner, std::shared_ptr<shared_memory> what) {
  world_.at(world_.elapsed() + std::chrono::microseconds(20), [this, owner, what] {
    if (hostile() && what->key != 0)
      hostile_->knows_region(owner, what->key, what->name.first, what->all().size());
  });
}

/// The work of a pass depends on the frames received in it, and not on what a peer has sent before.
void job::judge_pass(node n) {
  const std::uint64_t work = work_done() - std::exchange(work_before_, work_done());
  const std::uint64_t frames = std::exchange(frames_in_pass_, 0);
  most_work_ = std::max(most_work_, work - std::min(work, frames * work_for_a_frame));
  const std::uint64_t most = work_of_a_pass * (plan_.wanted.many_links ? more_with_many_links : 1);
  if (plan_.hostile && work > most + frames * work_for_a_frame)
    log_.violation("a pass of rank {} with {} frames took {} steps", n, frames, work);
}

/// A rank that connects is granted some credit, also beyond the budget.
std::size_t job::overdraft() const noexcept {
  return ranks_.size() * weft::proto::smallest_grant * weft::proto::credit_unit;
}

bool job::end_hostile() {
  if (!hostile()) return false;
  const node self = *plan_.hostile;
  delay(self, self).count() % 2 == 0 ? kill(self) : leave(self);
  return true;
}

/// What a rank keeps for the hostile rank is bounded. A rank that has ended the connection learns
/// of its end as of a death.
void job::judge_hostile(node n) {
  const node other = *plan_.hostile;
  const std::shared_ptr<weft::proto::peer> p = at(n).messages().peers().at(other);
  const engine::holder hold(at(n).engine());
  if (const std::size_t waiting = p->writer().credit_state().waiting; waiting > most_waiting)
    log_.violation("rank {} keeps {} control frames for rank {}", n, waiting, other);
  if (p->now() == weft::proto::peer::state::lost && cut_off_.insert(n).second) {
    log_.event("rank {} has cut off rank {} ({})", n, other, static_cast<int>(p->why()));
    tell_gone(n, other, p->why());
  }
}

/// The hostile rank is gone, and all operations with it are at rest.
void job::judge_after_hostile(node n) {
  const node other = *plan_.hostile;
  const std::shared_ptr<weft::proto::peer> p = at(n).messages().peers().at(other);
  const engine::holder hold(at(n).engine());
  if (!p->has_ended()) log_.violation("rank {} does not know that rank {} is gone", n, other);
  const auto credit_state = p->writer().credit_state();
  if (credit_state.window != 0 || credit_state.waiting_credits != 0)
    log_.violation("rank {} still grants {} units to rank {}, which is gone", n,
                   credit_state.window, other);
  if (p->connection().link())
    log_.violation("rank {} has a link to rank {}, which is gone", n, other);
}

}  // namespace sim
