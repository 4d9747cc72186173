// SPDX-License-Identifier: Apache-2.0
// A few messengers on the fake transport, on the test's thread, under virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <weft/operations/messages.hpp>

#include "proto/messenger/messenger.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/scripted_connector.hpp"
#include "transports/fake/factory.hpp"

namespace net {

namespace fake = weft::transports::fake;
using weft::errc;
using weft::tag;
using weft::tag_mask;
using weft::proto::messenger;
using weft::proto::peer;
using weft::runtime::engine;

using weft::tests::bytes;
using weft::tests::pattern;

/// An operation that counts its ends.
template <class Op>
class tracked final : public Op {
 public:
  template <class Request>
  explicit tracked(const Request& r) : Op(r, &count) {}

  tracked& go() {
    if (this->start()) ++ends;
    return *this;
  }
  bool ended() const noexcept { return ends != 0; }
  bool ended_with(errc how) const noexcept { return ends == 1 && this->status == how; }

  int ends = 0;

 private:
  static void count(weft::operation& op) noexcept { ++static_cast<tracked&>(op).ends; }
};
using sending = tracked<weft::send_operation>;
using receiving = tracked<weft::recv_operation>;
using probing = tracked<weft::probe_operation>;

/// One node with a messenger.
class side {
 public:
  side(fake::world& w, fake::node n, weft::proto::messenger_settings s)
      : engine(weft::progress_mode::polling, {}, "epoll", &w),
        transport(fake::make(w, n, engine)),
        messages(engine, s) {
    messages.attach(connector);
    messages.peers().reserve_ranks(64);
    engine.add(messages.upkeep());
    engine.add(*transport->poll_hook());
  }
  ~side() {
    end();
    const engine::holder hold(engine);
    messages.peers().clear();
  }

  /// Ends the messenger, as the end of a context does.
  void end() {
    {
      const engine::holder hold(engine);
      messages.close_all();
    }
    while (engine.poll_once() != 0) {
    }
  }

  peer& to(fake::node n) { return *messages.peers().at(n); }

  std::shared_ptr<sending> send(fake::node n, const bytes& data, tag t,
                                weft::detail::send_mode mode = weft::detail::send_mode::standard,
                                std::uint64_t immediate = 0) {
    auto op = std::make_shared<sending>(
        weft::send_request{&to(n), t, weft::const_buffer(data), mode, immediate});
    op->go();
    begun_.push_back(op);
    return op;
  }
  std::shared_ptr<receiving> recv(fake::node n, bytes& into, tag_mask t) {
    auto op = std::make_shared<receiving>(
        weft::recv_request{&messages, &to(n), t, weft::mutable_buffer(into)});
    op->go();
    begun_.push_back(op);
    return op;
  }
  std::shared_ptr<receiving> recv_any(bytes& into, tag_mask t) {
    auto op = std::make_shared<receiving>(
        weft::recv_request{&messages, nullptr, t, weft::mutable_buffer(into)});
    op->go();
    begun_.push_back(op);
    return op;
  }

  /// Whether nothing of any message is left.
  bool clean() {
    const engine::holder hold(engine);
    return messages.messages().in_use() == 0 && engine.outstanding() == 0 &&
           messages.counts().unexpected_bytes_now == 0;
  }
  /// Units that could still be granted.
  std::uint32_t budget_left() {
    const engine::holder hold(engine);
    const std::uint32_t all = messages.memory().take(~0u);
    messages.memory().give_back(all);
    return all;
  }

  weft::runtime::engine engine;
  std::unique_ptr<weft::transports::transport> transport;
  weft::tests::scripted_connector connector;
  weft::proto::messenger messages;

 private:
  std::vector<std::shared_ptr<void>> begun_;  // live until everything has ended
};

/// A world whose requested links are made between two steps.
class growing_world {
 public:
  explicit growing_world(fake::settings s) : world(s) {}
  virtual ~growing_world() = default;

  /// One step of the world, and the requested links.
  bool step() {
    const bool linked = connect();
    return world.step() || linked;
  }
  /// As world::run_until_quiet: a requested link does not wait for the next timer.
  void settle() {
    for (int quiet = 0; quiet != 2;) quiet = step() ? 0 : quiet + 1;
  }

  fake::world world;

 private:
  /// Makes the requested links. \return whether there were any
  virtual bool connect() = 0;
};

/// The nodes 0 .. n-1.
class nodes : public growing_world {
 public:
  explicit nodes(std::size_t n, fake::settings s = {},
                 weft::proto::messenger_settings m = {64u << 20, 64u << 10})
      : nodes(n, s, std::vector(n, m)) {}

  /// \param each the nodes' settings
  nodes(std::size_t n, fake::settings s, const std::vector<weft::proto::messenger_settings>& each)
      : growing_world(s) {
    for (fake::node i = 0; i < n; ++i) {
      sides_.push_back(std::make_unique<side>(world, i, each[i]));
      sides_.back()->connector.on_connect = [this, i](peer& p) { wanted_.push_back({i, &p}); };
    }
  }

  side& operator[](fake::node n) { return *sides_[n]; }

  bool clean() {
    bool all = true;
    for (const auto& s : sides_) all = all && s->clean();
    return all;
  }

  /// A link of node `from` to node `to` beside its messenger, for frames that no messenger sends.
  std::unique_ptr<weft::transports::link> raw_link(fake::node from, fake::node to) {
    weft::transports::wireup_message offer, answer;
    std::unique_ptr<weft::transports::link> link;
    {
      peer& there = sides_[from]->to(to);
      const engine::holder hold(sides_[from]->engine);
      link = sides_[from]->transport->open(there, {}, offer);
    }
    peer& back = sides_[to]->to(from);
    const engine::holder hold(sides_[to]->engine);
    REQUIRE(sides_[to]->transport->accept(back, {}, std::move(offer), answer).empty());
    back.writer().grant_first_credit();
    return link;
  }

  bool links_allowed = true;  ///< false: links are requested and not made yet

 private:
  struct want {
    fake::node from;
    peer* to;
  };

  bool connect() override {
    if (!links_allowed) return false;
    const std::vector<want> now = std::exchange(wanted_, {});
    for (const want& w : now) connect(w.from, *w.to);
    return !now.empty();
  }

  void connect(fake::node from, peer& to) {
    if (!world.alive(from)) return;
    side& a = *sides_[from];
    if (!world.alive(to.id())) {
      const engine::holder hold(a.engine);
      to.give_up(errc::peer_lost, "dead");
      return;
    }
    side& b = *sides_[to.id()];
    weft::transports::wireup_message offer, answer;
    std::unique_ptr<weft::transports::link> link;
    {
      const engine::holder hold(a.engine);
      link = a.transport->open(to, {}, offer);
    }
    std::uint32_t credit = 0;
    {
      peer& back = b.to(from);
      const engine::holder hold(b.engine);
      REQUIRE(b.transport->accept(back, {}, std::move(offer), answer).empty());
      credit = back.writer().grant_first_credit();
    }
    const engine::holder hold(a.engine);
    to.opened(std::move(link), credit);
  }

  std::vector<want> wanted_;
  std::vector<std::unique_ptr<side>> sides_;
};

}  // namespace net
