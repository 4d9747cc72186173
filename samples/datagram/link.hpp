// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport.hpp"

namespace datagram {

/// The way out to one peer. Owned by weft, which destroys it before the transport.
class datagram_link final : public wt::link, public watched {
 public:
  datagram_link(datagram_transport& t, wt::frame_sink& peer, weft::unique_fd socket) noexcept
      : wt::link(t.traits()), transport_(t), peer_(peer), socket_(std::move(socket)) {}
  ~datagram_link() override;

  std::string opened(wt::wireup_message) override { return {}; }
  wt::post send(const wt::frame_header& header, const wt::frame_extension* extension,
                wt::gather& data) noexcept override;
  /// What was sent is in the kernel, which wakes the peer.
  bool unconsumed() const noexcept override { return false; }

  /// There is room again.
  void on_event() noexcept override;

 private:
  wt::post refused(int error) noexcept;

  datagram_transport& transport_;
  wt::frame_sink& peer_;
  weft::unique_fd socket_;
  bool waits_ = false;  // for room
};

}  // namespace datagram
