// SPDX-License-Identifier: Apache-2.0
// The sample `datagram`, alone: what a hostile peer can send it. All else is in the conformance
// suite.
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "datagram.hpp"
#include "support/catch.hpp"

namespace {

namespace wt = weft::transports;

class no_engine final : public wt::services {
 public:
  void look_after() noexcept override {}
  bool in_pass() const noexcept override { return false; }
  bool passes_soon() const noexcept override { return true; }
  bool passes_anyway() const noexcept override { return true; }
  bool has_progress_thread() const noexcept override { return false; }
  bool is_crowded() const noexcept override { return false; }
  void report(weft::log_level, std::string_view) noexcept override {}
};

class recorder final : public wt::frame_sink {
 public:
  bool on_frame(const wt::frame_header& h, const wt::frame_extension*,
                const std::byte*) noexcept override {
    ++frames;
    return h.kind == 0;
  }
  void on_writable() noexcept override {}
  void on_broken(weft::errc why) noexcept override { broken.push_back(why); }

  int frames = 0;
  std::vector<weft::errc> broken;
};

/// A transport that has accepted the one end of a pair; the test has the other one.
struct accepted {
  accepted() {
    std::string why;
    transport = datagram::kind().make(engine, {}, why);
    int both[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both) == 0);
    mine = weft::unique_fd(both[0]);
    wt::wireup_message offer, answer;
    offer.fds.emplace_back(both[1]);
    REQUIRE(transport->accept(sink, {}, std::move(offer), answer).empty());
  }
  void send(const std::string& bytes) {
    REQUIRE(::send(mine.get(), bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
    for (int n = 0; n != 16; ++n) transport->poll_hook()->poll();
  }

  no_engine engine;
  recorder sink;
  std::unique_ptr<wt::transport> transport;
  weft::unique_fd mine;
};

std::string frame(std::uint32_t size, std::uint8_t kind = 0, std::size_t sent = 0) {
  const wt::frame_header h{1, size, kind, 0, 0};
  std::string text(sizeof h, '\0');
  std::memcpy(text.data(), &h, sizeof h);
  return text + std::string(sent, 'x');
}

}  // namespace

TEST_CASE("datagram: frames that are right arrive") {
  accepted a;
  a.send(frame(0));
  a.send(frame(5, 0, 5));
  CHECK(a.sink.frames == 2);
  CHECK(a.sink.broken.empty());
}

TEST_CASE("datagram: what no correct peer sends breaks the connection, once") {
  accepted a;
  const std::string bad = GENERATE(std::string("short"), frame(5, 0, 4), frame(5, 0, 6), frame(~0u),
                                   frame(17'000, 0, 17'000), frame(0, 1));
  a.send(bad);
  a.send(frame(0));
  CHECK(a.sink.broken == std::vector<weft::errc>{weft::errc::protocol_error});
  CHECK(a.sink.frames <= 1);  // the one that the sink refused
}

TEST_CASE("datagram: the end of the peer's link is no error") {
  accepted a;
  a.mine = {};
  for (int n = 0; n != 16; ++n) a.transport->poll_hook()->poll();
  CHECK(a.sink.broken.empty());
  CHECK(a.transport->drain_peer(a.sink));
}

TEST_CASE("datagram: what a peer sent before it left comes before the news that it has left") {
  accepted a;
  wt::wireup_message offer;
  const auto link = a.transport->open(a.sink, {}, offer);
  offer.fds.clear();  // the peer's end of that direction
  for (int n = 0; n != 100; ++n) {
    const std::string one = frame(0);
    REQUIRE(::send(a.mine.get(), one.data(), one.size(), 0) > 0);
  }
  const wt::frame_header header{1, 0, 0, 0, 0};
  wt::gather nothing;
  REQUIRE(link->send(header, nullptr, nothing) == wt::post::failed);
  while (a.sink.broken.empty()) {
    REQUIRE(a.transport->poll_hook()->busy);
    a.transport->poll_hook()->poll();
  }
  CHECK(a.sink.frames == 100);
  CHECK(a.sink.broken == std::vector<weft::errc>{weft::errc::peer_lost});
}

TEST_CASE("datagram: an offer that is no socket for datagrams is refused") {
  accepted a;
  recorder other;
  wt::wireup_message none, pipes, stream, answer;
  int both[2];
  REQUIRE(::pipe(both) == 0);
  pipes.fds.emplace_back(both[0]);
  const weft::unique_fd write_end(both[1]);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0);
  stream.fds.emplace_back(both[0]);
  const weft::unique_fd far_end(both[1]);
  CHECK_FALSE(a.transport->accept(other, {}, std::move(none), answer).empty());
  CHECK_FALSE(a.transport->accept(other, {}, std::move(pipes), answer).empty());
  CHECK_FALSE(a.transport->accept(other, {}, std::move(stream), answer).empty());
}
