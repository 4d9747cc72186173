// SPDX-License-Identifier: Apache-2.0
// A context that sends messages to itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include <weft/weft.hpp>

namespace weft::test {

struct to_self {
  context ctx;
  endpoint me{ctx.peer(0)};
  std::array<std::byte, 8> in{}, out{};

  recv_request recv(tag t = tag{1}) { return me.recv(std::span(in), t); }
  send_request send(int value, tag t = tag{1}) {
    std::memcpy(out.data(), &value, sizeof value);
    return me.send(std::span(out), t);
  }
  /// Until all messages that were sent before have come.
  task<void> all_came() {
    scope both;
    both.start(me.recv(mutable_buffer{}, tag{77}));
    both.start(me.send(const_buffer{}, tag{77}));
    co_await both.join();
  }
  int value() const {
    int v = 0;
    std::memcpy(&v, in.data(), sizeof v);
    return v;
  }
};

}  // namespace weft::test
