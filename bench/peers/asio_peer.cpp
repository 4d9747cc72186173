// SPDX-License-Identifier: Apache-2.0
// Messages by Asio alone: coroutines over a socket, a length in front of each message. One thread,
// which polls the io_context without ever sleeping. It batches where possible: a window leaves with
// one gathering write, and small messages are cut out of a buffer that one read has filled.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "peers/pair_peer.hpp"
#include "support/clock.hpp"

namespace {

using namespace weft::bench;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

/// The header of each message.
using length_word = std::uint64_t;

class connection {
 public:
  explicit connection(tcp::socket socket) : socket_(std::move(socket)) {
    socket_.set_option(tcp::no_delay(true));
  }

  /// Sends all of them at once. They stay unchanged until the end.
  awaitable<void> send(const std::vector<std::span<std::byte>>& messages) {
    lengths_.resize(messages.size());
    pieces_.clear();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      lengths_[i] = messages[i].size();
      pieces_.push_back(asio::buffer(&lengths_[i], sizeof(length_word)));
      pieces_.push_back(asio::buffer(messages[i].data(), messages[i].size()));
    }
    co_await asio::async_write(socket_, pieces_, use_awaitable);
  }

  /// Fills `box`. Throws std::runtime_error when a message of another length comes.
  awaitable<void> receive(std::span<std::byte> box) {
    while (end_ - begin_ < sizeof(length_word)) co_await fill();
    length_word length = 0;
    std::memcpy(&length, &buffer_[begin_], sizeof length);
    begin_ += sizeof length;
    if (length != box.size())
      throw std::runtime_error(
          fmt::format("a message of {} bytes came with {}", box.size(), length));
    const std::size_t here = std::min(box.size(), end_ - begin_);
    std::memcpy(box.data(), &buffer_[begin_], here);
    begin_ += here;
    if (here != box.size())
      co_await asio::async_read(socket_, asio::buffer(box.data() + here, box.size() - here),
                                use_awaitable);
  }

 private:
  awaitable<void> fill() {
    std::memmove(buffer_.data(), &buffer_[begin_], end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    end_ += co_await socket_.async_read_some(
        asio::buffer(buffer_.data() + end_, buffer_.size() - end_), use_awaitable);
  }

  tcp::socket socket_;
  std::vector<length_word> lengths_;
  std::vector<asio::const_buffer> pieces_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(64 << 10);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

awaitable<void> latency(connection& peer, pair_side& side) {
  const plan loops = side.loops();
  heap_buffers out(1, side.size);
  heap_buffers in(1, side.size);
  fill_all(out);
  const std::vector<std::span<std::byte>> message{out[0]};
  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) -> awaitable<void> {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      if (side.rank() == 0) {
        stamp(message[0], n);
        co_await peer.send(message);
      }
      co_await peer.receive(in[0]);
      check_stamp(in[0], n);
      if (side.rank() == 1) {
        stamp(message[0], n);
        co_await peer.send(message);
      }
    }
  };
  co_await round_trips(loops.warm_up);
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await round_trips(loops.per_batch);
    if (side.rank() == 0)
      side.me.report(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
  }
  verify_all(in, n);
}

awaitable<void> windows(connection& peer, pair_side& side) {
  const plan loops = side.loops();
  const std::size_t window = side.what.window;
  heap_buffers buffers(side.what.buffer_count(), side.size);
  if (side.rank() == 0) fill_all(buffers);
  std::vector<std::span<std::byte>> boxes(window);
  std::array<std::byte, 8> ack{};
  const std::vector<std::span<std::byte>> acknowledgement{ack};
  std::uint64_t n = 0;
  const auto run_windows = [&](std::size_t count) -> awaitable<void> {
    for (std::size_t w = 0; w < count; ++w, n += window) {
      for (std::size_t i = 0; i < window; ++i) {
        boxes[i] = buffers.next();
        if (side.rank() == 0)
          stamp(boxes[i], n + i);
        else
          co_await peer.receive(boxes[i]);
      }
      if (side.rank() == 0) {
        co_await peer.send(boxes);
        co_await peer.receive(ack);
      } else {
        for (std::size_t i = 0; i < window; ++i) check_stamp(boxes[i], n + i);
        co_await peer.send(acknowledgement);
      }
    }
  };
  co_await run_windows(loops.warm_up);
  const auto messages = static_cast<double>(loops.per_batch * window);
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await run_windows(loops.per_batch);
    if (side.rank() == 0) side.me.report(messages / us_between(start, now_ns()));
  }
  if (side.rank() == 1) verify_all(buffers, n);
}

awaitable<void> act(pair_side& side) {
  const auto executor = co_await asio::this_coro::executor;
  tcp::socket socket(executor);
  if (side.rank() == 0) {
    tcp::acceptor listening(executor, {asio::ip::make_address(side.host), 0});
    side.tell(listening.local_endpoint().port());
    socket = co_await listening.async_accept(use_awaitable);
  } else {
    co_await socket.async_connect({asio::ip::make_address(side.host), side.told()}, use_awaitable);
  }
  connection peer(std::move(socket));
  if (side.what.bench == "latency")
    co_await latency(peer, side);
  else
    co_await windows(peer, side);
}

void measure(pair_side& side) {
  asio::io_context loop(1);
  std::exception_ptr failure;
  bool done = false;
  asio::co_spawn(loop, act(side), [&](std::exception_ptr error) {
    failure = error;
    done = true;
  });
  while (!done) loop.poll();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv) {
  return pair_peer_main(argc, argv,
                        fmt::format("Asio {}.{}.{}", ASIO_VERSION / 100000,
                                    ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100),
                        measure);
}
