// SPDX-License-Identifier: Apache-2.0
// How links come about: one transport after another is offered over the control plane's channel.
#include <fcntl.h>
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
using transports::wireup_message;
using wireup::channel_ptr;

namespace {

/// In front of a transport's own bytes in each wire-up message.
struct wireup_message_head {
  std::uint16_t place = 0;   // of the transport, in the list that both sides must share
  std::uint8_t number = 0;   // which of its links to that peer
  std::uint8_t further = 0;  // how many links there are besides one
  std::uint32_t credit = 0;  // in an answer: units that the peer may send
};
static_assert(sizeof(wireup_message_head) == 8);
static_assert(proto::most_links <= 256);

wireup_message pack(std::uint8_t kind, wireup_message_head head, wireup_message body) {
  wireup_message p;
  p.kind = kind;
  p.bytes.resize(sizeof head + body.bytes.size());
  std::memcpy(p.bytes.data(), &head, sizeof head);
  if (!body.bytes.empty())
    std::memcpy(p.bytes.data() + sizeof head, body.bytes.data(), body.bytes.size());
  p.fds = std::move(body.fds);
  return p;
}

bool unpack(wireup_message& p, wireup_message_head& head) {
  if (p.bytes.size() < sizeof head) return false;
  std::memcpy(&head, p.bytes.data(), sizeof head);
  p.bytes.erase(p.bytes.begin(), p.bytes.begin() + sizeof head);
  return true;
}

/// Memory is all that transports hand each other. Closing anything else may block, so that there
/// must not be much of it. This cannot block, whatever it is.
bool is_no_memory(const runtime::unique_fd& fd) noexcept {
  return ::fcntl(fd.get(), F_GET_SEALS) < 0;
}

/// How many links to one peer a transport is used for at once.
std::size_t links_of(const transports::transport& t) {
  return std::clamp<std::size_t>(t.traits().links, 1, proto::most_links);
}

wireup_message_head head_of(std::uint16_t place, std::size_t number,
                            const transports::transport& t) {
  return {place, static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(links_of(t) - 1)};
}

/// Of a refusal's reason this much is shown.
constexpr std::size_t max_reason = 1024;

}  // namespace

transports::counterpart links::counterpart_of(const channel_ptr& c, std::size_t index,
                                              std::size_t number) {
  const wireup_message_head head = head_of(ways_[index].place, number, *ways_[index].transport);
  return {
      c->peer().pid,
      [c, head](wireup_message note) {
        c->send(pack(static_cast<std::uint8_t>(wireup_message_kind::note), head, std::move(note)));
      },
      static_cast<std::uint32_t>(number), c->hosts(),
      [c](std::span<const std::byte> bytes) { return c->sign(bytes); }};
}

/// Nothing: this side does not have the transport with that place.
std::optional<std::size_t> links::way_at(std::uint16_t place) const noexcept {
  for (std::size_t i = 0; i != ways_.size(); ++i)
    if (ways_[i].place == place) return i;
  return {};
}

/// Progress lock held. Null: the peer has none, or one of another transport's links.
proto::multi_rail_link* links::multi_rail_link_for(const peer& p,
                                                   std::size_t index) const noexcept {
  const transports::traits& t = ways_[index].transport->traits();
  return p.connection().several() && p.connection().several()->traits().name == t.name
             ? p.connection().several()
             : nullptr;
}

/// Progress lock held. Several links that were offered to the peer, and that it does not take.
void links::take_back(remote_process& who) noexcept {
  who.opening.clear();
  for (std::size_t i = 0; i != ways_.size(); ++i)
    if (multi_rail_link_for(*who.peer, i))
      for (transports::frame_sink* frame_sink : frame_sinks_for(*who.peer, i))
        ways_[i].transport->forget(*frame_sink);
  who.unused_multi_rail_link.reset();
  who.peer->writer().note_unsent();
}

