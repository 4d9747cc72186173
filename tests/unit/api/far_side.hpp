// SPDX-License-Identifier: Apache-2.0
// A context with transports that a test observes. At the other end of its control channel the test
// sends any message.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/transport/transport.hpp>
#include <weft/weft.hpp>

#include "api/core/core.hpp"
#include "connections/link_message.hpp"
#include "support/catch.hpp"
#include "support/silent_link.hpp"
#include "unit/wireup/node.hpp"

namespace weft::test {

using namespace std::chrono_literals;
using wireup::test::node;

/// The calls to the transports, in order, and their answers. Any thread.
class log {
 public:
  std::atomic<bool> more_comes{false};  // whether gone peers have more frames
  std::atomic<unsigned> heard_out{0};   // how often a transport was asked for that
  void add(std::string what) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(what));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Records its end.
class stub_link final : public tests::silent_link {
 public:
  stub_link(const transports::traits& t, log& to) : silent_link(t), log_(to) {}
  ~stub_link() override { log_.add("end " + std::string(traits().name)); }

 private:
  log& log_;
};

/// Accepts the offers and records them; the test delivers the frames.
class stub_transport final : public transports::transport {
 public:
  stub_transport(const std::string& name, std::uint32_t links, log& to)
      : name_(name),
        log_(to),
        traits_{.name = name_, .max_payload = 4096, .fragment = 4096, .links = links} {}

  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool is_self) const override { return is_self ? "not by this" : ""; }
  std::unique_ptr<transports::link> open(transports::frame_sink&, const transports::counterpart&,
                                         transports::wireup_message&) override {
    return std::make_unique<stub_link>(traits_, log_);
  }
  std::string accept(transports::frame_sink& to, const transports::counterpart& who,
                     transports::wireup_message offer, transports::wireup_message&) override {
    if (!offer.bytes.empty()) return "it does not like it";
    log_.add("accept " + name_ + std::to_string(who.link));
    accepted_.push_back(&to);
    last = &to;
    return {};
  }
  void forget(transports::frame_sink& from) noexcept override {
    if (std::erase(accepted_, &from) != 0) log_.add("forget " + name_);
  }
  bool drain_peer(transports::frame_sink&) noexcept override {
    ++log_.heard_out;
    return !log_.more_comes;
  }
  std::string describe() const override { return name_; }
  std::string describe(const transports::frame_sink&) const override { return name_; }
  weft::pollable* poll_hook() noexcept override { return nullptr; }

  /// The frame sink of the offer that was accepted last. Progress lock held.
  transports::frame_sink* last = nullptr;

 private:
  const std::string name_;
  log& log_;
  const transports::traits traits_;
  std::vector<transports::frame_sink*> accepted_;
};

/// A wire-up message of two contexts that open links, as docs/wire-format.md has it.
/// The transports of the context of `met`.
inline const std::vector<std::string> its_transports{"self", "first", "many", "second"};

/// \param index of the transport in that list, or beyond it
inline transports::wireup_message link_parcel(std::uint8_t kind, std::size_t index,
                                              std::uint8_t number = 0, std::uint8_t further = 0,
                                              const std::string& body = {}) {
  transports::wireup_message p =
      wireup::test::make_wireup_message(kind, std::string(8, '\0') + body);
  const std::uint16_t place = connections::place_in(its_transports, index);
  std::memcpy(p.bytes.data(), &place, sizeof place);
  p.bytes[2] = static_cast<std::byte>(number);
  p.bytes[3] = static_cast<std::byte>(further);
  return p;
}
namespace says {
inline constexpr std::uint8_t offer = 1, answer = 2, refusal = 3, note = 4, gone = 5;
}

/// A context that has the transports `first`, `many` (with three links) and `second`, and a node
/// that the context has accepted.
class met {
 public:
  log asked;
  runtime::engine* engine = nullptr;
  std::vector<stub_transport*> stubs;
  detail::core* core = nullptr;
  context ctx;
  node far;
  wireup::channel_ptr channel;  // to the context
  endpoint peer;                // the node

  met() : ctx(make()), peer(meet()) {}

  void say(transports::wireup_message p) const { channel->send(std::move(p)); }
  transports::wireup_message hear() { return far.wireup_messages.next().wireup_message; }
  void offer_of(std::uint16_t place, std::uint8_t number = 0, std::uint8_t further = 0) const {
    say(link_parcel(says::offer, place, number, further));
  }

  /// The error of a receive from the node, with its text.
  std::pair<errc, std::string> receives() {
    std::pair<errc, std::string> end{errc::ok, ""};
    run(ctx, receive_one(end));
    return end;
  }

  /// A second connection from the same node: the node requests it, and the context accepts.
  endpoint meet() {
    listener listening = run(ctx, ctx.listen("unix://weft-far-side-" + std::to_string(::getpid())));
    far->request_connection(listening.address(), "", node::into(far.outcomes));
    endpoint e = run(ctx, listening.accept());
    channel = far.outcomes.next().channel;
    REQUIRE(channel);
    return e;
  }

 private:
  context make() {
    options o;
    o.transports = its_transports;
    for (const char* name : {"first", "many", "second"})
      o.transport_factories.push_back(
          {name, [this, name](transports::services& s, const options&, std::string&) {
             engine = &static_cast<runtime::engine&>(s);
             const std::uint32_t links = std::string(name) == "many" ? 3 : 1;
             auto t = std::make_unique<stub_transport>(name, links, asked);
             stubs.push_back(t.get());
             return t;
           }});
    auto made = std::make_unique<detail::core>(std::move(o));
    core = made.get();
    return detail::internals::context_of(std::move(made));
  }

  task<void> receive_one(std::pair<errc, std::string>& end) {
    std::byte in{};
    const auto r = co_await as_result(within(5s, peer.recv({&in, 1}, any_tag)));
    end = {r.code(), r ? "" : r.failure().what()};
  }
};

}  // namespace weft::test
