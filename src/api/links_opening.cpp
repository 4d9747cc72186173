// SPDX-License-Identifier: Apache-2.0
// How links come about: one transport after another is offered over the control plane's channel.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/links.hpp"
#include "proto/select.hpp"
#include "runtime/printable.hpp"
#include "wireup/locator.hpp"

namespace weft::detail {

using proto::peer;
using runtime::engine;
using transports::parcel;
using wireup::channel_ptr;

namespace {

/// In front of a transport's own bytes in each parcel.
struct parcel_head {
  std::uint16_t place = 0;   // of the transport, in the list that both sides must share
  std::uint8_t number = 0;   // which of its links to that peer
  std::uint8_t further = 0;  // how many links there are besides one
  std::uint32_t credit = 0;  // in an answer: units that the peer may send
};
static_assert(sizeof(parcel_head) == 8);
static_assert(proto::most_links <= 256);

parcel pack(std::uint8_t kind, parcel_head head, parcel body) {
  parcel p;
  p.kind = kind;
  p.bytes.resize(sizeof head + body.bytes.size());
  std::memcpy(p.bytes.data(), &head, sizeof head);
  if (!body.bytes.empty())
    std::memcpy(p.bytes.data() + sizeof head, body.bytes.data(), body.bytes.size());
  p.fds = std::move(body.fds);
  return p;
}

bool unpack(parcel& p, parcel_head& head) {
  if (p.bytes.size() < sizeof head) return false;
  std::memcpy(&head, p.bytes.data(), sizeof head);
  p.bytes.erase(p.bytes.begin(), p.bytes.begin() + sizeof head);
  return true;
}

/// How many links to one peer a transport is used for at once.
std::size_t links_of(const transports::transport& t) {
  return std::clamp<std::size_t>(t.traits().links, 1, proto::most_links);
}

parcel_head head_of(std::uint16_t place, std::size_t number, const transports::transport& t) {
  return {place, static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(links_of(t) - 1)};
}

/// Of a refusal's reason this much is shown.
constexpr std::size_t max_reason = 1024;

}  // namespace

transports::counterpart links::counterpart_of(const channel_ptr& c, std::size_t index,
                                              std::size_t number) {
  const parcel_head head = head_of(ways_[index].place, number, *ways_[index].transport);
  return {c->peer().pid,
          [c, head](parcel note) {
            c->send(pack(static_cast<std::uint8_t>(parcel_kind::note), head, std::move(note)));
          },
          static_cast<std::uint32_t>(number), c->hosts()};
}

/// Nothing: this side does not have the transport with that place.
std::optional<std::size_t> links::way_at(std::uint16_t place) const noexcept {
  for (std::size_t i = 0; i != ways_.size(); ++i)
    if (ways_[i].place == place) return i;
  return {};
}

/// Baton held. Null: the peer has none, or one of another transport's links.
proto::bundle* links::bundle_for(const peer& p, std::size_t index) const noexcept {
  const transports::traits& t = ways_[index].transport->traits();
  return p.several() && p.several()->traits().name == t.name ? p.several() : nullptr;
}

/// Baton held. Several links that were offered to the peer, and that it does not take.
void links::take_back(party& who) noexcept {
  who.opening.clear();
  for (std::size_t i = 0; i != ways_.size(); ++i)
    if (bundle_for(*who.peer, i))
      for (transports::inlet* inlet : inlets_for(*who.peer, i)) ways_[i].transport->forget(*inlet);
  who.unused_bundle.reset();
  who.peer->note_unsent();
}

/// Baton held. Whom that link of a transport delivers to: the peer, if it is the only one.
transports::inlet& links::inlet_for(party& who, std::size_t index, std::size_t number) {
  const transports::transport& t = *ways_[index].transport;
  if (links_of(t) == 1) return *who.peer;
  // A peer that offers what comes later in the list cannot have what this side has offered.
  const bool later = index > who.next_way;
  if (who.unused_bundle && !who.bundle_hears && !bundle_for(*who.peer, index) &&
      (later || !who.unused_bundle->alive())) {
    take_back(who);
    if (later) {
      who.next_way = index;
      try_soon(who);
    }
  }
  if (!who.peer->several())
    who.unused_bundle = std::make_unique<proto::bundle>(
        *who.peer, std::vector<transports::traits>(links_of(t), t.traits()));
  proto::bundle* const several = bundle_for(*who.peer, index);
  if (!several) throw error(errc::unsupported, "several links of another transport are in use");
  return several->inlet(number);
}

/// Baton held. All of those, as far as there are any.
std::vector<transports::inlet*> links::inlets_for(peer& p, std::size_t index) const {
  if (links_of(*ways_[index].transport) == 1) return {&p};
  std::vector<transports::inlet*> all;
  if (proto::bundle* const several = bundle_for(p, index))
    for (std::size_t i = 0; i != several->size(); ++i) all.push_back(&several->inlet(i));
  return all;
}

/// Null: there is none that could carry that transport's offer.
channel_ptr links::channel_for(const party& who, const transports::transport& t) const {
  const auto fits = [&](const channel_ptr& c) {
    return c->carries_descriptors() || !t.traits().shares_memory;
  };
  const auto found = std::find_if(who.channels.begin(), who.channels.end(), fits);
  return found == who.channels.end() ? nullptr : *found;
}

/// It came, or was met, over TCP. Whether memory can be shared is found out by trying: not host
/// names tell, nor addresses, but whether its Unix socket answers here.
void links::try_unix(party& who) {
  who.tried_unix = true;
  const channel_ptr over_tcp = who.channels.front();
  const auto where = wireup::parse_locator(over_tcp->peer().locator);
  manager_->connect(where ? where->socket_name : std::string(),
                    [this, over_tcp](const channel_ptr& c, const wireup::failure& why) {
                      const auto it = party_with(over_tcp);
                      if (it == parties_.end() || it->second.gone) {
                        if (c) c->close();
                        return;
                      }
                      if (c && c->peer().id == it->first)
                        add(it->second, c);
                      else
                        it->second.no_unix = c ? "somebody else's answers" : why.text;
                      try_next_way(it->second);
                    });
}

/// The baton is not held. \param trouble why it does not carry
void links::tried(const peer& p, const way& w, std::string trouble) {
  const engine::holder hold(engine_);
  attempts_[&p].push_back({w.name, std::move(trouble)});
}

/// The baton is not held. Of all transports, for people.
std::string links::refusals(const peer& p) {
  const engine::holder hold(engine_);
  std::string all;
  const auto add = [&all](const std::string& transport, const std::string& trouble) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", transport, trouble);
  };
  for (const attempt& one : attempts(p)) add(one.transport, one.trouble);
  for (const auto& [transport, trouble] : left_out_) add(transport, trouble);
  return all;
}