/// Progress lock held. Whom that link of a transport delivers to: the peer, if it is the only one.
transports::frame_sink& links::frame_sink_for(remote_process& who, std::size_t index,
                                              std::size_t number) {
  const transports::transport& t = *ways_[index].transport;
  if (links_of(t) == 1) return *who.peer;
  // A peer that offers what comes later in the list cannot have what this side has offered.
  const bool later = index > who.next_way;
  if (who.unused_multi_rail_link && !who.multi_rail_receives &&
      !multi_rail_link_for(*who.peer, index) && (later || !who.unused_multi_rail_link->alive())) {
    take_back(who);
    if (later) {
      who.next_way = index;
      try_soon(who);
    }
  }
  if (!who.peer->connection().several())
    who.unused_multi_rail_link = std::make_unique<proto::multi_rail_link>(
        *who.peer, std::vector<transports::traits>(links_of(t), t.traits()));
  proto::multi_rail_link* const several = multi_rail_link_for(*who.peer, index);
  if (!several) throw error(errc::unsupported, "several links of another transport are in use");
  return several->frame_sink(number);
}

/// Progress lock held. All of those, as far as there are any.
std::vector<transports::frame_sink*> links::frame_sinks_for(peer& p, std::size_t index) const {
  if (links_of(*ways_[index].transport) == 1) return {&p};
  std::vector<transports::frame_sink*> all;
  if (proto::multi_rail_link* const several = multi_rail_link_for(p, index))
    for (std::size_t i = 0; i != several->size(); ++i) all.push_back(&several->frame_sink(i));
  return all;
}

/// Null: there is none that could carry that transport's offer.
channel_ptr links::channel_for(const remote_process& who, const transports::transport& t) const {
  const auto fits = [&](const channel_ptr& c) {
    return c->carries_descriptors() || !t.traits().shares_memory;
  };
  const auto found = std::find_if(who.channels.begin(), who.channels.end(), fits);
  return found == who.channels.end() ? nullptr : *found;
}

/// It came, or was met, over TCP. Whether memory can be shared is found out by trying: not host
/// names tell, nor addresses, but whether its Unix socket answers here.
void links::try_unix(remote_process& who) {
  who.tried_unix = true;
  const channel_ptr over_tcp = who.channels.front();
  const auto where = wireup::parse_locator(over_tcp->peer().locator);
  manager_->connect(where ? where->socket_name : std::string(),
                    [this, over_tcp](const channel_ptr& c, const wireup::failure& why) {
                      const auto it = remote_process_with(over_tcp);
                      if (it == remote_processes_.end() || it->second.gone) {
                        if (c) c->close();
                        return;
                      }
                      if (c && c->peer().id == it->first) {
                        add(it->second, c);
                      } else {
                        it->second.no_unix = c ? "somebody else's answers" : why.text;
                        if (c) leave(c);
                      }
                      try_next_way(it->second);
                    });
}

/// The progress lock is not held. \param trouble why it does not carry
void links::tried(const peer& p, const way& w, std::string trouble) {
  const engine::holder hold(engine_);
  attempts_[&p].push_back({w.name, std::move(trouble)});
}

/// The progress lock is not held. Of all transports, for people.
std::string links::refusals(const peer& p) {
  const engine::holder hold(engine_);
  std::string all;
  const auto add = [&all](const std::string& transport, const std::string& trouble) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", transport, trouble);
  };
  for (const transport_attempt& one : attempts(p)) add(one.transport, one.trouble);
  for (const auto& [transport, trouble] : left_out_) add(transport, trouble);
  return all;
}

std::vector<links::transport_attempt> links::attempts(const peer& p) const {
  if (const auto found = attempts_.find(&p); found != attempts_.end()) return found->second;
  const auto ended = std::find_if(unreached_.begin(), unreached_.end(),
                                  [&](const auto& one) { return one.first == p.id(); });
  return ended == unreached_.end() ? std::vector<transport_attempt>{} : ended->second;
}

/// Progress lock held. The peer ends.
void links::forget_attempts(const peer& p, errc why) {
  const auto found = attempts_.find(&p);
  if (found == attempts_.end()) return;
  if (why == errc::unreachable) {
    if (unreached_.size() == most_unreached) unreached_.pop_front();
    unreached_.emplace_back(p.id(), std::move(found->second));
  }
  attempts_.erase(found);
}

