// SPDX-License-Identifier: Apache-2.0
// The end of a handler, which waits for the calls that it serves.
#include <utility>

#include "proto/calls/call_table.hpp"

namespace weft::proto {

void call_handler::all_ended(operation& op) noexcept {
  const auto keep = std::move(static_cast<call_handler&>(op).self_);
  keep->done_.store(true, std::memory_order_release);
  keep->ended_.open();
}

void call_handler::report_end(runtime::engine& e) noexcept {
  self_ = shared_from_this();
  e.end_unposted(*this, errc::ok);
}

void call_handler::context_ended() noexcept {
  engine_ = nullptr;
  closed_ = true;
  if (running == 0) {
    done_.store(true, std::memory_order_release);
    ended_.open();
  }
}

void call_handler::close() noexcept {
  if (!engine_) return;
  const runtime::engine::holder hold(*engine_);
  if (std::exchange(closed_, true)) return;
  if (is_registered) table_->remove(*this);
  if (running != 0) return;
  done_.store(true, std::memory_order_release);
  ended_.open();
}

void call_handler::stop() noexcept {
  if (!engine_) return;
  const runtime::engine::holder hold(*engine_);
  table_->stop_calls_of(*this);
}

void call_handler::wait() noexcept {
  if (engine_ && !done_.load(std::memory_order_acquire)) engine_->run_until_done(done_);
}

}  // namespace weft::proto
