// SPDX-License-Identifier: Apache-2.0
#include <weft/membership.hpp>

#include <algorithm>
#include <future>

#include "api/core.hpp"
#include "wireup/address.hpp"

namespace weft {

using detail::callback_request;
using detail::members;

bool membership_view::contains(peer_id rank) const noexcept {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

peer_id membership::rank() const noexcept { return context_->core().members().rank(); }

std::string membership::open(std::string address) {
  return context_->core().members().open(address);
}

membership_view membership::now() const { return context_->core().members().now(); }

task<membership_view> membership::changed(std::uint64_t since) const {
  detail::core& c = context_->core();
  callback_request<membership_view> change{
      &c.engine(), [&c, since](const members::view_box& box) { c.members().wait(since, box); }};
  co_return co_await change;
}

task<void> membership::leave() {
  members& all = context_->core().members();
  all.leave();
  // Told by rank 0 like everybody else.
  membership known = *this;
  for (membership_view v = all.now(); v.contains(all.rank());) v = co_await known.changed(v.epoch);
}

context join(const std::string& address, options chosen) {
  static_cast<void>(wireup::parse_address(address));  // says what is wrong with it
  auto line = std::make_shared<wireup::member_line>(detail::tcp_settings_of(chosen, {}));
  std::promise<std::string> answer;
  line->join(address, [&answer](std::string failure) { answer.set_value(std::move(failure)); });
  if (const std::string failure = answer.get_future().get(); !failure.empty())
    throw error(failure.starts_with("refused: ") ? errc::refused : errc::unreachable, failure);
  auto made = std::make_unique<detail::core>(std::move(chosen), std::move(line));
  made->members().await_entry();
  return context(std::move(made));
}

}  // namespace weft
