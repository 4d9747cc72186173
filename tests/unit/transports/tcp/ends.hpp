// SPDX-License-Identifier: Apache-2.0
// Two ends of the transport on the test's own thread, without protocols above them.
#pragma once

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "transports/tcp/factory.hpp"
#include "transports/tcp/wire.hpp"

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
    bool placed;
  };

  mutable_buffer place(const frame_header&, const frame_extension*,
                       std::uint32_t already) noexcept override {
    if (already >= room.size()) return {};
    return std::span(room).subspan(already, std::min(room.size() - already, piece));
  }
  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    frame f{h, x ? std::optional(*x) : std::nullopt, {}, payload == nullptr};
    if (payload) f.payload.assign(payload, payload + h.size);
    frames.push_back(std::move(f));
    if (when_frame) when_frame();
    return sensible;
  }
  void on_transferred(std::uint64_t cookie, bool well) noexcept override {
    if (well) transferred.push_back(cookie);
  }
  void on_writable() noexcept override { ++rooms; }
  void on_broken(errc why) noexcept override { broken.push_back(why); }

  std::function<void()> when_frame;  // called for each
  std::vector<frame> frames;
  std::vector<std::uint64_t> transferred;  // cookies of puts
  std::vector<errc> broken;
  int rooms = 0;
  bool sensible = true;
  bytes room;                           // where payloads are placed; empty: nowhere
  std::size_t piece = ~std::size_t{0};  // at most so many bytes in one place
};

/// Replaces the control plane's `sign`, and depends on all bytes as that does.
inline signature sign(std::uint8_t secret, std::span<const std::byte> what) {
  signature all{};
  std::uint64_t state = 0xcbf29ce484222325 ^ secret;
  for (std::size_t i = 0; i != what.size() + all.size(); ++i) {
    if (i < what.size()) state ^= static_cast<std::uint64_t>(what[i]);
    state *= 0x100000001b3;
    state ^= state >> 29;
    if (i >= what.size()) all[i - what.size()] = static_cast<std::byte>(state);
  }
  return all;
}

/// All tests but those of [bare] run a second time, with WEFT_TCP_TLS=yes (CMakeLists.txt).
inline tcp_encryption encryption_of_run() {
  const char* const said = std::getenv("WEFT_TCP_TLS");
  return said && said == std::string("yes") ? tcp_encryption::yes : tcp_encryption::automatic;
}

/// One context's end.
struct end {
  explicit end(std::vector<std::string> interfaces = {"lo"}, const char* set = "auto",
               std::chrono::seconds peer_timeout = std::chrono::seconds(5),
               tcp_encryption encryption = encryption_of_run())
      : turns(progress_mode::polling, {}, set),
        tcp(tcp::make(turns, settings_with(std::move(interfaces), peer_timeout, encryption))) {
    turns.add(*tcp->poll_hook());
  }
  ~end() {
    const engine::holder hold(turns);
    link.reset();
  }

  wireup_message open() {
    const engine::holder hold(turns);
    wireup_message offer;
    link = tcp->open(in, who(), offer);
    return offer;
  }
  std::string accept(wireup_message offer) {
    const engine::holder hold(turns);
    wireup_message answer;
    return tcp->accept(in, who(), std::move(offer), answer);
  }
  bool drain_peer() {
    const engine::holder hold(turns);
    return tcp->drain_peer(in);
  }
  void forget() {
    const engine::holder hold(turns);
    tcp->forget(in);
  }
  post send(frame_header h, const bytes& data, const frame_extension* x = nullptr) {
    const engine::holder hold(turns);
    h.size = static_cast<std::uint32_t>(data.size());
    const const_buffer one(data);
    gather pieces({&one, 1});
    return link->send(h, x, pieces);
  }
  static tcp::settings settings_with(std::vector<std::string> interfaces,
                                     std::chrono::seconds peer_timeout, tcp_encryption encryption) {
    tcp::settings s{std::move(interfaces), peer_timeout};
    s.encryption = encryption;
    return s;
  }
  counterpart who() {
    return {0, [this](wireup_message p) { told.push_back(std::move(p)); }, 0, hosts,
            [this](std::span<const std::byte> what) { return sign(secret, what); }};
  }

  engine turns;
  std::unique_ptr<transport> tcp;
  recorder in;
  std::unique_ptr<transports::link> link;
  std::vector<wireup_message> told;  // notes for the counterpart
  std::uint8_t secret = 7;           // of the channel between the two
  std::vector<std::string> hosts;    // of the counterpart; none: this host
};

/// Polls all ends until `holds` returns true, or for so long that something must be wrong.
template <class Condition>
bool eventually(std::initializer_list<end*> all, Condition holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    for (end* e : all) e->turns.poll_once();
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

/// `a` may send to `b`.
inline void connect(end& a, end& b) {
  REQUIRE(b.accept(a.open()).empty());
  REQUIRE(a.link->opened({}).empty());
}

inline std::string connection(end& e) { return e.tcp->describe(e.in); }

/// "tcp, HERE to THERE, ..." on one side is "tcp, THERE to HERE, ..." on the other.
inline void check_is_one_connection(end& a, end& b) {
  const std::string here = connection(a);
  const std::size_t begin = here.find(", ") + 2, middle = here.find(" to ");
  REQUIRE(middle != std::string::npos);
  const std::size_t end = here.find(", ", middle);
  CHECK(connection(b) == "tcp, " + here.substr(middle + 4, end - middle - 4) + " to " +
                             here.substr(begin, middle - begin) + here.substr(end));
}

}  // namespace ends
