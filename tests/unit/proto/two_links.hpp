// SPDX-License-Identifier: Apache-2.0
// Two nodes with several links between them.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "net.hpp"
#include "proto/rails/multi_rail_link.hpp"

namespace net {

using weft::proto::multi_rail_link;

/// One node with links that each are a transport of their own.
class many_linked {
 public:
  many_linked(fake::world& w, fake::node n, const std::vector<fake::manner>& links,
              weft::proto::messenger_settings s)
      : engine(weft::progress_mode::polling, {}, "epoll", &w), messages(engine, s) {
    for (const fake::manner& m : links) transports.push_back(fake::make(w, n, engine, m));
    messages.peers().reserve_ranks(64);
    engine.add(messages.upkeep());
    for (const auto& t : transports) engine.add(*t->poll_hook());
    other = messages.peers().at(1 - n);
    messages.attach(connector);
    connector.on_connect = [this](peer&) { wants_links = true; };
  }
  ~many_linked() {
    end();
    const engine::holder hold(engine);
    waiting.reset();
    other.reset();
    messages.peers().clear();
  }
  void end() {
    {
      const engine::holder hold(engine);
      messages.close_all();
    }
    while (engine.poll_once() != 0) {
    }
  }

  multi_rail_link& links() {
    if (!several) {
      std::vector<weft::transports::traits> kinds;
      for (const auto& t : transports) kinds.push_back(t->traits());
      waiting = std::make_unique<multi_rail_link>(*other, kinds);
      several = waiting.get();
    }
    return *several;
  }

  std::shared_ptr<sending> send(const bytes& data, tag t,
                                weft::detail::send_mode mode = weft::detail::send_mode::standard) {
    auto op = std::make_shared<sending>(
        weft::send_request{other.get(), t, weft::const_buffer(data), mode});
    op->go();
    begun_.push_back(op);
    return op;
  }
  std::shared_ptr<receiving> recv(bytes& into, tag_mask t) {
    auto op = std::make_shared<receiving>(
        weft::recv_request{&messages, other.get(), t, weft::mutable_buffer(into)});
    op->go();
    begun_.push_back(op);
    return op;
  }
  bool clean() {
    const engine::holder hold(engine);
    return messages.messages().in_use() == 0 && engine.outstanding() == 0 &&
           messages.counts().unexpected_bytes_now == 0;
  }

  weft::runtime::engine engine;
  std::vector<std::unique_ptr<weft::transports::transport>> transports;
  weft::tests::scripted_connector connector;
  messenger messages;
  std::shared_ptr<peer> other;
  std::unique_ptr<multi_rail_link> waiting;  // until the peer takes it
  multi_rail_link* several = nullptr;
  bool wants_links = false;

 private:
  std::vector<std::shared_ptr<void>> begun_;  // live until everything has ended
};

/// The nodes 0 and 1.
class two_nodes final : public growing_world {
 public:
  explicit two_nodes(const std::vector<fake::manner>& links, fake::settings s = {},
                     weft::proto::messenger_settings m = {64u << 20, 64u << 10})
      : growing_world(s) {
    for (fake::node n : {0u, 1u}) sides_[n] = std::make_unique<many_linked>(world, n, links, m);
  }

  many_linked& operator[](fake::node n) { return *sides_[n]; }

 private:
  bool connect() override {
    const bool there = connect(0, 1), back = connect(1, 0);
    return there || back;
  }
  bool connect(fake::node from, fake::node to) {
    many_linked &a = *sides_[from], &b = *sides_[to];
    if (!std::exchange(a.wants_links, false)) return false;
    for (std::size_t i = 0; i != a.transports.size(); ++i) {
      weft::transports::wireup_message offer, answer;
      std::unique_ptr<weft::transports::link> link;
      {
        const engine::holder hold(a.engine);
        link = a.transports[i]->open(a.links().frame_sink(i), {}, offer);
      }
      std::uint32_t credit = 0;
      {
        const engine::holder hold(b.engine);
        REQUIRE(
            b.transports[i]->accept(b.links().frame_sink(i), {}, std::move(offer), answer).empty());
        credit = b.other->writer().grant_first_credit();
      }
      const engine::holder hold(a.engine);
      a.links().join(i, std::move(link));
      if (a.waiting) a.other->opened(std::move(a.waiting), credit);
    }
    return true;
  }

  std::array<std::unique_ptr<many_linked>, 2> sides_;
};

}  // namespace net
