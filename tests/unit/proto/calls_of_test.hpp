// SPDX-License-Identifier: Apache-2.0
// Handlers and calls between the nodes of a test. By habit node 1 calls node 0.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <weft/call.hpp>
#include <weft/coro/as_result.hpp>
#include <weft/detail/call_code.hpp>

#include "net.hpp"
#include "proto/calls/call_table.hpp"

namespace net {

using weft::am;
using weft::const_buffer;
using weft::inline_call;
using weft::mutable_buffer;
using weft::task;
using weft::detail::call_code;
using weft::proto::call_handler;
using calling = tracked<weft::raw_call_operation>;

/// A handler of one side, as long as this lives.
class registered {
 public:
  registered(side& s, am number, std::unique_ptr<call_code> code)
      : h_(std::make_shared<call_handler>(number, std::move(code), nullptr)) {
    const engine::holder hold(s.engine);
    s.messages.calls().add(h_);
  }
  registered(registered&&) = default;
  ~registered() {
    if (!h_) return;
    h_->close();
    h_->stop();
    h_->wait();
  }
  /// Asks the calls that run to stop.
  void stop() { h_->stop(); }

 private:
  std::shared_ptr<call_handler> h_;
};

template <class F>
registered serve(side& s, am number, F f) {
  return {s, number, std::make_unique<weft::detail::raw_code<F>>(std::move(f))};
}
template <class F>
registered serve_inline(side& s, am number, F f) {
  return {s, number, std::make_unique<weft::detail::raw_inline_code<F>>(std::move(f))};
}

/// A call with its memory.
struct call_of_test {
  call_of_test(side& from, am number, std::size_t size, std::size_t room, fake::node to = 0)
      : out(pattern(size)),
        in(room),
        op(weft::raw_call_request{&from.to(to), number, const_buffer(out), mutable_buffer(in)}) {
    op.go();
  }
  bytes out;
  bytes in;
  calling op;
};

inline std::size_t call_echo_inline(const inline_call& c) {
  std::copy(c.data.begin(), c.data.end(), c.room.begin());
  return c.data.size();
}

/// Replies with the arguments.
inline task<void> call_echo(weft::call c) {
  bytes body(c.size());
  co_await c.recv(body);
  co_await c.reply(body);
}

/// Waits for a message of the caller, with that tag.
inline task<void> hear_caller(weft::call c, tag t) {
  std::byte word{};
  const weft::detail::peer_name from(weft::detail::internals::peer_of(c.from()));
  co_await weft::recv_request{nullptr, from, t, mutable_buffer(&word, 1)};
}

/// Waits for a message of the caller that does not come.
inline task<void> call_that_waits(weft::call c) { return hear_caller(c, tag{99}); }

/// Bytes of calls: without any, in one frame, in several, announced.
inline const std::vector<std::size_t> call_sizes{0, 8, 44, 5000, 8192, 60'000, 400'000};

inline fake::settings either_memory() {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  return s;
}

}  // namespace net
