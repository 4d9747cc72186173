// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/transport.hpp>

namespace datagram {

namespace wt = weft::transports;

inline constexpr std::uint32_t max_payload = 16 * 1024;

/// A socket in the epoll set of the transport.
class watched {
 public:
  /// The socket can be read or written. May destroy this object.
  virtual void on_event() noexcept = 0;

 protected:
  ~watched() = default;
};

/// The receiving end of a peer's link.
class incoming final : public watched {
 public:
  incoming(class datagram_transport& t, wt::frame_sink& to, weft::unique_fd socket) noexcept
      : transport_(t), to_(to), socket_(std::move(socket)) {}

  void on_event() noexcept override { take_frame(); }
  /// \return whether a frame was there and made sense
  bool take_frame() noexcept;
  int socket() const noexcept { return socket_.get(); }

 private:
  bool refuse() noexcept;

  datagram_transport& transport_;
  wt::frame_sink& to_;
  weft::unique_fd socket_;
  bool ended_ = false;  // nothing more comes
};

/// Both directions of a connection are made apart, each by its sender: `open` makes a pair of
/// sockets and offers the other end to the peer, whose `accept` takes it. Every frame is one
/// datagram: header, extension, payload. The kernel keeps their order and their borders, tells a
/// sender when there is room again, and wakes a receiver that sleeps.
///
/// Made, used and destroyed with the progress lock held: no lock is needed here.
class datagram_transport final : public weft::pollable, public wt::transport {
 public:
  /// \throws weft::error (system) when no descriptor is left
  explicit datagram_transport(wt::services& engine);

  // transport
  weft::pollable* poll_hook() noexcept override { return this; }
  const wt::traits& traits() const noexcept override;
  std::string reach(bool is_self) const override;
  std::unique_ptr<wt::link> open(wt::frame_sink& from, const wt::counterpart& who,
                                 wt::wireup_message& offer) override;
  std::string accept(wt::frame_sink& to, const wt::counterpart& who, wt::wireup_message offer,
                     wt::wireup_message& answer) override;
  bool drain_peer(wt::frame_sink& from) noexcept override;
  void forget(wt::frame_sink& from) noexcept override;
  std::string describe() const override;

  // pollable
  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  int handle() const noexcept override { return events_.get(); }
  void on_ready() noexcept override { ready_ = true; }

  // For links and incoming:
  /// One datagram at a time goes through each of them. Two, since frames are sent from within
  /// frame_sink::on_frame, while the received one is still being read.
  std::vector<std::byte>& outgoing_buffer() noexcept { return outgoing_buffer_; }
  std::vector<std::byte>& incoming_buffer() noexcept { return incoming_buffer_; }
  /// \return false: the kernel has no memory for it
  bool watch(int socket, std::uint32_t events, watched& w) noexcept;
  void unwatch(int socket) noexcept;
  /// The next pass tells the peer's frame sink: a link must not do so from within `send`.
  void lost(wt::frame_sink& peer) noexcept;
  void link_ended(wt::frame_sink& peer) noexcept;

 private:
  bool take_event() noexcept;

  wt::services& engine_;
  weft::unique_fd events_;  // an epoll set
  std::vector<std::byte> outgoing_buffer_, incoming_buffer_;
  std::unordered_map<const wt::frame_sink*, incoming> incoming_;
  std::vector<wt::frame_sink*> lost_;
  std::size_t links_ = 0;
  bool ready_ = false;  // the set was found readable
  unsigned passes_ = 0;
};

}  // namespace datagram
