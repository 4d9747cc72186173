// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/port.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::transports::tcp {

namespace {

// Between long frames: the next header, and few bytes that would have to be copied.
constexpr std::size_t bytes_per_read_in_bulk = 4 * 1024;
// For shorter rests copying costs no more than asking for a place.
constexpr std::uint32_t shortest_placed = 2 * 1024;
}  // namespace

/// \return whether bytes came
bool port::heard(ssize_t n) noexcept {
  if (n > 0) return true;
  if (n == 0 || errno == ECONNRESET || errno == EPIPE || errno == ENOTCONN)
    state_ = state::ended;
  else if (errno != EAGAIN && errno != EINTR)
    state_ = state::lost;
  return false;
}

bool port::read(int fd, frame_sink& to, std::span<std::byte> scratch) noexcept {
  if (placing_) return read_placed(fd, to, scratch);
  const std::size_t kept = kept_.size();
  const std::size_t most = bulk_ ? bytes_per_read_in_bulk : bytes_per_read;
  const ssize_t n = ::recv(fd, scratch.data() + kept, most, MSG_DONTWAIT);
  if (!heard(n)) return state_ != state::open;
  if (kept != 0) std::memcpy(scratch.data(), kept_.data(), kept);
  kept_.clear();
  bulk_ = false;
  parse(scratch.first(kept + static_cast<std::size_t>(n)), to);
  return true;
}

void port::parse(std::span<const std::byte> bytes, frame_sink& to) noexcept {
  while (bytes.size() >= sizeof(frame_header)) {
    frame_header h;
    frame_extension x{};
    std::memcpy(&h, bytes.data(), sizeof h);
    const std::size_t head = sizeof h + extension_size(h);
    if (h.size > max_payload) {
      state_ = state::broken;
      return;
    }
    if (bytes.size() < head) break;
    std::memcpy(&x, bytes.data() + sizeof h, head - sizeof h);
    const frame_extension* const extension = extension_of(h, x);
    const std::span<const std::byte> there = bytes.subspan(head);
    if (there.size() < h.size) {
      if (begin_placing(h, extension, there, to)) return;
      break;
    }
    if (!to.on_frame(h, extension, there.data())) {
      state_ = state::broken;
      return;
    }
    bytes = there.subspan(h.size);
  }
  try {
    kept_.assign(bytes.begin(), bytes.end());
  } catch (const std::bad_alloc&) {
    state_ = state::starved;
  }
}

/// Part of a frame has come: has the rest read to its destination, if there is one.
bool port::begin_placing(const frame_header& h, const frame_extension* x,
                         std::span<const std::byte> there, frame_sink& to) noexcept {
  if (h.size - there.size() < shortest_placed) return false;
  mutable_buffer into = to.place(h, x, 0);
  if (into.empty()) return false;
  placing_ = true;
  header_ = h;
  if (x) extension_ = *x;
  placed_ = 0;
  while (!there.empty()) {
    const std::size_t n = into.empty() ? there.size() : std::min(into.size(), there.size());
    if (!into.empty()) std::memcpy(into.data(), there.data(), n);
    placed_ += static_cast<std::uint32_t>(n);
    there = there.subspan(n);
    into = to.place(h, x, placed_);
  }
  return true;
}

/// Reads directly to the destination; bytes that no longer have one are read and dropped.
bool port::read_placed(int fd, frame_sink& to, std::span<std::byte> scratch) noexcept {
  const frame_extension* const x = extension_of(header_, extension_);
  const std::size_t left = header_.size - placed_;
  const mutable_buffer into = to.place(header_, x, placed_);
  iovec parts[2];
  std::size_t count = 1;
  parts[0] =
      into.empty() ? iovec{scratch.data(), left} : iovec{into.data(), std::min(into.size(), left)};
  const std::span<std::byte> behind = scratch.last(bytes_per_read_in_bulk);
  if (parts[0].iov_len == left) parts[count++] = {behind.data(), behind.size()};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  const ssize_t n = ::recvmsg(fd, &message, MSG_DONTWAIT);
  if (!heard(n)) return state_ != state::open;
  const std::size_t got = static_cast<std::size_t>(n);
  placed_ += static_cast<std::uint32_t>(std::min(got, parts[0].iov_len));
  if (placed_ != header_.size) return true;
  placing_ = false;
  bulk_ = true;
  if (!to.on_frame(header_, x, nullptr)) {
    state_ = state::broken;
    return true;
  }
  if (got > left) parse(behind.first(got - left), to);
  return true;
}

void port::rest() noexcept {
  if (kept_.empty()) std::vector<std::byte>().swap(kept_);
}

}  // namespace weft::transports::tcp
