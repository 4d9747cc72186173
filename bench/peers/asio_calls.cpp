// SPDX-License-Identifier: Apache-2.0
// Calls by Asio alone, as a program would write them that wants them fast: frames of a number, a
// length and bytes over a socket. One thread polls the io_context without ever sleeping. What one
// read has brought is answered by one write, in which the frames of all callers leave together.
#include <fmt/format.h>

#include <asio.hpp>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "peers/call_peer.hpp"

namespace {

using namespace weft::bench;
using asio::ip::tcp;

struct frame_header {
  std::uint64_t caller;
  std::uint64_t length;
};

/// The handlers of its io_context refer to it, so that context is not polled after its end.
class connection {
 public:
  using on_frame =
      std::function<void(connection&, std::uint64_t caller, std::span<const std::byte> data)>;

  connection(tcp::socket socket, std::size_t longest, on_frame act)
      : socket_(std::move(socket)),
        longest_(longest),
        act_(std::move(act)),
        in_((64 << 10) + 2 * longest) {
    socket_.set_option(tcp::no_delay(true));
    read();
  }

  /// Leaves with the next flush.
  void put(std::uint64_t caller, std::span<const std::byte> data) {
    const frame_header head{caller, data.size()};
    const auto* const bytes = reinterpret_cast<const std::byte*>(&head);
    out_.insert(out_.end(), bytes, bytes + sizeof head);
    out_.insert(out_.end(), data.begin(), data.end());
  }

  void flush() {
    if (!leaving_.empty() || out_.empty()) return;
    std::swap(out_, leaving_);
    asio::async_write(socket_, asio::buffer(leaving_), [this](asio::error_code error, std::size_t) {
      leaving_.clear();
      if (error) throw std::system_error(error);
      flush();
    });
  }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(in_.data() + end_, in_.size() - end_),
                            [this](asio::error_code error, std::size_t more) {
                              if (error == asio::error::eof) return;  // the callers have ended
                              if (error) throw std::system_error(error);
                              end_ += more;
                              take_frames();
                              flush();
                              read();
                            });
  }

  void take_frames() {
    std::size_t begin = 0;
    frame_header head{};
    while (end_ - begin >= sizeof head) {
      std::memcpy(&head, &in_[begin], sizeof head);
      if (head.length > longest_) throw std::runtime_error("a frame is longer than all calls");
      const std::size_t whole = sizeof head + head.length;
      if (end_ - begin < whole) break;
      act_(*this, head.caller, std::span(in_).subspan(begin + sizeof head, head.length));
      begin += whole;
    }
    std::memmove(in_.data(), in_.data() + begin, end_ - begin);
    end_ -= begin;
  }

  tcp::socket socket_;
  std::size_t longest_;
  on_frame act_;
  std::vector<std::byte> in_;
  std::size_t end_ = 0;
  std::vector<std::byte> out_;
  std::vector<std::byte> leaving_;
};

void serve(serving_side& side) {
  asio::io_context loop(1);
  tcp::acceptor listening(loop, {asio::ip::make_address(loopback), 0});
  side.listens_at(listening.local_endpoint().port());
  connection peer(listening.accept(), side.size(),
                  [](connection& from, std::uint64_t caller, std::span<const std::byte> data) {
                    from.put(caller, data);
                  });
  while (!side.ended()) loop.poll();
}

void ask(calling_side& side) {
  asio::io_context loop(1);
  tcp::socket socket(loop);
  socket.connect({asio::ip::make_address(loopback), side.port()});
  std::vector<std::size_t> left(side.callers());
  std::size_t calling = 0;
  connection peer(std::move(socket), side.size(),
                  [&](connection& to, std::uint64_t caller, std::span<const std::byte> data) {
                    side.take(caller, data);
                    if (--left.at(caller) == 0)
                      --calling;
                    else
                      to.put(caller, side.argument());
                  });
  side.measure([&](std::size_t each) {
    calling = left.size();
    for (std::size_t caller = 0; caller != left.size(); ++caller) {
      left[caller] = each;
      peer.put(caller, side.argument());
    }
    peer.flush();
    while (calling != 0) loop.poll();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return call_peer_main(argc, argv,
                        fmt::format("Asio {}.{}.{}", ASIO_VERSION / 100000,
                                    ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100),
                        serve, ask);
}
