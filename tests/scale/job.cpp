// SPDX-License-Identifier: Apache-2.0
#include "scale/job.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "scale/model_link.hpp"

namespace scale {

using weft::proto::peer;
using weft::runtime::engine;

std::size_t heap_in_use() noexcept {
  const struct mallinfo2 all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

/// Begins a rank's task inside the run loop, and hears of its end.
class job::starter final : weft::detail::detached_task_owner, weft::operation {
 public:
  starter(job& j, peer_id r) : operation(&begin), job_(j), rank_(r) {}
  void start(weft::task<void> t) {
    task_.emplace(std::move(t));
    job_.engine_.post(*this);
  }

 private:
  static void begin(weft::operation& op) noexcept {
    auto& self = static_cast<starter&>(op);
    engine& e = self.job_.engine_;
    ++self.job_.begun_;
    weft::task<void> t = std::move(*self.task_);
    self.task_.reset();
    weft::detail::start_detached(self, {nullptr, {}, &e, &e}, std::move(t), [] {});
  }
  void task_ended(std::exception_ptr failure) noexcept override {
    job_.ended(rank_, std::move(failure));
  }

  job& job_;
  const peer_id rank_;
  std::optional<weft::task<void>> task_;
};

job::job(const network& net, peer_id ranks, const weft::collectives::forced_choices& forced)
    : size_(ranks),
      fabric_(net, ranks),
      engine_(weft::progress_mode::polling, {.never_sleep = true}, "epoll", &fabric_) {
  engine_.add(*this);
  ranks_.reserve(ranks);
  starters_.reserve(ranks);
  for (peer_id r = 0; r != ranks; ++r) starters_.push_back(std::make_unique<starter>(*this, r));
  const std::size_t before = heap_in_use();
  const weft::collectives::group_shape shape = net.shape(ranks, forced);
  for (peer_id r = 0; r != ranks; ++r)
    ranks_.push_back(std::make_unique<rank>(engine_, wanted_, r, shape));
  heap_before_links_ = heap_in_use();
  heap_idle_ = (heap_before_links_ - before) / ranks;
}

job::~job() {
  for (const auto& r : ranks_) r->group.reset();
  {
    const engine::holder hold(engine_);
    for (const auto& r : ranks_) r->messages.close_all();
    engine_.close_timers();
  }
  while (engine_.poll_once() != 0) {
  }
  const engine::holder hold(engine_);
  for (const auto& r : ranks_) r->messages.peers().clear();
}

void job::ended(peer_id r, std::exception_ptr failure) noexcept {
  --running_;
  last_end_ = std::max(last_end_, fabric_.clock_of(r));
  if (failure && !failure_) failure_ = std::move(failure);
}

outcome job::run(const std::function<weft::task<void>(peer_id)>& make) {
  const picoseconds begins = fabric_.align();
  begun_ = 0;
  running_ = size_;
  last_end_ = begins;
  failure_ = nullptr;
  quiet_ = false;
  for (peer_id r = 0; r != size_; ++r) starters_[r]->start(make(r));
  engine_.run_until_done(quiet_);
  if (failure_) std::rethrow_exception(failure_);
  if (running_ != 0)
    throw std::runtime_error(
        fmt::format("{} of {} ranks wait, and nothing is under way", running_, size_));
  outcome o;
  o.microseconds = in_microseconds(last_end_ - begins);
  for (peer_id r = 0; r != size_; ++r) {
    const traffic& t = fabric_.traffic_of(r);
    o.total.frames += t.frames;
    o.total.bytes += t.bytes;
    o.total.leaving += t.leaving;
    o.most.frames = std::max(o.most.frames, t.frames);
    o.most.bytes = std::max(o.most.bytes, t.bytes);
    o.most.leaving = std::max(o.most.leaving, t.leaving);
  }
  return o;
}

void job::make_links() {
  for (const wanted_link& w : std::exchange(wanted_, {})) {
    peer& back = *ranks_[w.to->id()]->messages.peers().at_held(w.from);
    const std::uint32_t credit = back.writer().grant_first_credit();
    ++links_;
    w.to->opened(std::make_unique<model_link>(fabric_, w.from, w.to->id(), back, *w.to), credit);
  }
}

void job::hand_over(const delivery& p) {
  if (p.is_get) {
    transports::scatter into = p.into;
    transports::copy_in(into, p.source, p.size);
    p.sink->on_transferred(p.cookie, true);
  } else if (!p.sink->on_frame(p.header, transports::extension_of(p.header, p.extension),
                               p.payload.data())) {
    p.sink->on_broken(weft::errc::protocol_error);
  }
}

unsigned job::poll() noexcept {
  if (begun_ != size_) return 0;  // the tasks begin between two passes
  make_links();
  weft::proto::peer_upkeep& owed = ranks_[last_]->messages.upkeep();
  if (owed.worth_polling && owed.poll() != 0) return 1;
  const std::unique_ptr<delivery> p = fabric_.next();
  if (!p) {
    quiet_ = wanted_.empty();
    return 0;
  }
  last_ = p->to;
  hand_over(*p);
  return 1;
}

known_peers job::known() const {
  known_peers a;
  std::size_t peers = 0;
  for (const auto& r : ranks_) {
    std::size_t of_rank = 0;
    r->messages.peers().for_each([&](const peer&) { ++of_rank; });
    peers += of_rank;
    a.most_peers = std::max(a.most_peers, of_rank);
  }
  a.peers = static_cast<double>(peers) / size_;
  a.links = static_cast<double>(links_) / size_;
  a.heap_idle = heap_idle_;
  a.heap_connected = (heap_in_use() - heap_before_links_) / size_;
  return a;
}

}  // namespace scale
