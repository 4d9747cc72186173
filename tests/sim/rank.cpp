// SPDX-License-Identifier: Apache-2.0
#include "sim/rank.hpp"

#include <algorithm>

#include <weft/coro/detail/detached_task.hpp>

#include "collectives/communicator.hpp"
#include "sim/service.hpp"
#include "transports/fake/factory.hpp"

namespace sim {

using weft::runtime::engine;

/// A task that no coroutine awaits: what `spawn` makes of a task in a context.
class rank::player final : weft::detail::detached_task_owner, weft::operation {
 public:
  player(rank& r, weft::task<void> t) : operation(&begin), rank_(r), task_(std::move(t)) {
    ++rank_.playing_;
    rank_.engine_.post(*this);
  }

 private:
  static void begin(weft::operation& op) noexcept {
    auto& self = static_cast<player&>(op);
    weft::runtime::engine& e = self.rank_.engine_;
    weft::detail::start_detached(self, {nullptr, self.rank_.stop_.get_token(), &e, &e},
                                 std::move(self.task_), [] {});
  }
  void task_ended(std::exception_ptr failure) noexcept override {
    const std::unique_ptr<player> self(this);
    --rank_.playing_;
    if (!failure) return;
    try {
      std::rethrow_exception(std::move(failure));
    } catch (const std::exception& e) {
      rank_.log_.violation("a task of rank {} threw: {}", rank_.number_, e.what());
    }
  }

  rank& rank_;
  weft::task<void> task_;
};

rank::rank(fake::world& w, node number, const scenario& p, log& l, ledger& book,
           std::function<bool(node)> is_busy)
    : number_(number),
      log_(l),
      ledger_(book),
      engine_(weft::progress_mode::polling, {}, "epoll", &w),
      messages_(engine_, {.unexpected_budget = p.ranks[number].unexpected_budget,
                          .eager_limit = p.ranks[number].eager_limit,
                          .rendezvous = p.ranks[number].rendezvous,
                          .eager_data = p.ranks[number].eager_data,
                          .calls_at_once = p.ranks[number].calls_at_once,
                          .secret = [d = p.secrets(number)]() mutable { return d.throw_one(); }}),
      is_busy_(std::move(is_busy)) {
  messages_.attach(connector_);
  messages_.peers().reserve_ranks(static_cast<weft::peer_id>(p.ranks.size()));
  engine_.add(messages_.upkeep());
  for (const fake::manner& how : p.transports) {
    ways_.push_back(fake::make(w, number, engine_, how));
    engine_.add(*ways_.back()->poll_hook());
  }
  whole_budget_ = budget();
}

rank::~rank() = default;

void rank::play(weft::task<void> t) { new player(*this, std::move(t)); }

void rank::end() {
  {
    const engine::holder hold(engine_);
    messages_.close_all();
  }
  for (const auto& s : std::exchange(services_, {})) forget_service(s);
  const auto complete = [this] {
    while (engine_.poll_once() != 0) {
    }
  };
  complete();
  end_regions();
  if (const auto n = ledger_.pending(number_); n != 0)
    log_.violation("the end of rank {} left {} operations waiting", number_, n);
  stop_.request_stop();  // timers of the acts do not end with their context
  complete();
  {
    const engine::holder hold(engine_);
    engine_.close_timers();
  }
  complete();
  const engine::holder hold(engine_);
  messages_.peers().clear();
}

std::uint32_t rank::budget() {
  const engine::holder hold(engine_);
  const std::uint32_t all = messages_.memory().take(~0u);
  messages_.memory().give_back(all);
  return all;
}

void rank::judge_remains() {
  const std::uint32_t left = budget();
  const engine::holder hold(engine_);
  if (const auto n = messages_.messages().in_use(); n != 0)
    log_.violation("rank {} keeps {} messages", number_, n);
  if (const auto n = messages_.counts().unexpected_bytes_now; n != 0)
    log_.violation("rank {} keeps {} bytes of messages", number_, n);
  if (const auto n = engine_.outstanding(); n != 0)
    log_.violation("rank {} counts {} operations as outstanding", number_, n);
  if (left != whole_budget_)
    log_.violation("rank {} has {} units of its budget of {} back", number_, left, whole_budget_);
  if (playing_ != 0) log_.violation("{} tasks of rank {} never ended", playing_, number_);
}

watched_send rank::send(node to, std::uint64_t tag, std::size_t size, bool synchronous) {
  using weft::detail::send_mode;
  message_record& m = ledger_.new_message(number_, to, tag, size, synchronous);
  return {{peer(to),
           {tag},
           weft::const_buffer(m.buffer()),
           synchronous ? send_mode::synchronous : send_mode::standard},
          &ledger_,
          &m};
}

watched_receive rank::receive(std::optional<node> from, weft::tag_mask tag, std::size_t room) {
  receive_record& r = ledger_.new_receive(number_, from, tag, room);
  return {{&messages_, peer(from), tag, r.buffer()}, &ledger_, &r};
}

watched_probe rank::probe(std::optional<node> from, weft::tag_mask tag) {
  receive_record& r = ledger_.new_probe(number_, from, tag);
  return {{&messages_, peer(from), tag}, &ledger_, &r};
}

weft::detail::communicator_ptr rank::group_of(std::uint64_t number,
                                              const std::vector<node>& members, bool one_host) {
  const auto place = std::find(members.begin(), members.end(), number_) - members.begin();
  const weft::collectives::group_shape shape{static_cast<weft::peer_id>(members.size()), one_host};
  return std::make_shared<weft::collectives::communicator>(
      messages_, number, static_cast<weft::peer_id>(place), shape,
      std::vector<weft::peer_id>(members.begin(), members.end()));
}

watched_end rank::closed(node whom) {
  return {weft::proto::closed(*messages_.peers().at(whom)), &ledger_,
          &ledger_.new_wait_for_end(number_, whom)};
}

}  // namespace sim
