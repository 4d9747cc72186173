// SPDX-License-Identifier: Apache-2.0
#include <weft/call.hpp>

#include <utility>

#include <weft/context.hpp>
#include <weft/coro/detail/awaitable.hpp>

#include "api/core/core.hpp"

namespace weft {

handler context::add_handler(am number, std::unique_ptr<detail::call_code> code,
                             handler_options how) {
  if (number.number >= first_reserved_am)
    throw error(errc::invalid_argument,
                "the numbers of handlers from 0xffffff00 on are weft's own; take another one");
  return core_->add_handler(number, std::move(code), how);
}

handler detail::core::add_handler(am number, std::unique_ptr<call_code> code, handler_options how) {
  refuse_child();
  auto made = std::make_shared<proto::call_handler>(number, std::move(code), how.where);
  const runtime::engine::holder hold(engine_);
  messenger_.calls().add(made);
  return handler(std::move(made));
}

handler::handler(std::shared_ptr<proto::call_handler> state) noexcept : state_(std::move(state)) {}

handler& handler::operator=(handler&& other) noexcept {
  handler old(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

handler::~handler() {
  if (!state_ || state_->is_inherited()) return;
  state_->close();
  state_->stop();
  state_->wait();
}

namespace {
struct stop_handler {
  proto::call_handler* which;
  void operator()() const noexcept { which->stop(); }
};
}  // namespace

task<void> handler::end() {
  const std::shared_ptr<proto::call_handler> ending = std::exchange(state_, nullptr);
  if (!ending) co_return;
  task_environment& here = co_await current_environment();
  ending->close();
  std::stop_callback<stop_handler> on_stop(here.stop, stop_handler{ending.get()});
  co_await ending->ended();
}

}  // namespace weft
