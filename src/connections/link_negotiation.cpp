// SPDX-License-Identifier: Apache-2.0
// The direction that this side sends in: offers and their answers.
#include "connections/link_negotiation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proto/messenger/message_errors.hpp"
#include "runtime/os/printable.hpp"

namespace weft::connections {

using runtime::engine;
using transports::wireup_message;
using wireup::channel_ptr;

namespace {

/// So many bytes of a refusal's reason are shown.
constexpr std::size_t max_reason = 1024;

}  // namespace

link_message_header link_negotiation::header_for(std::size_t index,
                                                 std::size_t number) const noexcept {
  return {services_.transports[index].place, static_cast<std::uint8_t>(number),
          static_cast<std::uint8_t>(services_.transports.links_per_peer(index) - 1)};
}

transports::counterpart link_negotiation::counterpart_for(const channel_ptr& c, std::size_t index,
                                                          std::size_t number) const {
  return {c->peer().pid,
          [c, header = header_for(index, number)](wireup_message note) {
            c->send(pack(link_message_kind::note, header, std::move(note)));
          },
          static_cast<std::uint32_t>(number),
          c->hosts(),
          [c](std::span<const std::byte> bytes) { return c->sign(bytes); },
          process_};
}

void link_negotiation::request() noexcept {
  if (state_ == state::idle || state_ == state::open) state_ = state::wanted;
}

void link_negotiation::socket_tried(std::string trouble) {
  socket_known_ = true;
  socket_trouble_ = std::move(trouble);
  if (state_ == state::finding_socket) state_ = state::wanted;
}

/// Null: none of them could carry the offer of the transport that is next.
channel_ptr link_negotiation::channel_for(const std::vector<channel_ptr>& channels) const {
  const bool shares_memory = transport(index_).traits().shares_memory;
  const auto found = std::find_if(channels.begin(), channels.end(), [&](const channel_ptr& c) {
    return c->carries_descriptors() || !shares_memory;
  });
  return found == channels.end() ? nullptr : *found;
}

/// The progress lock is not held.
void link_negotiation::note_attempt(std::string trouble) {
  const engine::holder hold(services_.engine);
  add_attempt(std::move(trouble));
}

/// Progress lock held.
void link_negotiation::add_attempt(std::string trouble) {
  const std::string& name = services_.transports[index_].name;
  if (!trouble.empty())
    services_.engine.log().debug("{} cannot be reached over {}: {}", proto::name_of(peer_->id()),
                                 name, trouble);
  services_.attempts.add(*peer_, {name, std::move(trouble)});
}

std::string link_negotiation::refusals() const {
  std::string all;
  const auto add = [&all](const std::string& transport, const std::string& trouble) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", transport, trouble);
  };
  const engine::holder hold(services_.engine);
  for (const transport_attempt& one : services_.attempts.of(*peer_))
    add(one.transport, one.trouble);
  for (const auto& one : services_.transports.excluded()) add(one.name, one.reason);
  return all;
}

link_negotiation::step link_negotiation::next(const std::vector<channel_ptr>& channels) {
  if (state_ != state::wanted || channels.empty()) return step::none;
  for (; index_ != services_.transports.size(); ++index_) {
    if (const std::string no = transport(index_).reach(false); !no.empty()) {
      note_attempt(no);
      continue;
    }
    const channel_ptr channel = channel_for(channels);
    if (!channel && !socket_known_) {
      state_ = state::finding_socket;
      return step::find_socket;
    }
    if (!channel) {
      note_attempt(
          fmt::format("no memory can be shared, because no Unix socket reaches it "
                      "(another host, or a container with a network of its own){}{}",
                      socket_trouble_.empty() ? "" : ": ", socket_trouble_));
      continue;
    }
    offer_links(channel);
    if (state_ == state::offered) return step::none;
  }
  return step::exhausted;
}

/// Offers every link of the transport that is next. Not one that cannot be opened.
void link_negotiation::offer_links(const channel_ptr& channel) {
  transports::transport& t = *services_.transports[index_].transport;
  std::vector<std::unique_ptr<transports::link>> opening(
      services_.transports.links_per_peer(index_));
  bool any = false;
  for (std::size_t i = 0; i != opening.size(); ++i) {
    try {
      wireup_message offer;
      {
        const engine::holder hold(services_.engine);
        opening[i] = t.open(frame_sink_for(index_, i), counterpart_for(channel, index_, i), offer);
      }
      channel->send(pack(link_message_kind::offer, header_for(index_, i), std::move(offer)));
      any = true;
    } catch (const std::exception& e) {
      note_attempt(e.what());
      const engine::holder hold(services_.engine);
      opening[i].reset();
      if (auto* const several = services_.transports.multi_rail_link_of(*peer_, index_))
        several->refused(i);
    }
  }
  if (!any) return;
  offers_ = std::move(opening);
  state_ = state::offered;
}

/// Progress lock held. The first link that is answered opens the peer.
void link_negotiation::use(std::unique_ptr<transports::link> made,
                           const link_message_header& answer) {
  state_ = state::open;
  auto* const several = services_.transports.multi_rail_link_of(*peer_, index_);
  if (!several) return open_peer(std::move(made), answer);
  several->join(answer.number, std::move(made));
  // A peer that is gone would drop it, while transports still deliver frames to it.
  if (unused_ && peer_->writer().takes_link()) open_peer(std::move(unused_), answer);
}

/// Progress lock held.
void link_negotiation::open_peer(std::unique_ptr<transports::link> over,
                                 const link_message_header& answer) {
  peer_->opened(std::move(over), answer.credit);
  const runtime::log& log = services_.engine.log();
  if (log.wants(log_level::info))
    log.info("link to {}, over {}", proto::name_of(peer_->id()),
             services_.transports.describe(*peer_));
}

void link_negotiation::on_answer(wireup_message answer, bool refused) {
  link_message_header header{};
  if (!unpack(answer, header) || services_.transports.find(header.place) != index_ ||
      header.number >= offers_.size() || !offers_[header.number])
    return;
  const engine::holder hold(services_.engine);
  std::unique_ptr<transports::link> link = std::move(offers_[header.number]);
  const bool last =
      std::none_of(offers_.begin(), offers_.end(), [](const auto& l) { return l != nullptr; });
  if (last) offers_.clear();
  std::string trouble =
      refused ? runtime::printable(answer.bytes, max_reason) : link->opened(std::move(answer));
  if (refused && trouble.empty()) trouble = "it gives no reason";
  add_attempt(trouble);
  if (trouble.empty()) return use(std::move(link), header);
  link.reset();
  if (auto* const several = services_.transports.multi_rail_link_of(*peer_, index_)) {
    several->refused(header.number);
    // Another link may have been opened, or may be answered yet.
    if (!last || !unused_) return;
  }
  ++index_;
  if (state_ == state::offered) state_ = state::wanted;
}

}  // namespace weft::connections
