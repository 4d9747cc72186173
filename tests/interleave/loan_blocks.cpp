// SPDX-License-Identifier: Apache-2.0
// A block of a loan pool goes to two readers at once, while a thread that shares it gives up its
// handles, and the memory is taken for another loan as soon as it may be: no reader sees that.
// clang-format off
// always: src/proto/loans/loan_pool.hpp: #include "runtime/progress/engine.hpp" => #include "loan_parts.hpp"
// always: src/proto/loans/loan_block.hpp: std::size_t holders = 0; => loans::plain_count holders = 0;
// always: src/proto/loans/loan_block.hpp: #include <weft/operations/loans.hpp> => #include "loan_parts.hpp"
// always: src/proto/loans/loan_send.cpp: #include "proto/peer/peer.hpp" => nothing
// always: src/runtime/lock/progress_lock.cpp: row_until_biased = 1000 => row_until_biased = 1
// mutation GIVE_BACK_UNLOCKED: src/proto/loans/loan_send.cpp: const runtime::engine::holder hold(pool.engine()); => nothing
// mutation SHARE_UNLOCKED: src/proto/loans/loan_send.cpp: const runtime::engine::holder hold(block_->pool->engine()); => nothing
// mutation START_UNLOCKED: src/proto/loans/loan_send.cpp: const runtime::engine::holder hold(to_.peer->engine()); => nothing
// mutation FREE_AT_ONCE: src/proto/loans/loan_pool.cpp: if (--b.holders != 0) return; => b.holders = 0;
// mutation FREE_NEVER: src/proto/loans/loan_pool.cpp: if (--b.holders != 0) return; => return;
// mutation SHARE_NO_HOLDER: src/proto/loans/loan_send.cpp: ++block_->holders; => nothing
// mutation ONE_MESSAGE_FOR_ALL: src/proto/loans/loan_pool.cpp: if (!b.first.block) return &b.first; => if (!b.next_free) return &b.first;
// clang-format on
#include "waits.hpp"

#include <array>
#include <memory>
#include <string>

#include "loan_parts.hpp"
#include "private_fences.hpp"
#include "scenario.hpp"

#include "proto/loans/loan_pool.cpp"
#include "proto/loans/loan_send.cpp"
#include "runtime/lock/progress_lock.cpp"

namespace weft::proto {

bool peer::start(send_operation& op) noexcept {
  loans::note(engine_.is_held(), "a peer is used without the progress lock");
  lent = static_cast<loan_message*>(&op);
  lent->hand_over(errc::ok);
  interleave::changed();
  return false;
}
const char* explain_no_peer(std::uint64_t) noexcept { return ""; }
std::string describe(const send_operation&) { return {}; }
std::string explain(const std::string&, errc, detail::peer_name, const received*, std::size_t) {
  return {};
}

}  // namespace weft::proto

namespace {

using namespace weft::proto;
using weft::errc;
using weft::detail::loan_memory;
using weft::runtime::engine;

constexpr int written = 7, overwritten = 8;

struct sending final : weft::loan_send_operation {
  sending(peer& to, loan_memory what) noexcept
      : loan_send_operation(
            {weft::detail::peer_name(&to, to.id()), weft::tag{1}, 0, std::move(what)}, nullptr) {}
};

struct state {
  state() {
    pool.use(memory);
    loan_block* const b = pool.take(1);
    mine = loan_memory(*b, {b->at, 1});
    content.store(written, std::memory_order_relaxed);
  }

  engine turns;
  // There is room for one block: the next one that is taken is the same memory.
  alignas(loan_pool::page) std::array<std::byte, loan_pool::page> memory{};
  loan_pool pool{turns, loan_pool::page};
  weft::std::atomic<int> content{0};  // of the block: as plain data, which the lock must publish
  loan_memory mine;
  std::array<peer, 2> readers{peer(turns, 1), peer(turns, 2)};

  /// As the receiver does, and then its answer, or its end, comes.
  void read_and_answer(peer& as, errc how) {
    interleave::wait_until([&as] { return as.lent != nullptr; });
    interleave::expect(content.load(std::memory_order_relaxed) == written,
                       "a reader finds another loan's bytes");
    const engine::holder hold(turns);
    loan_message* const m = std::exchange(as.lent, nullptr);
    loans::note(m->block, "a message has another one's answer");
    if (m->block) m->finish(how);
  }
  /// For another loan, whose bytes are written.
  void take_what_is_free() {
    const engine::holder hold(turns);
    loan_block* const b = pool.take(1);
    if (!b) return;
    content.store(overwritten, std::memory_order_relaxed);
    pool.give_back(*b);
  }
};

}  // namespace

interleave::bounds within() {
  return {.preemptions = 1, .delays = 1, .stale = 1, .together = true};
}

void scenario(interleave::run& now) {
  loans::begin_run();
  const auto s = std::make_shared<state>();
  // Another thread of the application: a shared_loan, which ends.
  now.thread([s] {
    for (peer& each : s->readers) {
      sending to(each, s->mine.share());
      to.start();
    }
    s->mine = {};
  });
  // The answers come, by the thread inside run() or by a progress thread.
  const bool at_home = interleave::any_of(2) == 1;
  now.thread([s, at_home] {
    if (at_home) loans::begin_home();
    s->read_and_answer(s->readers[0], errc::ok);
    s->take_what_is_free();
    s->read_and_answer(s->readers[1], errc::peer_lost);
    s->take_what_is_free();
  });
  now.at_end([s] {
    loans::expect_no_fault();
    interleave::expect(s->pool.is_whole(), "a block is not free again");
  });
}
