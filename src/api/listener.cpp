// SPDX-License-Identifier: Apache-2.0
#include <weft/as_result.hpp>
#include <weft/context.hpp>

#include "api/door.hpp"

namespace weft {

using detail::door_state;
using visit_ptr = door_state::visit_ptr;

struct listener::state {
  explicit state(std::shared_ptr<door_state> d) noexcept : door(std::move(d)) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { door->close(); }

  std::shared_ptr<door_state> door;
};

struct listener::visitor::state {
  detail::core* owner;
  visit_ptr visit;
};

listener::visitor::visitor(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
listener::visitor::visitor(visitor&&) noexcept = default;
listener::visitor& listener::visitor::operator=(visitor&&) noexcept = default;
listener::visitor::~visitor() {
  if (state_ && state_->owner->engine().is_inherited()) static_cast<void>(state_.release());
}

const std::string& listener::visitor::greeting() const noexcept {
  return state_->visit->greeting();
}

task<endpoint> listener::visitor::accept() {
  detail::core& owner = *state_->owner;
  const visit_ptr visit = state_->visit;
  detail::callback_request<endpoint> accepted{
      &owner.engine(), [&owner, visit](const std::shared_ptr<detail::mailbox<endpoint>>& box) {
        owner.manager().post([&owner, visit, box] {
          const wireup::channel_ptr c = visit->accept();
          if (!c && owner.ended()) return box->fail(errc::closed, "the context has ended");
          if (!c) return box->fail(errc::peer_lost, "the visitor left before it was accepted");
          auto peer = owner.links().peer_met(c);
          if (!peer) return box->fail(errc::protocol_error, "the visitor is not who it says it is");
          box->deliver(endpoint(std::move(peer)));
        });
      }};
  co_return co_await accepted;
}

void listener::visitor::reject(std::string reason) { state_->visit->reject(reason); }

task<listener::visitor> listener::next() {
  const std::shared_ptr<state> keep = state_;
  const std::shared_ptr<door_state> door = keep->door;
  detail::callback_request<visit_ptr> came{
      &door->owner->engine(),
      [door](const std::shared_ptr<detail::mailbox<visit_ptr>>& box) { door->wait(box); }};
  visit_ptr visit = co_await came;
  co_return visitor(
      std::make_unique<visitor::state>(visitor::state{door->owner, std::move(visit)}));
}

task<endpoint> listener::accept() {
  for (;;) {
    visitor v = co_await next();
    result<endpoint> in = co_await as_result(v.accept());
    if (in) co_return std::move(in).value();
    if (in.code() != errc::peer_lost) throw in.failure();
  }
}

std::string listener::address() const { return state_->door->address; }

void listener::close() { state_->door->close(); }

task<listener> context::listen(std::string address) {
  core_->refuse_child();
  auto door = std::make_shared<door_state>();
  door->owner = core_.get();
  core_->manager().open_door(address, door->address, [&](std::uint64_t number) {
    door->number = number;
    core_->add_door(number, door);
  });
  co_return listener(std::make_shared<listener::state>(std::move(door)));
}

}  // namespace weft
