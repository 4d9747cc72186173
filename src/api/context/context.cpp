// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include <weft/context.hpp>
#include <weft/group.hpp>

#include "api/core/callback_request.hpp"
#include "api/core/core.hpp"
#include "proto/messenger/message_errors.hpp"

namespace weft {

namespace {

using detail::callback_request;
using detail::oneshot;
using endpoint_box = std::shared_ptr<oneshot<endpoint>>;

/// Turns the connection manager's answer into an endpoint.
wireup::channel_ready into(detail::core& c, endpoint_box box, std::string address) {
  return [&c, box = std::move(box), address = std::move(address)](
             const wireup::channel_ptr& channel, const wireup::failure& why) {
    if (!channel) return box->fail(c.ended() ? errc::closed : why.kind, why.text);
    auto peer = c.connections().peer_met(channel, address);
    if (!peer) return box->fail(errc::protocol_error, "it is not the process that it says it is");
    box->deliver(detail::internals::endpoint_of(std::move(peer)));
  };
}

/// A child after fork does not destroy the context: its end waits for threads, which only the
/// parent has. Nor does a process that exits from inside the context, such as from a coroutine: the
/// end would wait for the frames of this very stack. Peers then find the process gone. A further
/// lane ends only as a part of its context, for which that was decided.
void leave_if_in_use(std::unique_ptr<detail::core>& c) noexcept {
  if (!c || c->lane() != 0) return;
  const bool inherited = c->engine().is_inherited();
  if (!inherited && !c->is_in_use()) return;
  if (!inherited) runtime::exit_gate::close_all();
  static_cast<void>(c.release());
}

}  // namespace

context::context(options chosen) : core_(std::make_unique<detail::core>(std::move(chosen))) {}
context::context(std::unique_ptr<detail::core> core) noexcept : core_(std::move(core)) {}
context detail::internals::context_of(std::unique_ptr<core> of) noexcept {
  return context(std::move(of));
}
context::~context() { leave_if_in_use(core_); }
context::context(context&&) noexcept = default;

context& context::operator=(context&& other) noexcept {
  leave_if_in_use(core_);
  core_ = std::move(other.core_);
  return *this;
}

bool context::is_inherited() const noexcept { return core_->engine().is_inherited(); }

context& context::lane(unsigned number) {
  return number == core_->lane() ? *this : core_->further_lane(number);
}

unsigned context::lanes() const noexcept { return core_->chosen().lanes; }

unsigned context::lane_number() const noexcept { return core_->lane(); }

group context::world() { return group(*this); }

task<endpoint> context::connect(std::string address, std::string private_data, tls_files by) {
  detail::core& c = *core_;
  c.refuse_child();
  const auto certificates = c.plane().certificates_for(address, by);
  std::shared_ptr<const net::tls::settings> shown;
  if (certificates) shown = certificates->now();
  callback_request<endpoint> connected{&c.engine(), [&](const endpoint_box& box) {
                                         c.manager().request_connection(address, private_data,
                                                                        into(c, box, address),
                                                                        c.lane(), shown);
                                       }};
  co_return co_await connected;
}

task<endpoint> context::meet(std::string own, std::string other, std::string discriminator) {
  detail::core& c = *core_;
  c.refuse_child();
  auto meeting = std::make_shared<std::atomic<std::uint64_t>>(0);
  callback_request<endpoint> met{
      &c.engine(),
      [&](const endpoint_box& box) {
        meeting->store(c.manager().meet(own, other, discriminator, into(c, box, other), c.lane()));
      },
      [&c, meeting] { c.manager().cancel_meet(meeting->load()); }};
  co_return co_await met;
}

recv_request context::recv(mutable_buffer into, tag_mask t) { return {where(t), nullptr, t, into}; }

recv_request context::recv(std::span<const mutable_buffer> list, tag_mask t) {
  return {where(t), nullptr, t, list};
}

probe_request context::probe(tag_mask t) { return {where(t), nullptr, t}; }

/// \return null for a tag that weft reserves: the operation ends with errc::invalid_argument
proto::messenger* context::where(tag_mask t) const noexcept {
  return t.value < first_reserved_tag ? &core_->messenger() : nullptr;
}

std::optional<received> context::try_probe(tag_mask t) {
  core_->engine().poll_once();
  return core_->messenger().receives().try_probe(nullptr, proto::checked(t, false));
}

std::optional<claimed_message> context::try_claim(tag_mask t) {
  core_->engine().poll_once();
  return core_->messenger().receives().try_claim(nullptr, proto::checked(t, false));
}

endpoint context::peer(peer_id id) {
  const bool can_be =
      id < proto::first_non_rank ? proto::names_rank(id) : core_->messenger().peers().has_given(id);
  if (!can_be)
    throw error(
        errc::invalid_argument,
        fmt::format("there is no peer with the number {}; below 2^25 numbers are ranks, and "
                    "others come from endpoint::lane, connect, accept, meet and what was received",
                    id));
  return detail::internals::endpoint_of(core_->messenger().peers().at(id));
}

metrics context::snapshot() const { return core_->snapshot(); }

std::string context::dump(dump_format as) const {
  return core_->plane().lanes().front()->dump_of_all(as);
}

std::vector<lane_metrics> context::snapshot_lanes() const { return core_->snapshot_lanes(); }

void context::invalidate_registrations(std::span<const std::byte> memory) noexcept {
  core_->forget(memory);
}

std::string context::describe() const { return core_->describe(); }

}  // namespace weft