std::vector<links::attempt> links::attempts(const peer& p) const {
  const auto found = attempts_.find(&p);
  return found == attempts_.end() ? std::vector<attempt>{} : found->second;
}

/// As try_next_way, when what is going on now has ended and the baton is not held.
void links::try_soon(const party& who) {
  manager_->post([this, id = who.peer] {
    for (auto& [key, other] : parties_)
      if (other.peer == id) try_next_way(other);
  });
}

void links::try_next_way(party& who) {
  if (who.gone || !who.opening.empty() || !who.wants_link || who.channels.empty()) return;
  for (; who.next_way != ways_.size(); ++who.next_way) {
    transports::transport& t = *ways_[who.next_way].transport;
    if (const std::string no = t.reach(false); !no.empty()) {
      tried(*who.peer, ways_[who.next_way], no);
      continue;
    }
    const channel_ptr channel = channel_for(who, t);
    if (!channel && !who.tried_unix) return try_unix(who);
    if (!channel) {
      tried(*who.peer, ways_[who.next_way],
            fmt::format("no memory can be shared, because no Unix socket reaches it (another host, "
                        "or a container with a network of its own){}{}",
                        who.no_unix.empty() ? "" : ": ", who.no_unix));
      continue;
    }
    offer_links(who, channel);
    if (!who.opening.empty()) return;
  }
  // It has been closed by its peer, which waits for an answer: no connection is one, too.
  if (is_over(*who.peer, false)) return end(who, true);
  fail(who.peer, errc::unreachable, "no transport reaches it: " + refusals(*who.peer));
}

/// Offers every link of the transport whose turn it is. What is being opened stays empty if it
/// cannot open a single one.
void links::offer_links(party& who, const channel_ptr& channel) {
  const std::size_t index = who.next_way;
  transports::transport& t = *ways_[index].transport;
  std::vector<std::unique_ptr<transports::link>> opening(links_of(t));
  bool any = false;
  for (std::size_t i = 0; i != opening.size(); ++i) {
    try {
      parcel offer;
      {
        const engine::holder hold(engine_);
        opening[i] = t.open(inlet_for(who, index, i), counterpart_of(channel, index, i), offer);
      }
      channel->send(pack(static_cast<std::uint8_t>(parcel_kind::offer),
                         head_of(ways_[index].place, i, t), std::move(offer)));
      any = true;
    } catch (const std::exception& e) {
      tried(*who.peer, ways_[index], e.what());
      const engine::holder hold(engine_);
      opening[i].reset();
      if (proto::bundle* const several = bundle_for(*who.peer, index)) several->refused(i);
    }
  }
  if (any) who.opening = std::move(opening);
}

