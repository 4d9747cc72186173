// SPDX-License-Identifier: Apache-2.0
#include <weft/membership.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "api/core/core.hpp"
#include "api/options/options.hpp"
#include "wireup/sockets/address.hpp"

namespace weft {

using detail::callback_request;
using detail::members;

bool membership_view::contains(peer_id rank) const noexcept {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

peer_id membership::rank() const noexcept { return detail::core_of(*context_).members().rank(); }

bool membership::returned() const noexcept {
  return detail::core_of(*context_).members().returned();
}

std::string membership::open(std::string address) {
  return detail::core_of(*context_).members().open(address);
}

membership_view membership::now() const { return detail::core_of(*context_).members().now(); }

task<membership_view> membership::changed(std::uint64_t since) const {
  detail::core& c = detail::core_of(*context_);
  callback_request<membership_view> change{
      &c.engine(), [&c, since](const members::view_box& box) { c.members().wait(since, box); }};
  co_return co_await change;
}

task<void> membership::leave() {
  members& all = detail::core_of(*context_).members();
  all.leave();
  // Told by rank 0 like everybody else.
  membership known = *this;
  for (membership_view v = all.now(); v.contains(all.rank());) v = co_await known.changed(v.epoch);
}

context join(const std::string& address, options chosen) {
  static_cast<void>(wireup::parse_address(address));  // says what is wrong with it
  chosen = detail::checked(std::move(chosen));
  auto line = std::make_shared<wireup::coordinator_connection>(
      detail::tcp_settings_of(chosen, {}), wireup::context_id{}, no_peer,
      std::make_shared<const runtime::log>(chosen.log));
  const std::chrono::seconds timeout = chosen.peer_timeout;
  std::promise<wireup::failure> answer;
  std::future<wireup::failure> told = answer.get_future();
  line->join(address, [&answer](const wireup::failure& why) { answer.set_value(why); });
  if (told.wait_for(timeout) != std::future_status::ready) {
    line->end();  // and nobody sets the answer any more
    throw error(errc::unreachable,
                fmt::format("rank 0 at {} has not answered for {} s; it may be stopped or very "
                            "busy (WEFT_PEER_TIMEOUT says how long that is waited for)",
                            address, timeout.count()));
  }
  if (const wireup::failure why = told.get(); why.kind != errc::ok) throw error(why.kind, why.text);
  return detail::internals::context_of(
      std::make_unique<detail::core>(std::move(chosen), std::move(line)));
}

}  // namespace weft
