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

detail::loan_memory detail::loan_memory::share() const noexcept {
  if (!block_) return {};
  const runtime::engine::holder hold(block_->pool->engine());
  ++block_->holders;
  return {*block_, bytes_};
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
  proto::loan_message* const m = block->pool->message_of(*block);
  if (!m) {
    status = errc::out_of_memory;
    return true;
  }
  m->renew({to_, tag_, const_buffer(loan_.bytes()), detail::send_mode::loan, immediate_}, *block,
           *this);
  loan_.release();
  message_ = m;
  starting_ = true;
  if (to_.peer->start(*m)) {  // it has left whole, or not begun
    m->finish(m->status);
    return true;
  }
  starting_ = false;
  if (!message_) return true;
  to_.peer->engine().pending(*this);
  return false;
}

void loan_send_operation::handed_over(errc how) noexcept {
  message_ = nullptr;
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
  if (message_) to_.peer->sender().cancel(*message_);
}

std::string loan_send_operation::explain() const {
  if (!to_.peer) return proto::explain_no_peer(tag_.value);
  if (status == errc::invalid_argument) return no_loan;
  return proto::explain(proto::describe(send_operation({to_, tag_, const_buffer{}}, nullptr)),
                        status, to_, nullptr, 0);
}

}  // namespace weft
