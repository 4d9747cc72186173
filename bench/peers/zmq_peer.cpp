// SPDX-License-Identifier: Apache-2.0
// Messages by ZeroMQ: a pair of PAIR sockets over TCP. The application's thread and one I/O thread,
// on one core like the helper threads of all contestants, so calls block: spinning would keep the
// I/O thread from running. zmq_send and zmq_recv copy, as for every application that owns its
// buffers.
#include <fmt/format.h>
#include <zmq.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "peers/pair_peer.hpp"
#include "support/clock.hpp"

namespace {

using namespace weft::bench;

[[noreturn]] void fail(const char* call) {
  throw std::runtime_error(fmt::format("{}: {}", call, zmq_strerror(zmq_errno())));
}

class connection {
 public:
  explicit connection(pair_side& side)
      : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_PAIR)) {
    if (!socket_) fail("zmq_socket");
    // No limit on queued messages: the window is the limit. No message is kept back at the end.
    for (const int option : {ZMQ_SNDHWM, ZMQ_RCVHWM, ZMQ_LINGER}) {
      const int none = 0;
      zmq_setsockopt(socket_, option, &none, sizeof none);
    }
    if (side.rank() == 0) {
      if (zmq_bind(socket_, fmt::format("tcp://{}:*", side.host).c_str()) != 0) fail("zmq_bind");
      std::array<char, 128> where{};
      std::size_t length = where.size();
      if (zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, where.data(), &length) != 0)
        fail("zmq_getsockopt");
      const std::string text(where.data());
      side.tell(static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1))));
    } else if (zmq_connect(socket_, fmt::format("tcp://{}:{}", side.host, side.told()).c_str()) !=
               0) {
      fail("zmq_connect");
    }
  }
  ~connection() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void send(std::span<const std::byte> message) {
    if (zmq_send(socket_, message.data(), message.size(), 0) < 0) fail("zmq_send");
  }
  void receive(std::span<std::byte> box) {
    const int got = zmq_recv(socket_, box.data(), box.size(), 0);
    if (got < 0) fail("zmq_recv");
    if (static_cast<std::size_t>(got) != box.size())
      throw std::runtime_error(fmt::format("a message of {} bytes came with {}", box.size(), got));
  }

 private:
  void* context_;
  void* socket_;
};

void latency(connection& peer, pair_side& side) {
  const plan loops = side.loops();
  heap_buffers out(1, side.size);
  heap_buffers in(1, side.size);
  fill_all(out);
  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      if (side.rank() == 0) {
        stamp(out[0], n);
        peer.send(out[0]);
      }
      peer.receive(in[0]);
      check_stamp(in[0], n);
      if (side.rank() == 1) {
        stamp(out[0], n);
        peer.send(out[0]);
      }
    }
  };
  round_trips(loops.warm_up);
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    round_trips(loops.per_batch);
    if (side.rank() == 0)
      side.me.report(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
  }
  verify_all(in, n);
}

void windows(connection& peer, pair_side& side) {
  const plan loops = side.loops();
  const std::size_t window = side.what.window;
  heap_buffers buffers(side.what.buffer_count(), side.size);
  if (side.rank() == 0) fill_all(buffers);
  std::array<std::byte, 8> ack{};
  std::uint64_t n = 0;
  const auto run_windows = [&](std::size_t count) {
    for (std::size_t w = 0; w < count; ++w) {
      for (std::size_t i = 0; i < window; ++i, ++n) {
        const auto buffer = buffers.next();
        if (side.rank() == 0) {
          stamp(buffer, n);
          peer.send(buffer);
        } else {
          peer.receive(buffer);
          check_stamp(buffer, n);
        }
      }
      if (side.rank() == 0)
        peer.receive(ack);
      else
        peer.send(ack);
    }
  };
  run_windows(loops.warm_up);
  const auto messages = static_cast<double>(loops.per_batch * window);
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    run_windows(loops.per_batch);
    if (side.rank() == 0) side.me.report(messages / us_between(start, now_ns()));
  }
  if (side.rank() == 1) verify_all(buffers, n);
}

void measure(pair_side& side) {
  connection peer(side);
  if (side.what.bench == "latency")
    latency(peer, side);
  else
    windows(peer, side);
  side.me.barrier();  // both sides have all messages: nothing lingers
}

}  // namespace

int main(int argc, char** argv) {
  int major = 0, minor = 0, patch = 0;
  zmq_version(&major, &minor, &patch);
  return pair_peer_main(argc, argv, fmt::format("ZeroMQ {}.{}.{}", major, minor, patch), measure);
}