/// As try_next_way, when what is going on now has ended and the progress lock is not held.
void links::try_soon(const remote_process& who) {
  manager_->post([this, id = who.peer] {
    for (auto& [key, other] : remote_processes_)
      if (other.peer == id) try_next_way(other);
  });
}

void links::try_next_way(remote_process& who) {
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
  if (is_over(*who.peer, false)) return end(who, errc::closed, {});
  fail(who.peer, errc::unreachable, "no transport reaches it: " + refusals(*who.peer));
}

/// Offers every link of the transport whose turn it is. What is being opened stays empty if it
/// cannot open a single one.
void links::offer_links(remote_process& who, const channel_ptr& channel) {
  const std::size_t index = who.next_way;
  transports::transport& t = *ways_[index].transport;
  std::vector<std::unique_ptr<transports::link>> opening(links_of(t));
  bool any = false;
  for (std::size_t i = 0; i != opening.size(); ++i) {
    try {
      wireup_message offer;
      {
        const engine::holder hold(engine_);
        opening[i] =
            t.open(frame_sink_for(who, index, i), counterpart_of(channel, index, i), offer);
      }
      channel->send(pack(static_cast<std::uint8_t>(wireup_message_kind::offer),
                         head_of(ways_[index].place, i, t), std::move(offer)));
      any = true;
    } catch (const std::exception& e) {
      tried(*who.peer, ways_[index], e.what());
      const engine::holder hold(engine_);
      opening[i].reset();
      if (proto::multi_rail_link* const several = multi_rail_link_for(*who.peer, index))
        several->refused(i);
    }
  }
  if (any) who.opening = std::move(opening);
}

/// Progress lock held. A link was answered; the first one opens the peer.
void links::use(remote_process& who, std::unique_ptr<transports::link> made, std::size_t number,
                std::uint32_t credit) {
  who.wants_link = false;
  proto::multi_rail_link* const several = multi_rail_link_for(*who.peer, who.next_way);
  if (!several) return who.peer->opened(std::move(made), credit);
  several->join(number, std::move(made));
  // A peer that is gone would drop it, and it is the frame sink of what still comes.
  if (who.unused_multi_rail_link && who.peer->writer().takes_link())
    who.peer->opened(std::move(who.unused_multi_rail_link), credit);
}

void links::on_wireup_message(const channel_ptr& c, wireup_message p) {
  const std::shared_ptr<peer> from = peer_behind(c);
  if (!from) return;
  remote_process& who = remote_process_with(c)->second;
  if (who.gone) return;
  if (std::any_of(p.fds.begin(), p.fds.end(), is_no_memory))
    return cut_off(who, "it sent a descriptor that is no memory file");
  // It may have been given up before there was a channel to say so by.
  if (tell(from)) return;
  switch (static_cast<wireup_message_kind>(p.kind)) {
    case wireup_message_kind::offer:
      return on_offer(who, c, std::move(p));
    case wireup_message_kind::answer:
      return on_answer(who, std::move(p), false);
    case wireup_message_kind::refusal:
      return on_answer(who, std::move(p), true);
    case wireup_message_kind::note: {
      wireup_message_head head{};
      const bool whole = unpack(p, head);
      const auto index = way_at(head.place);
      if (!whole || !index) break;
      const engine::holder hold(engine_);
      const std::vector<transports::frame_sink*> frame_sinks = frame_sinks_for(*from, *index);
      if (head.number >= frame_sinks.size()) return;  // of a link that is not, or not yet
      return ways_[*index].transport->note(*frame_sinks[head.number], std::move(p));
    }
    case wireup_message_kind::gone:
      return on_given_up(who, p);
  }
  cut_off(who, "it sent a wire-up message that no correct peer sends");
}

