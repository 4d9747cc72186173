// SPDX-License-Identifier: Apache-2.0
// The members of the job, as one rank knows them.
#pragma once

#include <utility>

#include <weft/coro/event.hpp>

#include "collectives/regroup.hpp"

namespace sim {

/// Owned by the job, which tells it of each change, in order.
class views_of_rank final : public weft::collectives::member_views {
 public:
  weft::collectives::job_view now() override { return view_; }
  weft::task<weft::collectives::job_view> changed(std::uint64_t since) override {
    while (view_.epoch <= since) {
      if (lost_) throw weft::error(weft::errc::peer_lost, "rank 0 has ended");
      co_await changed_.wait();
    }
    co_return view_;
  }
  weft::collectives::job_attempts& attempts_of_job() override { return attempts_; }
  /// The coordinator has ended: there are no more changes.
  void lose() {
    lost_ = true;
    changed_.set();
  }
  void become(weft::collectives::job_view next) {
    if (next.epoch <= view_.epoch) return;
    view_ = std::move(next);
    changed_.set();
    changed_.reset();
  }

 private:
  weft::collectives::job_view view_;
  weft::collectives::job_attempts attempts_;
  weft::event changed_;
  bool lost_ = false;
};

}  // namespace sim
