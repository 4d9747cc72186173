// SPDX-License-Identifier: Apache-2.0
#include "counted/counted_loops.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <stdexcept>

#include <weft/weft.hpp>

#include "counted/c_loops.hpp"
#include "counted/turns.hpp"

namespace weft::bench {
namespace {

constexpr unsigned window = 64;
constexpr unsigned windows = 20;
constexpr unsigned singles = 200;
// At the beginning: memory is still allocated, and the progress lock has no bias (docs/adr/0001).
constexpr unsigned uncounted_windows = 40;
constexpr unsigned uncounted_singles = 1500;
constexpr unsigned uncounted =
    5;  // windows or messages at the beginning: memory is still allocated
constexpr tag data{counted_data};
constexpr tag acknowledgement{counted_ack};

using message = std::array<std::byte, 8>;

/// What one side's thread works with.
struct place {
  endpoint peer;
  turns& turn;
  int side;
  bool counts;
};

task<void> send_windows(place at) {
  std::array<message, window> out{};
  message ack{};
  scope sends;
  for (unsigned w = 0; w < uncounted_windows + windows; ++w) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && w >= uncounted_windows);
      if (w != 0) co_await at.peer.recv(ack, acknowledgement);
      for (message& one : out) sends.start(at.peer.send(one, data));
      co_await sends.join();
    }
    at.turn.pass(at.side);
  }
}

task<void> receive_windows(place at) {
  std::array<message, window> in{};
  std::array<received, window> got{};
  message ack{};
  scope receives;
  for (unsigned w = 0; w < uncounted_windows + windows; ++w) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && w >= uncounted_windows);
      for (unsigned i = 0; i < window; ++i)
        receives.start(at.peer.recv(in[i], data), [&g = got[i]](const received& r) { g = r; });
      co_await receives.join();
      co_await at.peer.send(ack, acknowledgement);
    }
    at.turn.pass(at.side);
  }
}

/// As send_windows, and receive_windows, with a value of the same size.
task<void> send_values(place at) {
  std::array<std::uint64_t, window> out{};
  message ack{};
  scope sends;
  for (unsigned w = 0; w < uncounted_windows + windows; ++w) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && w >= uncounted_windows);
      if (w != 0) co_await at.peer.recv(ack, acknowledgement);
      for (const std::uint64_t& one : out) sends.start(at.peer.send_value(data, one));
      co_await sends.join();
    }
    at.turn.pass(at.side);
  }
}

task<void> receive_values(place at) {
  std::array<std::uint64_t, window> in{};
  message ack{};
  scope receives;
  for (unsigned w = 0; w < uncounted_windows + windows; ++w) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && w >= uncounted_windows);
      for (std::uint64_t& one : in)
        receives.start(at.peer.recv_value<std::uint64_t>(data),
                       [&one](std::uint64_t value) { one = value; });
      co_await receives.join();
      co_await at.peer.send(ack, acknowledgement);
    }
    at.turn.pass(at.side);
  }
}

task<void> send_batches(place at) {
  std::array<message, window> out{};
  std::array<const_buffer, window> list;
  std::copy(out.begin(), out.end(), list.begin());
  message ack{};
  for (unsigned w = 0; w < uncounted_windows + windows; ++w) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && w >= uncounted_windows);
      if (w != 0) co_await at.peer.recv(ack, acknowledgement);
      co_await at.peer.send_many(list, data);
    }
    at.turn.pass(at.side);
  }
}

task<void> receive_batches(place at) {
  std::array<message, window> in{};
  std::array<mutable_buffer, window> list;
  std::copy(in.begin(), in.end(), list.begin());
  std::array<received, window> got{};
  message ack{};
  for (unsigned w = 0; w < uncounted_windows + windows; ++w) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && w >= uncounted_windows);
      co_await at.peer.recv_many(list, data, got);
      co_await at.peer.send(ack, acknowledgement);
    }
    at.turn.pass(at.side);
  }
}

/// Side 0 sends first. A message that is counted is a receive and a send.
task<void> exchange_singles(place at) {
  message out{};
  message in{};
  for (unsigned i = 0; i < uncounted_singles + singles; ++i) {
    at.turn.wait(at.side);
    {
      const counting now(at.counts && i >= uncounted_singles);
      if (i != 0 || at.side != 0) co_await at.peer.recv(in, data);
      co_await at.peer.send(out, data);
    }
    at.turn.pass(at.side);
  }
}

using part = task<void> (*)(place);

/// Runs `parts[0]` in one context and `parts[1]` in another, each on a thread.
void converse(const std::array<part, 2>& parts, int counted_side) {
  options chosen = options::from_environment();
  chosen.progress = progress_mode::polling;
  const std::string address = fmt::format("unix://weft-bench-counted-{}", ::getpid());
  turns turn;
  context first(chosen);
  listener listening = run(first, first.listen(address));
  auto other = std::async(std::launch::async, [&] {
    context second(chosen);
    const endpoint peer = run(second, second.connect(address));
    run(second, parts[1](place{peer, turn, 1, counted_side == 1}));
  });
  const endpoint peer = run(first, listening.accept());
  run(first, parts[0](place{peer, turn, 0, counted_side == 0}));
  other.get();
}

}  // namespace

const std::vector<counted_loop>& counted_loops() {
  static const std::vector<counted_loop> all{
      {"send", "window, send", window * windows},
      {"receive", "window, receive", window * windows},
      {"send-many", "window, send_many", window * windows},
      {"receive-many", "window, recv_many", window * windows},
      {"send-value", "window, send_value", window * windows},
      {"receive-value", "window, recv_value", window * windows},
      {"single", "single, receive and send", singles},
      {"c-send", "weft.h window, send", window * windows},
      {"c-receive", "weft.h window, receive", window * windows},
  };
  return all;
}

void run_counted(const std::string& name) {
  const c_windows by_c{window, windows, uncounted_windows};
  if (name == "send") return converse({send_windows, receive_windows}, 0);
  if (name == "receive") return converse({send_windows, receive_windows}, 1);
  if (name == "send-many") return converse({send_batches, receive_batches}, 0);
  if (name == "receive-many") return converse({send_batches, receive_batches}, 1);
  if (name == "send-value") return converse({send_values, receive_values}, 0);
  if (name == "receive-value") return converse({send_values, receive_values}, 1);
  if (name == "single") return converse({exchange_singles, exchange_singles}, 1);
  if (name == "c-send") return run_in_c(by_c, 0);
  if (name == "c-receive") return run_in_c(by_c, 1);
  throw std::invalid_argument(fmt::format("there is no counted loop {}", name));
}

}  // namespace weft::bench