/// Baton held. A link was answered; the first one opens the peer.
void links::use(party& who, std::unique_ptr<transports::link> made, std::size_t number,
                std::uint32_t credit) {
  proto::bundle* const several = bundle_for(*who.peer, who.next_way);
  if (!several) return who.peer->opened(std::move(made), credit);
  several->join(number, std::move(made));
  // A peer that is gone would drop it, and it is the inlet of what still comes.
  if (who.unused_bundle && who.peer->takes_link())
    who.peer->opened(std::move(who.unused_bundle), credit);
}

void links::on_parcel(const channel_ptr& c, parcel p) {
  const std::shared_ptr<peer> from = peer_behind(c);
  if (!from) return;
  party& who = party_with(c)->second;
  if (who.gone) return;
  switch (static_cast<parcel_kind>(p.kind)) {
    case parcel_kind::offer:
      return on_offer(who, c, std::move(p));
    case parcel_kind::answer:
      return on_answer(who, std::move(p), false);
    case parcel_kind::refusal:
      return on_answer(who, std::move(p), true);
    case parcel_kind::note: {
      parcel_head head{};
      const bool whole = unpack(p, head);
      const auto index = way_at(head.place);
      if (!whole || !index) break;
      const engine::holder hold(engine_);
      const std::vector<transports::inlet*> inlets = inlets_for(*from, *index);
      if (head.number >= inlets.size()) return;  // of a link that is not, or not yet
      return ways_[*index].transport->note(*inlets[head.number], std::move(p));
    }
  }
  fail(from, errc::protocol_error, "it sent a parcel that no correct peer sends");
  c->close();
}

void links::on_offer(party& who, const channel_ptr& c, parcel p) {
  parcel_head head{};
  std::string refusal = "the offer makes no sense";
  parcel answer;
  const bool whole = unpack(p, head);
  const auto index = way_at(head.place);
  if (whole && !index) refusal = "the other side does not have it, or cannot use it";
  if (whole && index) {
    transports::transport& t = *ways_[*index].transport;
    const engine::holder hold(engine_);
    if (who.peer->now() == peer::state::lost)
      refusal = "this side has nothing to do with it any more";
    else if (head.further + std::size_t{1} != links_of(t) || head.number > head.further)
      refusal = fmt::format(
          "it offers {} links, this side would have {}; both must say the same (WEFT_TCP_LINKS)",
          head.further + 1, links_of(t));
    else
      try {
        refusal = t.accept(inlet_for(who, *index, head.number),
                           counterpart_of(c, *index, head.number), std::move(p), answer);
      } catch (const error& e) {
        refusal = e.what();
      }
    if (refusal.empty()) {
      who.bundle_hears = who.bundle_hears || links_of(t) > 1;
      head.credit = who.peer->grant_first_credit();
      return c->send(pack(static_cast<std::uint8_t>(parcel_kind::answer), head, std::move(answer)));
    }
  }
  parcel why;
  for (const char letter : refusal) why.bytes.push_back(static_cast<std::byte>(letter));
  c->send(pack(static_cast<std::uint8_t>(parcel_kind::refusal), head, std::move(why)));
}

void links::on_answer(party& who, parcel p, bool refused) {
  parcel_head head{};
  if (!unpack(p, head) || way_at(head.place) != who.next_way || head.number >= who.opening.size() ||
      !who.opening[head.number])
    return;
  const engine::holder hold(engine_);
  std::unique_ptr<transports::link> link = std::move(who.opening[head.number]);
  const bool last = std::none_of(who.opening.begin(), who.opening.end(),
                                 [](const auto& l) { return l != nullptr; });
  if (last) who.opening.clear();
  const std::string trouble =
      refused ? runtime::printable(p.bytes, max_reason) : link->opened(std::move(p));
  attempts_[who.peer.get()].push_back({ways_[who.next_way].name, trouble});
  if (trouble.empty()) return use(who, std::move(link), head.number, head.credit);
  link.reset();
  if (proto::bundle* const several = bundle_for(*who.peer, who.next_way)) {
    several->refused(head.number);
    // Another link may have been opened, or be answered yet.
    if (!last || !who.unused_bundle) return;
  }
  ++who.next_way;
  try_soon(who);
}

}  // namespace weft::detail
