// SPDX-License-Identifier: Apache-2.0
// Calls by Cap'n Proto's two-party RPC. Each side is one thread with one event loop, which polls
// without ever sleeping: that is faster here than to wait in epoll.
#include <capnp/rpc-twoparty.h>
#include <fmt/format.h>
#include <kj/async-io.h>

#include <cstring>
#include <utility>

#include "echo.capnp.h"
#include "peers/call_peer.hpp"

namespace {

using namespace weft::bench;

std::span<const std::byte> bytes_of(capnp::Data::Reader data) {
  return std::as_bytes(std::span(data.begin(), data.size()));
}

/// Of a message with so many bytes, so that it is allocated once.
capnp::MessageSize room_for(std::size_t bytes) { return {bytes / sizeof(capnp::word) + 8, 0}; }

void copy(std::span<const std::byte> from, capnp::Data::Builder to) {
  std::memcpy(to.begin(), from.data(), from.size());
}

class echo final : public Echo::Server {
  kj::Promise<void> call(CallContext context) override {
    const auto data = context.getParams().getData();
    context.getResults(room_for(data.size())).setData(data);
    return kj::READY_NOW;
  }
};

void serve(serving_side& side) {
  auto io = kj::setupAsyncIo();
  auto address = io.provider->getNetwork().parseAddress(loopback).wait(io.waitScope);
  auto listening = address->listen();
  capnp::TwoPartyServer server(kj::heap<echo>());
  auto serving = server.listen(*listening);
  side.listens_at(static_cast<std::uint16_t>(listening->getPort()));
  while (!side.ended())
    if (serving.poll(io.waitScope)) serving.wait(io.waitScope);  // it throws
}

class caller {
 public:
  caller(calling_side& side, Echo::Client& to) : side_(side), to_(to) {}

  /// Ends when `left` calls have, one after the other.
  kj::Promise<void> call(std::size_t number, std::size_t left) {
    auto request = to_.callRequest(room_for(side_.size()));
    copy(side_.argument(), request.initData(static_cast<unsigned>(side_.size())));
    return request.send().then([this, number, left](auto answer) -> kj::Promise<void> {
      side_.take(number, bytes_of(answer.getData()));
      if (left == 1) return kj::READY_NOW;
      return call(number, left - 1);
    });
  }

 private:
  calling_side& side_;
  Echo::Client& to_;
};

void ask(calling_side& side) {
  auto io = kj::setupAsyncIo();
  auto address = io.provider->getNetwork().parseAddress(loopback, side.port()).wait(io.waitScope);
  auto stream = address->connect().wait(io.waitScope);
  capnp::TwoPartyClient client(*stream);
  auto to = client.bootstrap().castAs<Echo>();
  caller calls(side, to);
  side.measure([&](std::size_t each) {
    kj::Vector<kj::Promise<void>> all;
    for (std::size_t number = 0; number != side.callers(); ++number)
      all.add(calls.call(number, each));
    auto ended = kj::joinPromises(all.releaseAsArray());
    while (!ended.poll(io.waitScope)) {
    }
    ended.wait(io.waitScope);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return call_peer_main(argc, argv,
                        fmt::format("Cap'n Proto {}.{}.{}", CAPNP_VERSION_MAJOR,
                                    CAPNP_VERSION_MINOR, CAPNP_VERSION_MICRO),
                        serve, ask);
}