/// Progress lock held. The peer goes on to another transport: it could use none of the answers to
/// what was accepted of it, so that nothing has come that way. \param next that transport \return
/// empty, or what is wrong with that
std::string links::close_way_in(remote_process& who, std::size_t next) {
  peer& p = *who.peer;
  if (p.receiver().has_received()) return "it has sent by one transport and offers another";
  const std::size_t index = *way_at(*who.inbound.way());
  transports::transport& old = *ways_[index].transport;
  // Both directions have one connection, or one multi-rail link, where they do not share memory.
  const bool both_ways = !old.traits().shares_memory || multi_rail_link_for(p, index);
  if (p.connection().link() && both_ways &&
      p.connection().link()->traits().name == old.traits().name)
    return "it gave up the connection that this side sends by";
  for (transports::frame_sink* frame_sink : frame_sinks_for(p, index)) old.forget(*frame_sink);
  who.inbound.close();
  who.multi_rail_receives = false;
  if (!who.unused_multi_rail_link || !multi_rail_link_for(p, index)) return {};
  const bool offered = !who.opening.empty() && who.next_way == index;
  if (offered) who.opening.clear();
  who.unused_multi_rail_link.reset();
  p.writer().note_unsent();
  if (!offered) return {};
  who.next_way = next;
  try_soon(who);
  return {};
}

/// Progress lock held. \return why it is refused; empty: it is accepted
std::string links::take_offer(remote_process& who, const channel_ptr& c, std::size_t index,
                              std::uint8_t number, std::uint8_t further, wireup_message offer,
                              wireup_message& answer) {
  transports::transport& t = *ways_[index].transport;
  if (further + std::size_t{1} != links_of(t) || number > further)
    return fmt::format(
        "it offers {} links, this side would have {}; both must say the same (WEFT_TCP_LINKS)",
        further + 1, links_of(t));
  try {
    std::string refusal = t.accept(frame_sink_for(who, index, number),
                                   counterpart_of(c, index, number), std::move(offer), answer);
    if (!refusal.empty()) return refusal;
  } catch (const error& e) {
    return e.what();
  }
  who.inbound.accepted();
  who.multi_rail_receives = who.multi_rail_receives || links_of(t) > 1;
  return {};
}

void links::on_offer(remote_process& who, const channel_ptr& c, wireup_message p) {
  using verdict = inbound_transport::verdict;
  wireup_message_head head{};
  if (!unpack(p, head)) return cut_off(who, "its offer makes no sense");
  const verdict what = who.inbound.offered(head.place, head.number);
  if (what == verdict::nonsense)
    return cut_off(who, "it offers links that it has offered before, or too many");
  std::string refusal = "the other side does not have it, or cannot use it", wrong;
  wireup_message reply;
  if (const auto index = way_at(head.place)) {
    const engine::holder hold(engine_);
    if (what == verdict::instead) wrong = close_way_in(who, *index);
    if (wrong.empty())
      refusal = take_offer(who, c, *index, head.number, head.further, std::move(p), reply);
    if (refusal.empty()) head.credit = who.peer->writer().grant_first_credit();
  }
  if (!wrong.empty()) return cut_off(who, wrong);
  for (const char letter : refusal) reply.bytes.push_back(static_cast<std::byte>(letter));
  c->send(pack(static_cast<std::uint8_t>(refusal.empty() ? wireup_message_kind::answer
                                                         : wireup_message_kind::refusal),
               head, std::move(reply)));
}

void links::on_answer(remote_process& who, wireup_message p, bool refused) {
  wireup_message_head head{};
  if (!unpack(p, head) || way_at(head.place) != who.next_way || head.number >= who.opening.size() ||
      !who.opening[head.number])
    return;
  const engine::holder hold(engine_);
  std::unique_ptr<transports::link> link = std::move(who.opening[head.number]);
  const bool last = std::none_of(who.opening.begin(), who.opening.end(),
                                 [](const auto& l) { return l != nullptr; });
  if (last) who.opening.clear();
  std::string trouble =
      refused ? runtime::printable(p.bytes, max_reason) : link->opened(std::move(p));
  if (refused && trouble.empty()) trouble = "it gives no reason";  // empty: it works
  attempts_[who.peer.get()].push_back({ways_[who.next_way].name, trouble});
  if (trouble.empty()) return use(who, std::move(link), head.number, head.credit);
  link.reset();
  if (proto::multi_rail_link* const several = multi_rail_link_for(*who.peer, who.next_way)) {
    several->refused(head.number);
    // Another link may have been opened, or be answered yet.
    if (!last || !who.unused_multi_rail_link) return;
  }
  ++who.next_way;
  try_soon(who);
}

}  // namespace weft::detail
