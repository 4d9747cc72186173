// SPDX-License-Identifier: Apache-2.0
// The other end of a TCP connection writes arbitrary bytes, in pieces of any length, and hangs up.
// Every delivered payload lies where it was read, every placed payload lies where this side said,
// and after the first broken rule no more frames are delivered.
#include <fcntl.h>
#include <sys/socket.h>

#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "target.hpp"
#include "transports/tcp/port.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using namespace transports::tcp;

/// Checks all that is delivered, and has some of the payloads placed in its own memory.
class listener final : public frame_sink, public answer_sink {
 public:
  listener(std::span<const std::byte> scratch, std::uint8_t manner)
      : scratch_(scratch), manner_(manner) {}
  unsigned sum = 0;
  bool refused = false;

  mutable_buffer place(const frame_header& h, const frame_extension* x,
                       std::uint32_t already) noexcept override {
    look(h, x);
    check(already < h.size || h.size == 0, "there is more to come of a frame that is asked about");
    if (already == 0) {
      places_ = (h.kind & 1) != 0;
      own_.assign(h.size, std::byte{0});  // no longer than a frame may be: detects a write beyond
    }
    // A receive that ends in the middle has no place for the rest.
    if ((manner_ & 1) != 0 && already > h.size / 2) places_ = false;
    if (!places_) return {};
    const std::size_t most = (manner_ & 2) != 0 ? 5000 : h.size;
    return mutable_buffer(own_).subspan(already, std::min<std::size_t>(most, h.size - already));
  }
  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    look(h, x);
    if (payload) {
      check(payload >= scratch_.data() && payload + h.size <= scratch_.data() + scratch_.size(),
            "a payload lies where it was read");
      for (std::size_t i = 0; i < h.size; ++i) sum += static_cast<unsigned>(payload[i]);
    } else {
      check(own_.size() == h.size, "a placed frame is the one that was asked about");
    }
    refused = h.kind == 0xef;
    return !refused;
  }
  /// As if few writes had been lent.
  bool on_read_by_peer(std::uint32_t writes) noexcept override {
    refused = writes > lent_;
    if (!refused) lent_ -= writes;
    return !refused;
  }
  void on_writable() noexcept override { check(false, "a port knows of no room"); }
  void on_broken(errc) noexcept override { check(false, "its owner tells"); }

 private:
  void look(const frame_header& h, const frame_extension* x) {
    check(!refused, "nothing comes after a frame that was refused");
    check(h.size <= max_payload, "a frame has its limit");
    check(!is_own(h), "the protocol layer gets no frames of the transport's own");
    check((x != nullptr) == ((h.flags & has_extension) != 0), "an extension comes when announced");
  }

  std::span<const std::byte> scratch_;
  const std::uint8_t manner_;
  std::vector<std::byte> own_;
  bool places_ = false;
  std::uint32_t lent_ = 100;
};

struct stage {
  stream_socket ours;
  unique_fd theirs;
  std::vector<std::byte> scratch = std::vector<std::byte>(port::scratch_bytes);
  listener to;
  port in{to};
  // What the other end may write to: a write beyond its end would be found.
  std::vector<std::byte> expected = std::vector<std::byte>(70'000);

  explicit stage(std::uint8_t manner) : to(scratch, manner) {
    int both[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0, "there are sockets");
    ours = stream_socket(unique_fd(both[0]));
    theirs = unique_fd(both[1]);
    in.expected().add(expected);
    in.expected().add(std::span(expected).first(manner));
    if ((manner & 4) != 0) in.expected().withdraw({2, 0});
  }
  void read() {
    while (in.now() == port::state::open && in.read(ours, to, scratch)) continue;
    check(!to.refused || in.now() == port::state::broken, "a refused frame breaks the connection");
  }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty() && in.now() == port::state::open) {
      const ssize_t n = ::send(theirs.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n > 0) bytes = bytes.subspan(static_cast<std::size_t>(n));
      if (!bytes.empty()) read();
    }
  }
  /// So many bytes of a payload; the input need not have that many.
  void fill(std::size_t n) { write(std::vector<std::byte>(n, std::byte{0x5a})); }
};

}  // namespace

void run(input in) {
  stage s(in.get<std::uint8_t>());
  while (!in.empty() && s.in.now() == port::state::open) {
    switch (in.get<std::uint8_t>() % 5) {
      case 0:
        s.write(in.bytes(in.get<std::uint8_t>()));
        break;
      case 1: {  // a frame that makes sense, so that others come behind it
        frame_header h = in.get<frame_header>();
        h.size %= max_payload + 1;
        if (is_own(h) && (h.tag & 1) != 0) {  // a write that is allowed, mostly
          h.tag =
              remote_address{static_cast<std::uint16_t>(1 + h.credit % 3), h.size % 128}.packed();
          h.flags &= asks_when_read;
        }
        s.write(std::as_bytes(std::span(&h, 1)));
        if ((h.flags & has_extension) != 0) s.write(in.bytes(sizeof(frame_extension)));
        break;
      }
      case 2:
        s.fill(in.get<std::uint8_t>() * 1024u);
        break;
      case 3:
        s.in.rest();
        s.in.take_owed();
        break;
      default:
        s.read();
    }
  }
  s.theirs = {};
  s.read();
  check(s.in.now() != port::state::open, "the end is noticed");
}

}  // namespace weft::fuzz
