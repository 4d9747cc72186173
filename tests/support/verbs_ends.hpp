// SPDX-License-Identifier: Apache-2.0
// Ends of the verbs transport on the test's own thread, without protocols above them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "transports/verbs/transport.hpp"

namespace ends {

using namespace weft;
using namespace weft::transports;
using runtime::engine;
using tests::bytes;
using tests::pattern;

/// Records the received frames.
class recorder final : public frame_sink {
 public:
  struct frame {
    frame_header header;
    std::optional<frame_extension> extension;
    bytes payload;
  };

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    frames.push_back({h, x ? std::optional(*x) : std::nullopt, {payload, payload + h.size}});
    if (on_arrival) on_arrival();
    return sensible;
  }
  void on_transferred(std::uint64_t cookie, bool well) noexcept override {
    transferred.push_back({cookie, well});
  }
  void on_writable() noexcept override { ++rooms; }
  void on_broken(errc why) noexcept override { broken.push_back(why); }

  std::vector<frame> frames;
  std::vector<std::pair<std::uint64_t, bool>> transferred;
  std::vector<errc> broken;
  std::function<void()> on_arrival;
  int rooms = 0;
  bool sensible = true;
};

/// One context's end, with one peer.
struct plain_end {
  /// \param on a device, real or fake
  explicit plain_end(std::unique_ptr<verbs::device> on, verbs::settings s = {})
      : turns(progress_mode::polling, {}, "auto"), transport(turns, std::move(s), std::move(on)) {
    turns.add(transport);
  }
  ~plain_end() { drop_link(); }

  wireup_message open() {
    const engine::holder hold(turns);
    wireup_message offer;
    link = transport.open(in, who, offer);
    return offer;
  }
  /// \return empty, or the reason of a refusal
  std::string accept(wireup_message offer, wireup_message& answer) {
    const engine::holder hold(turns);
    return transport.accept(in, who, std::move(offer), answer);
  }
  std::string opened(wireup_message answer) {
    const engine::holder hold(turns);
    return link->opened(std::move(answer));
  }
  void forget() {
    const engine::holder hold(turns);
    transport.forget(in);
  }
  void drop_link() {
    const engine::holder hold(turns);
    link.reset();
  }
  post get(mutable_buffer into, remote_address from, std::uint64_t cookie = 1) {
    const engine::holder hold(turns);
    return link->get(scatter({&into, 1}), from, into.size(), cookie);
  }
  post put(const_buffer data, remote_address to, std::uint64_t cookie = 1) {
    const engine::holder hold(turns);
    return link->put(gather({&data, 1}), to, data.size(), cookie);
  }
  std::optional<remote_address> expose(const_buffer data) {
    const engine::holder hold(turns);
    return link->expose(data);
  }
  std::optional<remote_address> expect(mutable_buffer into) {
    const engine::holder hold(turns);
    return link->expect(into);
  }
  void withdraw(remote_address what) {
    const engine::holder hold(turns);
    link->withdraw(what);
  }
  void let_go() {
    const engine::holder hold(turns);
    link->let_go();
  }
  post send(frame_header h, const bytes& data = {}, const frame_extension* x = nullptr) {
    const engine::holder hold(turns);
    h.size = static_cast<std::uint32_t>(data.size());
    const const_buffer one(data);
    gather pieces({&one, 1});
    return link->send(h, x, pieces);
  }

  engine turns;
  verbs::verbs_transport transport;
  recorder in;
  counterpart who{::getpid(), {}};
  std::unique_ptr<transports::link> link;
};

inline frame_header numbered(std::uint64_t n, std::uint8_t flags = 0) {
  return {n, 0, 1, flags, 0};
}

/// `a` may send to `b`.
inline void connect(plain_end& a, plain_end& b) {
  wireup_message answer;
  REQUIRE(b.accept(a.open(), answer) == "");
  REQUIRE(a.opened(std::move(answer)) == "");
}

/// Polls both until nothing happens.
inline void settle(plain_end& a, plain_end& b) {
  while (a.turns.poll_once() + b.turns.poll_once() != 0) continue;
}

/// Polls both until `holds` returns true, or for so long that something must be wrong.
template <class Condition>
bool eventually(plain_end& a, plain_end& b, Condition holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    a.turns.poll_once();
    b.turns.poll_once();
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

}  // namespace ends
