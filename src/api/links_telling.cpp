// SPDX-License-Identifier: Apache-2.0
// Whoever gives a peer up says so, and why: what cannot go on here ends there, too.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "api/links.hpp"
#include "runtime/printable.hpp"
#include "wireup/retry_on_bad_alloc.hpp"

namespace weft::detail {

using proto::peer;
using runtime::engine;
using transports::wireup_message;

namespace {

constexpr std::size_t most_shown = 512;

/// What happened there, for people here. Its number is the peer's word.
std::string_view told_word(std::uint32_t why) noexcept {
  switch (static_cast<errc>(why)) {
    case errc::out_of_memory:
      return "out of memory";
    case errc::unreachable:
      return "unreachable";
    case errc::protocol_error:
      return "protocol error";
    case errc::peer_lost:
      return "lost";
    default:
      return "for another reason";
  }
}

wireup_message pack_reason(std::uint8_t kind, errc why, std::string_view detail) {
  detail = detail.substr(0, most_shown);
  const auto number = static_cast<std::uint32_t>(why);
  wireup_message p;
  p.kind = kind;
  p.bytes.resize(sizeof number + detail.size());
  std::memcpy(p.bytes.data(), &number, sizeof number);
  if (!detail.empty()) std::memcpy(p.bytes.data() + sizeof number, detail.data(), detail.size());
  return p;
}

}  // namespace

void links::given_up(peer& p) {
  manager_proxy_->post(
      [this, p = p.shared_from_this()] { wireup::retry_on_bad_alloc([&] { tell(p); }); });
}

/// The progress lock is not held. Nothing: it is not lost.
std::optional<wireup::failure> links::reason_of(const peer& p) const {
  const engine::holder hold(engine_);
  if (p.now() != peer::state::lost) return {};
  return wireup::failure{p.why(), p.detail()};
}

/// \return whether it is lost; then it has been told so, and is let go
bool links::tell(const std::shared_ptr<peer>& lost) {
  const auto reason = reason_of(*lost);
  if (!reason) return false;
  const auto known =
      std::find_if(remote_processes_.begin(), remote_processes_.end(),
                   [&](const auto& one) { return one.second.peer == lost && !one.second.gone; });
  if (known != remote_processes_.end()) give_up(known->second, reason->kind, reason->text);
  return true;
}

/// The peer has gone while this channel to it came about.
void links::send_off(const wireup::channel_ptr& c, const peer& p) {
  if (const auto reason = reason_of(p))
    c->send(pack_reason(static_cast<std::uint8_t>(wireup_message_kind::gone), reason->kind,
                        reason->text));
  c->close();
}

/// By every channel: the good-bye by one must not come before the reason by another.
void links::give_up(remote_process& who, errc why, std::string_view detail) {
  for (const wireup::channel_ptr& c : who.channels)
    c->send(pack_reason(static_cast<std::uint8_t>(wireup_message_kind::gone), why, detail));
  end(who, why, detail);
}

/// What it sent before is delivered before its peer ends.
void links::on_given_up(remote_process& who, const wireup_message& told) {
  std::uint32_t why = 0;
  if (told.bytes.size() < sizeof why) return end(who, errc::peer_lost, "it gave this side up");
  std::memcpy(&why, told.bytes.data(), sizeof why);
  const std::string text =
      runtime::printable(std::span(told.bytes).subspan(sizeof why), most_shown);
  end(who, errc::peer_lost,
      fmt::format("the other side gave the connection up: {}{}{}{}", told_word(why),
                  text.empty() ? "" : " (\"", text, text.empty() ? "" : "\")"));
}

}  // namespace weft::detail
