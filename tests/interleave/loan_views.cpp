// SPDX-License-Identifier: Apache-2.0
// Views of a peer's memory end on any threads while the peer dies and the context ends: each is
// answered once, if there is a peer to answer, and the memory stays mapped until the last one has
// ended.
// clang-format off
// always: src/proto/loans/lent_source.hpp: #include "runtime/progress/engine.hpp" => #include "loan_parts.hpp"
// always: src/proto/loans/lent_source.hpp: #include "runtime/os/fork_mark.hpp" => nothing
// always: src/proto/loans/lent_source.hpp: detail::run_loop::here(); => runtime::engine::here(h.engine_);
// always: src/proto/loans/lent_source.hpp: std::size_t users_ = 1; => loans::plain_count users_ = 1;
// always: src/proto/loans/lent_source.cpp: #include "proto/peer/peer.hpp" => nothing
// always: src/runtime/lock/progress_lock.cpp: row_until_biased = 1000 => row_until_biased = 1
// mutation CLOSE_UNLOCKED: src/proto/loans/lent_source.hpp: const std::lock_guard only(mutex_); => nothing
// mutation ASK_UNLOCKED: src/proto/loans/lent_source.hpp: const std::lock_guard only(kept->mutex_); => nothing
// mutation COUNT_UNLOCKED: src/proto/loans/lent_source.hpp: const runtime::engine::holder hold(*kept->engine_); => nothing
// mutation COUNT_UNLOCKED_AT_HOME: src/proto/loans/lent_source.hpp: const runtime::engine::holder hold(*h.engine_); => nothing
// mutation KEEP_NO_HOME: src/proto/loans/lent_source.hpp: const std::shared_ptr<lent_home> kept = of; => const auto& kept = of;
// mutation ANSWER_THE_DEAD: src/proto/loans/lent_source.cpp: && !from_.peer->has_ended() => nothing
// mutation ANSWER_WITHOUT_CONTEXT: src/proto/loans/lent_source.cpp: if (lives && => if ((lives || true) &&
// clang-format on
#include "waits.hpp"

#include <memory>

#include "loan_parts.hpp"
#include "private_fences.hpp"
#include "scenario.hpp"

#include "proto/loans/lent_source.cpp"
#include "runtime/lock/progress_lock.cpp"

namespace {

using namespace weft::proto;
using weft::runtime::engine;

constexpr int views = 3;

struct state {
  state() {
    const std::shared_ptr<const void> mapping(this, [this](const void*) { mapped = false; });
    memory = lent_source::make(home, weft::detail::peer_name(&from, 7), mapping);
    for (int n = 0; n != views; ++n) memory->add();
  }

  /// \param n which view, from 1 on
  void end_view(std::uint16_t n) const {
    interleave::expect(mapped, "a view is read after its memory has gone");
    memory->give_back(n);
  }

  engine turns;
  peer from{turns, 7};
  std::shared_ptr<lent_home> home = std::make_shared<lent_home>(turns);
  bool mapped = true;
  lent_source* memory = nullptr;  // of the peer, until it ends, and of the views
};

/// The thread inside run() has a view, too.
void while_the_context_lives(interleave::run& now, const std::shared_ptr<state>& s) {
  now.thread([s] {
    loans::begin_home();
    s->end_view(1);
  });
  now.thread([s] {
    s->end_view(2);
    s->end_view(3);
  });
  now.at_end([s] {
    loans::expect_no_fault();
    interleave::expect(s->from.answers.size() == views, "a view has ended without an answer");
    interleave::expect(s->mapped, "memory is gone of which the peer may lend more");
    s->memory->drop();
  });
}

/// The peer dies, and the context of its views ends.
void while_all_ends(interleave::run& now, const std::shared_ptr<state>& s) {
  now.thread([s] {
    loans::begin_home();
    s->end_view(1);
    {
      const engine::holder hold(s->turns);
      s->from.ended = true;
      s->memory->drop();
    }
    s->home->close();
    s->home.reset();
    s->from.gone = true;
    s->turns.destroy();
  });
  now.thread([s] {
    s->end_view(2);
    s->end_view(3);
  });
  now.at_end([s] {
    loans::expect_no_fault();
    interleave::expect(!s->mapped, "memory that is not viewed stays mapped");
    interleave::expect(!waits::used_after_end, "the home of the views is used after its end");
  });
}

}  // namespace

interleave::bounds within() {
  return {.preemptions = 1, .delays = 1, .stale = 1, .together = true};
}

void scenario(interleave::run& now) {
  loans::begin_run();
  waits::used_after_end = false;
  const bool ends = interleave::any_of(2) == 1;
  const auto s = std::make_shared<state>();
  if (ends)
    while_all_ends(now, s);
  else
    while_the_context_lives(now, s);
}
