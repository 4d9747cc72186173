// SPDX-License-Identifier: Apache-2.0
// Two contexts without sockets: their channels and transports do what the test says.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connections/link_negotiation.hpp"
#include "connections/transport_attempts.hpp"
#include "connections/transport_list.hpp"
#include "proto/messenger/messenger.hpp"
#include "support/catch.hpp"
#include "support/scripted_connector.hpp"
#include "support/silent_link.hpp"

namespace ends {

using namespace weft;
using connections::link_message_kind;
using connections::link_negotiation;
using transports::wireup_message;
using state = link_negotiation::state;
using step = link_negotiation::step;

/// How a transport is, and behaves.
struct manner {
  std::string name;
  std::uint32_t links = 1;
  bool shares_memory = false;
  std::string out_of_reach = {};  ///< what `reach` says
  std::string refusal = {};       ///< what `accept` says
  std::string trouble = {};       ///< what the link says to its answer
  bool opens = true;              ///< false: `open` throws
};

using kinds = std::vector<manner>;

class scripted_link final : public tests::silent_link {
 public:
  scripted_link(const transports::traits& t, const manner& m) : silent_link(t), manner_(m) {}
  std::string opened(wireup_message) override { return manner_.trouble; }

 private:
  const manner& manner_;
};

class scripted_transport final : public transports::transport {
 public:
  explicit scripted_transport(const manner& m) : manner_(m) {
    traits_.name = m.name;
    traits_.max_payload = traits_.fragment = 1024;
    traits_.links = m.links;
    traits_.shares_memory = m.shares_memory;
  }
  pollable* poll_hook() noexcept override { return nullptr; }
  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool) const override { return manner_.out_of_reach; }
  std::unique_ptr<transports::link> open(transports::frame_sink&, const transports::counterpart&,
                                         wireup_message&) override {
    if (!manner_.opens) throw error(errc::system, "no descriptor is left");
    return std::make_unique<scripted_link>(traits_, manner_);
  }
  std::string accept(transports::frame_sink& to, const transports::counterpart&, wireup_message,
                     wireup_message&) override {
    if (manner_.refusal.empty()) accepted.push_back(&to);
    return manner_.refusal;
  }
  void note(transports::frame_sink&, wireup_message) override { ++notes; }
  void forget(transports::frame_sink& from) noexcept override { std::erase(accepted, &from); }
  std::string describe() const override { return manner_.name; }
  std::string describe(const transports::frame_sink&) const override { return manner_.name; }

  std::vector<transports::frame_sink*> accepted;
  int notes = 0;

 private:
  const manner& manner_;
  transports::traits traits_;
};

/// Keeps what is sent until the test delivers it.
class scripted_channel final : public wireup::channel {
 public:
  explicit scripted_channel(bool unix_socket) : unix_socket_(unix_socket) {}
  const wireup::identity& peer() const noexcept override { return peer_; }
  bool carries_descriptors() const noexcept override { return unix_socket_; }
  void send(wireup_message m) override { sent.push_back(std::move(m)); }
  wireup::digest sign(std::span<const std::byte>) const noexcept override { return {}; }
  void close() override { closed = true; }
  void process_ended() override {}
  void report_to(wireup::channel_events&) override {}

  std::deque<wireup_message> sent;
  bool closed = false;

 private:
  wireup::identity peer_;
  bool unix_socket_;
};

/// One context.
class end {
 public:
  explicit end(kinds k, bool unix_socket = true)
      : manners(std::move(k)), channel(std::make_shared<scripted_channel>(unix_socket)) {
    messages.attach(connector);
    messages.peers().reserve_ranks(2);
    peer = messages.peers().at(1);
    for (std::size_t i = 0; i != manners.size(); ++i) {
      auto made = std::make_unique<scripted_transport>(manners[i]);
      all.push_back(made.get());
      transports.add(std::move(made), manners[i].name, static_cast<std::uint16_t>(i));
    }
  }
  ~end() {
    const runtime::engine::holder hold(engine);
    links.drop_unused();
    peer->give_up(errc::closed, "the test ends");
    peer->drop_link();
    peer.reset();
    messages.close_all();
    messages.peers().clear();
  }

  step next() { return links.next({channel}); }
  step want() {
    links.request();
    return next();
  }
  bool open() {
    const runtime::engine::holder hold(engine);
    return peer->connection().link() != nullptr;
  }
  std::vector<connections::transport_attempt> attempts() {
    const runtime::engine::holder hold(engine);
    return record.of(*peer);
  }

  /// Everything that `from` has sent arrives here. \return what was wrong with it
  std::string hear(end& from) {
    std::string wrong;
    while (!from.channel->sent.empty() && wrong.empty()) {
      wireup_message m = std::move(from.channel->sent.front());
      from.channel->sent.pop_front();
      wrong = hear(std::move(m));
    }
    return wrong;
  }
  std::string hear(wireup_message m) {
    switch (static_cast<link_message_kind>(m.kind)) {
      case link_message_kind::offer:
        return links.on_offer(channel, std::move(m));
      case link_message_kind::note:
        return links.on_note(std::move(m));
      default: {
        const bool refused = m.kind == static_cast<std::uint8_t>(link_message_kind::refusal);
        links.on_answer(std::move(m), refused);
        return {};
      }
    }
  }

  kinds manners;
  runtime::engine engine{progress_mode::polling, {}, "epoll"};
  tests::scripted_connector connector;
  proto::messenger messages{engine, {1u << 20, 4096}};
  std::shared_ptr<proto::peer> peer;
  connections::transport_list transports;
  std::vector<scripted_transport*> all;
  connections::transport_attempts record;
  std::shared_ptr<scripted_channel> channel;
  link_negotiation links{{engine, transports, record}, messages.peers().at(1)};
};

}  // namespace ends
