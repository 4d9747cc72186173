// SPDX-License-Identifier: Apache-2.0
#include "link.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace datagram {

datagram_link::~datagram_link() {
  if (waits_) transport_.unwatch(socket_.get());
  transport_.link_ended(peer_);
}

wt::post datagram_link::send(const wt::frame_header& header, const wt::frame_extension* extension,
                             wt::gather& data) noexcept {
  if (waits_) return wt::post::busy;
  std::byte* const buffer = transport_.outgoing_buffer().data();
  const std::size_t more = wt::extension_size(header);
  std::memcpy(buffer, &header, sizeof header);
  if (more != 0) std::memcpy(buffer + sizeof header, extension, more);
  // `data` may move on only if the frame is taken.
  wt::gather payload = data;
  wt::copy_out(buffer + sizeof header + more, payload, header.size);
  if (::send(socket_.get(), buffer, sizeof header + more + header.size,
             MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    return refused(errno);
  data = payload;
  return wt::post::done;
}

/// No room, or no memory for now: the frame comes again after on_writable. Else the peer has gone.
wt::post datagram_link::refused(int error) noexcept {
  const bool later = error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR;
  if (later && transport_.watch(socket_.get(), EPOLLOUT, *this)) {
    waits_ = true;
    return wt::post::busy;
  }
  transport_.lost(peer_);
  return wt::post::failed;
}

void datagram_link::on_event() noexcept {
  waits_ = false;
  transport_.unwatch(socket_.get());
  peer_.on_writable();
}

}  // namespace datagram
