// SPDX-License-Identifier: Apache-2.0
// A peer with frames that the test itself delivers, piece by piece, as a transport does.
#pragma once

#include "net.hpp"
#include "proto/select/select.hpp"
#include "support/silent_link.hpp"

namespace net {

/// The extension of an RTS: the message's number, and its size.
constexpr std::uint64_t numbered(std::uint64_t id, std::uint64_t size = 1) {
  return id << 48 | size;
}

/// A link to a peer that reads as many frames as the test permits, and answers nothing.
class swallowing_link final : public weft::tests::silent_link {
 public:
  explicit swallowing_link(std::size_t& room) noexcept : silent_link(kind), room_(room) {}
  weft::transports::post send(const weft::proto::frame_header& h,
                              const weft::proto::frame_extension* x,
                              weft::transports::gather& data) noexcept override {
    if (room_ == 0) return weft::transports::post::busy;
    --room_;
    return silent_link::send(h, x, data);
  }

 private:
  static constexpr weft::transports::traits kind{
      .name = "swallowing", .max_payload = 64 * 1024, .fragment = 64 * 1024};
  std::size_t& room_;
};

/// Node 0, and frames that come to it from node 2 by any number of transports.
struct frame_sink_attack {
  nodes n;
  std::unique_ptr<weft::transports::link> keeps_wire;
  const bytes junk = pattern(64u << 10);

  explicit frame_sink_attack(fake::settings s = {},
                             weft::proto::messenger_settings m = {8u << 20, 64u << 10})
      : n(3, s, m), keeps_wire(n.raw_link(2, 0)) {}

  peer& villain() { return n[0].to(2); }

  /// From now on frames to node 2 are lost, and so many more can be sent.
  void swallow(std::size_t frames) {
    peer& to = villain();
    const engine::holder hold(n[0].engine);
    room = frames;
    if (to.connection().link())
      static_cast<weft::transports::frame_sink&>(to).on_writable();
    else
      to.opened(std::make_unique<swallowing_link>(room), weft::proto::credit_reserve);
  }
  std::size_t room = 0;

  static weft::proto::frame_header head(weft::proto::frame_kind kind, std::uint32_t size,
                                        std::uint8_t flags = 0) {
    return weft::proto::header_of(kind, 5, size, flags);
  }

  /// Part of a frame has come; the rest is awaited.
  weft::mutable_buffer place(weft::proto::frame_header h, const weft::proto::frame_extension* x,
                             std::uint32_t already = 0) {
    weft::transports::frame_sink& to = villain();
    const engine::holder hold(n[0].engine);
    return to.place(h, x, already);
  }

  /// A frame is complete. \return whether it was valid
  bool frame(weft::proto::frame_header h, const weft::proto::frame_extension* x,
             bool placed = false) {
    weft::transports::frame_sink& to = villain();
    const engine::holder hold(n[0].engine);
    if (to.on_frame(h, x, placed ? nullptr : junk.data())) return true;
    to.on_broken(errc::protocol_error);
    return false;
  }
  bool frame(weft::proto::frame_kind kind, std::uint32_t size, std::uint8_t flags,
             weft::proto::frame_extension x) {
    return frame(head(kind, size, flags | weft::transports::has_extension), &x);
  }
};

}  // namespace net
