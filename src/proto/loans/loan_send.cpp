// SPDX-License-Identifier: Apache-2.0
// Sends a loan. The drawing of the exchange is in README.md.
#include <weft/operations/loans.hpp>

#include "proto/loans/loan_pool.hpp"
#include "proto/messenger/message_errors.hpp"
#include "proto/peer/peer.hpp"

namespace weft {

namespace {
constexpr const char* no_loan =
    "send_loan: there is no loan, or it is of another context or lane; send it to a peer of the "
    "context, and the lane, that made it";
}

void detail::loan_memory::give_back() noexcept {
  proto::loan_pool& pool = *block_->pool;
  if (pool.engine().is_inherited()) return;
  const runtime::engine::holder hold(pool.engine());
  pool.give_back(*block_);
}

bool loan_send_operation::start() noexcept {
  if (!to_.peer) return start_held();
  const runtime::engine::holder hold(to_.peer->engine());
  return start_held();
}

bool loan_send_operation::start_held() noexcept {
  proto::loan_block* const block = loan_.block();
  if (!to_.peer || !block || &block->pool->engine() != &to_.peer->engine()) {
    status = errc::invalid_argument;
    return true;
  }
  if (cancel_requested_) {
    status = errc::stopped;
    return true;
  }
  block->renew({to_, tag_, const_buffer(loan_.bytes()), detail::send_mode::loan, immediate_},
               *this);
  loan_.release();
  block_ = block;
  starting_ = true;
  if (to_.peer->start(*block)) {  // it has left whole, or not begun
    handed_over(block->status);
    block->front = nullptr;
    block->pool->give_back(*block);
    return true;
  }
  starting_ = false;
  if (!block_) return true;
  to_.peer->engine().pending(*this);
  return false;
}

void loan_send_operation::handed_over(errc how) noexcept {
  block_ = nullptr;
  if (starting_)
    status = how;
  else
    to_.peer->engine().end(*this, how);
}

/// Once the message is on its way it is too late.
void loan_send_operation::cancel() noexcept {
  if (!to_.peer) return;
  const runtime::engine::holder hold(to_.peer->engine());
  cancel_requested_ = true;
  if (block_) to_.peer->sender().cancel(*block_);
}

std::string loan_send_operation::explain() const {
  if (!to_.peer) return proto::explain_no_peer(tag_.value);
  if (status == errc::invalid_argument) return no_loan;
  return proto::explain(proto::describe(send_operation({to_, tag_, const_buffer{}}, nullptr)),
                        status, to_, nullptr, 0);
}

}  // namespace weft
