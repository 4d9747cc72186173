// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/port.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/tcp/socket.hpp"

namespace weft::transports::tcp {

namespace {

// Between long frames: the next header, and few bytes that would have to be copied.
constexpr std::size_t bytes_per_read_in_bulk = 4 * 1024;
// For shorter rests copying costs no more than asking for a place.
constexpr std::uint32_t shortest_placed = 2 * 1024;
// No correct peer says more in what one read brings.
constexpr std::uint32_t most_answers = 0xffff;

}  // namespace

/// \return whether bytes came
bool port::heard(ssize_t n) noexcept {
  if (n > 0) return true;
  if (n == 0 || errno == ECONNRESET || errno == EPIPE || errno == ENOTCONN)
    state_ = state::ended;
  else if (errno == EPROTO)
    state_ = state::broken;
  else if (errno != EAGAIN && errno != EINTR)
    state_ = state::lost;
  return false;
}

bool port::read(stream_socket& from, frame_sink& to, std::span<std::byte> scratch) noexcept {
  if (placing_) return read_placed(from, to, scratch);
  const std::size_t kept = kept_.size();
  const std::size_t most = bulk_ ? bytes_per_read_in_bulk : bytes_per_read;
  iovec part{scratch.data() + kept, most};
  const ssize_t n = from.read({&part, 1});
  if (!heard(n)) return state_ != state::open;
  if (kept != 0) std::memcpy(scratch.data(), kept_.data(), kept);
  kept_.clear();
  bulk_ = false;
  parse(from.fd(), scratch.first(kept + static_cast<std::size_t>(n)), to);
  return true;
}

void port::parse(int fd, std::span<const std::byte> bytes, frame_sink& to) noexcept {
  while (bytes.size() >= sizeof(frame_header)) {
    frame_header h;
    frame_extension x{};
    std::memcpy(&h, bytes.data(), sizeof h);
    const std::size_t head = sizeof h + extension_size(h);
    if (h.size > (is_own(h) ? max_write : max_payload)) {
      state_ = state::broken;
      return;
    }
    if (bytes.size() < head) break;
    if (is_own(h)) {
      bytes = bytes.subspan(head);
      if (!take_own(fd, h, bytes)) state_ = state::broken;
      if (placing_ || state_ != state::open) return;
      continue;
    }
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

/// Takes a frame of the transport's own: of a `write` the beginning, and has the rest read to its
/// destination.
/// \param there what was read behind its header; moves on to the next one
/// \return whether it makes sense
bool port::take_own(int fd, const frame_header& h, std::span<const std::byte>& there) noexcept {
  if (h.kind == static_cast<std::uint8_t>(own_kind::have_read))
    return h.size == 0 && h.flags == 0 && h.tag <= most_answers &&
           answers_.on_read_by_peer(static_cast<std::uint32_t>(h.tag));
  const remote_address where = remote_address::unpack(h.tag);
  if (h.kind != static_cast<std::uint8_t>(own_kind::write) || (h.flags & ~asks_when_read) != 0 ||
      h.size == 0 || !expected_.allows(where, h.size))
    return false;
  const std::size_t n = std::min<std::size_t>(there.size(), h.size);
  const mutable_buffer into = expected_.at(where, n);
  if (!into.empty()) std::memcpy(into.data(), there.data(), into.size());
  there = there.subspan(n);
  header_ = h;
  placed_ = static_cast<std::uint32_t>(n);
  placing_ = n != h.size;
  if (!placing_ && !end_write(fd)) there = {};
  return true;
}

/// All bytes of a write have come. Lent memory may belong to something else again once its sender
/// has broken the connection off, and these bytes may have been read after that.
/// \return false: nothing that comes counts any more
bool port::end_write(int fd) noexcept {
  if ((header_.flags & asks_when_read) == 0) return true;
  ++owed_;
  if (!is_reset(fd)) return true;
  state_ = state::ended;
  return false;
}

/// Where the next bytes of the frame that is being read belong; empty: nowhere.
mutable_buffer port::next_place(frame_sink& to) noexcept {
  if (!is_own(header_)) return to.place(header_, extension_of(header_, extension_), placed_);
  remote_address where = remote_address::unpack(header_.tag);
  where.offset += placed_;
  const std::size_t left = header_.size - placed_;
  // The number may belong to other, smaller memory by now.
  return expected_.allows(where, left) ? expected_.at(where, left) : mutable_buffer{};
}

/// Reads directly to the destination; bytes that no longer have one are read and dropped.
bool port::read_placed(stream_socket& from, frame_sink& to, std::span<std::byte> scratch) noexcept {
  const std::size_t left = header_.size - placed_;
  const std::span<std::byte> behind = scratch.last(bytes_per_read_in_bulk);
  mutable_buffer into = next_place(to);
  if (into.empty()) into = scratch.first(scratch.size() - behind.size());
  iovec parts[2];
  std::size_t count = 1;
  parts[0] = {into.data(), std::min(into.size(), left)};
  if (parts[0].iov_len == left) parts[count++] = {behind.data(), behind.size()};
  const ssize_t n = from.read({parts, count});
  if (!heard(n)) return state_ != state::open;
  const std::size_t got = static_cast<std::size_t>(n);
  placed_ += static_cast<std::uint32_t>(std::min(got, parts[0].iov_len));
  if (placed_ != header_.size) return true;
  placing_ = false;
  bulk_ = true;
  if (is_own(header_)) {
    if (!end_write(from.fd())) return true;
  } else if (!to.on_frame(header_, extension_of(header_, extension_), nullptr)) {
    state_ = state::broken;
    return true;
  }
  if (got > left) parse(from.fd(), behind.first(got - left), to);
  return true;
}

void port::rest() noexcept {
  if (kept_.empty()) std::vector<std::byte>().swap(kept_);
}

}  // namespace weft::transports::tcp
