// SPDX-License-Identifier: Apache-2.0
// The direction that the peer sends in, and what both directions share: a connection that carries
// both, or several links.
#include <fmt/format.h>

#include <utility>

#include "connections/link_negotiation.hpp"
#include "proto/messenger/message_errors.hpp"

namespace weft::connections {

using runtime::engine;
using transports::wireup_message;
using wireup::channel_ptr;

/// Progress lock held.
void link_negotiation::forget(std::size_t index) {
  for (transports::frame_sink* sink : services_.transports.frame_sinks_of(*peer_, index))
    services_.transports[index].transport->forget(*sink);
}

bool link_negotiation::drain() {
  const engine::holder hold(services_.engine);
  if (peer_->now() == proto::peer::state::lost) return true;
  bool all = true;
  for (std::size_t i = 0; i != services_.transports.size(); ++i)
    for (transports::frame_sink* sink : services_.transports.frame_sinks_of(*peer_, i))
      all = services_.transports[i].transport->drain_peer(*sink) && all;
  return all;
}

void link_negotiation::forget_transports() {
  offers_.clear();
  for (std::size_t i = 0; i != services_.transports.size(); ++i) forget(i);
}

/// Progress lock held. Takes back several links that were offered, and that the peer cannot take.
void link_negotiation::take_back() {
  offers_.clear();
  if (state_ == state::offered) state_ = state::wanted;
  for (std::size_t i = 0; i != services_.transports.size(); ++i)
    if (services_.transports.multi_rail_link_of(*peer_, i)) forget(i);
  unused_.reset();
  peer_->writer().note_unsent();
}

/// Progress lock held. \return the frame sink that this link of a transport delivers to: the peer,
/// if it is the only link
transports::frame_sink& link_negotiation::frame_sink_for(std::size_t index, std::size_t number) {
  const std::size_t count = services_.transports.links_per_peer(index);
  if (count == 1) return *peer_;
  // A peer that offers a transport later in the list cannot use the one that this side has offered.
  const bool later = index > index_;
  if (unused_ && !receives_on_several_ && !services_.transports.multi_rail_link_of(*peer_, index) &&
      (later || !unused_->alive())) {
    take_back();
    if (later) index_ = index;
  }
  if (!peer_->connection().several())
    unused_ = std::make_unique<proto::multi_rail_link>(
        *peer_, std::vector<transports::traits>(count, transport(index).traits()));
  auto* const several = services_.transports.multi_rail_link_of(*peer_, index);
  if (!several) throw error(errc::unsupported, "several links of another transport are in use");
  return several->frame_sink(number);
}

/// Progress lock held. The peer goes on to another transport: it could use no answer to its
/// accepted offers, so that no frame has come by the old one. \return empty, or what is wrong with
/// that
std::string link_negotiation::close_inbound(std::size_t instead) {
  if (peer_->receiver().has_received()) return "it has sent by one transport and offers another";
  const std::size_t index = *services_.transports.find(*inbound_.way());
  const transports::traits& old = transport(index).traits();
  const auto* const several = services_.transports.multi_rail_link_of(*peer_, index);
  // Both directions have one connection, or one multi-rail link, where they do not share memory.
  const bool both_ways = !old.shares_memory || several;
  const transports::link* const used = peer_->connection().link();
  if (used && both_ways && used->traits().name == old.name)
    return "it gave up the connection that this side sends by";
  forget(index);
  inbound_.close();
  receives_on_several_ = false;
  if (!unused_ || !several) return {};
  const bool offered = !offers_.empty() && index_ == index;
  if (offered) {
    offers_.clear();
    index_ = instead;
    if (state_ == state::offered) state_ = state::wanted;
  }
  unused_.reset();
  peer_->writer().note_unsent();
  return {};
}

/// Progress lock held. \return why the offer is refused; empty: it is accepted
std::string link_negotiation::accept(const channel_ptr& c, std::size_t index,
                                     const link_message_header& header, wireup_message offer,
                                     wireup_message& answer) {
  const std::size_t count = services_.transports.links_per_peer(index);
  if (header.further + std::size_t{1} != count || header.number > header.further)
    return fmt::format(
        "it offers {} links, this side would have {}; both must say the same (WEFT_TCP_LINKS)",
        header.further + 1, count);
  try {
    std::string refusal = services_.transports[index].transport->accept(
        frame_sink_for(index, header.number), counterpart_for(c, index, header.number),
        std::move(offer), answer);
    if (!refusal.empty()) return refusal;
    peer_->connection().reached_by(services_.transports[index].transport->traits().name);
    services_.engine.log().info("link from {}, over {}", proto::name_of(peer_->id()),
                                services_.transports[index].name);
  } catch (const error& e) {
    return e.what();
  }
  inbound_.accepted();
  receives_on_several_ = receives_on_several_ || count > 1;
  return {};
}

std::string link_negotiation::on_offer(const channel_ptr& c, wireup_message offer) {
  using verdict = inbound_transport::verdict;
  link_message_header header{};
  if (!unpack(offer, header)) return "its offer makes no sense";
  const verdict what = inbound_.offered(header.place, header.number);
  if (what == verdict::nonsense) return "it offers links that it has offered before, or too many";
  std::string refusal;
  wireup_message reply;
  if (const auto index = services_.transports.find(header.place)) {
    const engine::holder hold(services_.engine);
    if (what == verdict::instead)
      if (std::string wrong = close_inbound(*index); !wrong.empty()) return wrong;
    refusal = accept(c, *index, header, std::move(offer), reply);
    if (refusal.empty()) header.credit = peer_->writer().grant_first_credit();
  } else {
    refusal = services_.transports.refusal_of(header.place);
  }
  for (const char letter : refusal) reply.bytes.push_back(static_cast<std::byte>(letter));
  const auto kind = refusal.empty() ? link_message_kind::answer : link_message_kind::refusal;
  c->send(pack(kind, header, std::move(reply)));
  return {};
}

std::string link_negotiation::on_note(wireup_message note) {
  link_message_header header{};
  const bool whole = unpack(note, header);
  const auto index = services_.transports.find(header.place);
  if (!whole || !index) return "it sent a wire-up message that no correct peer sends";
  const engine::holder hold(services_.engine);
  const auto sinks = services_.transports.frame_sinks_of(*peer_, *index);
  // Not of a link that has ended, or does not exist yet.
  if (header.number < sinks.size())
    services_.transports[*index].transport->note(*sinks[header.number], std::move(note));
  return {};
}

}  // namespace weft::connections
