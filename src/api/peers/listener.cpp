// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/as_result.hpp>
#include <weft/coro/scope.hpp>
#include <weft/listener.hpp>

#include "api/core/listener_state.hpp"

namespace weft {

using detail::listener_state;
using request_ptr = listener_state::request_ptr;

struct listener::state {
  explicit state(std::shared_ptr<listener_state> d) noexcept : listening(std::move(d)) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { listening->close(); }

  std::shared_ptr<listener_state> listening;
};

struct listener::connection_request::state {
  detail::core* owner;
  request_ptr request;
};

listener::connection_request::connection_request(std::unique_ptr<state> s) noexcept
    : state_(std::move(s)) {}
listener::connection_request::connection_request(connection_request&&) noexcept = default;
listener::connection_request& listener::connection_request::operator=(
    connection_request&&) noexcept = default;
listener::connection_request::~connection_request() {
  if (state_ && state_->owner->engine().is_inherited()) static_cast<void>(state_.release());
}

const std::string& listener::connection_request::private_data() const noexcept {
  return state_->request->private_data();
}

const peer_certificate* listener::connection_request::certificate() const noexcept {
  return state_->request->certificate();
}

task<endpoint> listener::connection_request::accept() {
  detail::core& owner = *state_->owner;
  const request_ptr request = state_->request;
  detail::callback_request<endpoint> accepted{
      &owner.engine(), [&owner, request](const std::shared_ptr<detail::oneshot<endpoint>>& box) {
        owner.manager().post([&owner, request, box] {
          const wireup::channel_ptr c = request->accept();
          if (!c && owner.ended()) return box->fail(errc::closed, "the context has ended");
          if (!c) return box->fail(errc::peer_lost, "the requester left before it was accepted");
          auto peer = owner.connections().peer_met(c, {});
          if (!peer)
            return box->fail(errc::protocol_error,
                             "the requester is not the process that it says it is");
          box->deliver(detail::internals::endpoint_of(std::move(peer)));
        });
      }};
  co_return co_await accepted;
}

void listener::connection_request::reject(std::string reason) { state_->request->reject(reason); }

task<listener::connection_request> listener::next() {
  const std::shared_ptr<state> keep = state_;
  const std::shared_ptr<listener_state> listening = keep->listening;
  detail::callback_request<request_ptr> came{
      &listening->owner->engine(),
      [listening](const std::shared_ptr<detail::oneshot<request_ptr>>& box) {
        listening->wait(box);
      }};
  request_ptr request = co_await came;
  co_return connection_request(std::make_unique<connection_request::state>(
      connection_request::state{listening->owner, std::move(request)}));
}

task<endpoint> listener::accept() {
  for (;;) {
    connection_request request = co_await next();
    result<endpoint> in = co_await as_result(request.accept());
    if (in) co_return std::move(in).value();
    if (in.code() != errc::peer_lost) throw in.failure();
  }
}

task<void> listener::accept_in(scope& all, const std::function<task<void>(endpoint)>& each) {
  for (;;) {
    result<endpoint> peer = co_await as_result(accept());
    if (peer.code() == errc::closed) co_return;
    if (peer.code() == errc::stopped) throw error(peer.failure());
    if (peer && each) all.start(each(std::move(peer).value()));
  }
}

task<void> listener::accept_all(std::function<task<void>(endpoint)> each) {
  scope all(co_await current_environment());
  all.start(accept_in(all, each));
  co_await all.join();
}

std::string listener::address() const { return state_->listening->address; }

void listener::close() { state_->listening->close(); }

task<listener> context::listen(std::string address, tls_files by) {
  core_->refuse_child();
  auto listening = std::make_shared<listener_state>();
  listening->owner = core_.get();
  core_->manager().open_listener(
      address, listening->address,
      [&](std::uint64_t number) {
        listening->number = number;
        core_->plane().add_listener(number, listening);
      },
      core_->lane(), core_->plane().certificates_for(address, by));
  co_return listener(std::make_shared<listener::state>(std::move(listening)));
}

}  // namespace weft
