// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "transports/tcp/peer_backlog.hpp"
#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

namespace {

// A burst is written whenever this many bytes have gathered: the receiver works on them while more
// gather.
constexpr std::size_t bytes_per_write = 16 * 1024;
constexpr std::size_t pieces_per_write = 16;
// Of a put, until other peers have their turn.
constexpr std::uint64_t bytes_per_turn = 2 * 1024 * 1024;

}  // namespace

std::string stream_link::trouble() const { return pair_.how_it_ended(); }

std::byte* send_buffer::append(std::size_t n, bool beyond) noexcept {
  const std::size_t present = size();
  if (capacity_ - end_ < n) {
    if (present + n > usual && !beyond) return nullptr;
    if (present + n <= capacity_) {
      std::memmove(memory_.get(), memory_.get() + begin_, present);
    } else {
      std::size_t larger = std::max(usual, present + n);
      std::unique_ptr<std::byte[]> fresh(new (std::nothrow) std::byte[larger]);
      if (!fresh && larger > present + n)  // memory is short, but a small message may still go
        fresh.reset(new (std::nothrow) std::byte[larger = present + n]);
      if (!fresh) return nullptr;
      if (present != 0) std::memcpy(fresh.get(), memory_.get() + begin_, present);
      memory_ = std::move(fresh);
      capacity_ = larger;
    }
    begin_ = 0;
    end_ = present;
  }
  std::byte* const at = memory_.get() + end_;
  end_ += n;
  return at;
}

stream_link::stream_link(pair& with) noexcept
    : link(with.owner().traits()), pair_(with), passes_(with.owner().passes()) {}

stream_link::~stream_link() {
  leave_rest();
  pair_.owner().drop_flush(*this);
  pair_.link_ended();
}

/// A connection that was made and broke meanwhile ends the peer, as at any other time: the pair
/// reports it. No other transport is tried then.
std::string stream_link::opened(wireup_message /*answer*/) {
  return pair_.never_came() ? "no connection came about" : "";
}

bool stream_link::ready() const noexcept { return pair_.is_up(); }

post stream_link::not_now() noexcept {
  if (pair_.has_ended()) return post::failed;
  room_wanted_ = true;
  return post::busy;
}

/// Memory in the send buffer; null: the frame has to wait.
std::byte* stream_link::room_for(std::size_t n) noexcept {
  if (!ready() || held_left_ != 0 || putting_) return nullptr;
  std::byte* at = send_buffer_.append(n);
  if (!at && !blocked_ && write()) at = send_buffer_.append(n);
  if (!at && send_buffer_.size() == 0) pair_.starve();  // no write will make room
  return at;
}

/// Called after a frame was put into the send buffer.
post stream_link::leave() noexcept {
  if (blocked_) return post::done;
  if (std::exchange(last_frame_, passes_) != passes_)
    expects_burst_ = std::exchange(frames_, 0) > 1;
  ++frames_;
  const bool burst = last_write_ == passes_ || (expects_burst_ && pair_.owner().looked_after());
  if (burst && send_buffer_.size() < bytes_per_write && pair_.owner().passes_soon()) {
    pair_.owner().flush_later(*this);
    return post::done;
  }
  return write() || blocked_ ? post::done : post::failed;
}

/// Puts header and extension into the send buffer. \return where `room` bytes can follow; null: the
/// frame has to wait
inline std::byte* stream_link::append_head(const frame_header& header,
                                           const frame_extension* extension,
                                           std::size_t room) noexcept {
  const std::size_t head = sizeof header + extension_size(header);
  std::byte* const at = room_for(head + room);
  if (!at) return nullptr;
  std::memcpy(at, &header, sizeof header);
  if (extension) std::memcpy(at + sizeof header, extension, head - sizeof header);
  return at + head;
}

post stream_link::send_contiguous(frame_header header, const frame_extension* extension,
                                  const std::byte* data) noexcept {
  std::byte* const at = append_head(header, extension, header.size);
  if (!at) [[unlikely]]
    return not_now();
  if (header.size != 0) std::memcpy(at, data, header.size);
  return leave();
}

post stream_link::append_frame(const frame_header& header, const frame_extension* extension,
                               gather& data) noexcept {
  const bool copied = header.size <= longest_copied;
  std::byte* const at = append_head(header, extension, copied ? header.size : 0);
  if (!at) return not_now();
  if (copied) {
    copy_out(at, data, header.size);
    return leave();
  }
  held_ = data;
  held_left_ = header.size;
  data.skip(header.size);
  if (!blocked_ && !write() && !blocked_) return post::failed;
  if (held_left_ == 0) return post::done;
  room_wanted_ = true;
  return post::posted;
}

post stream_link::send(const frame_header& header, const frame_extension* extension,
                       gather& data) noexcept {
  const post answer = append_frame(header, extension, data);
  if (answer != post::posted) return answer;
  copy_held();
  return ready() ? post::done : post::failed;
}

post stream_link::send_large(const frame_header& header, const frame_extension* extension,
                             gather& data, std::uint64_t left) noexcept {
  if (header.size != 0 || left == 0) return append_frame(header, extension, data);
  // The announcement leaves with the announced frame, which follows in the same call.
  return append_head(header, extension, 0) ? post::done : not_now();
}

/// The peer may not know that this side ends. It gets a piece that has begun, and no others. What
/// is lent cannot be copied any more: a peer that polls reads it soon. From one that does not the
/// connection is broken off, so that it takes nothing for the message that it reads later; frames
/// that were sent behind it are lost with it (docs/reliability.md).
void stream_link::let_go() noexcept {
  pair_.expected().clear();
  if (has_lent()) {
    pair_.owner().pipe().drop(this);
    if (!ready() || !await_read_by_peer(pair_.fd(), pair_.owner().end_of_reading()))
      return pair_.break_off();
    let_go_ += lent_.size();
    lent_.clear();
  }
  end_put();
  copy_held();
}

/// The memory of what is held is free again.
void stream_link::copy_held() noexcept {
  if (held_left_ == 0) return;
  if (std::byte* const at = send_buffer_.append(held_left_, true))
    copy_out(at, held_, held_left_);
  else
    pair_.starve();  // half a frame cannot be taken back
  held_left_ = 0;
}

/// One system call, as a rule.
/// \param wanted set to what it should take \return as send(2)
ssize_t stream_link::write_once(std::size_t& wanted) noexcept {
  wanted = 0;
  if (pair_.socket().has_unsent()) [[unlikely]]
    return pair_.socket().flush();
  const std::span<const std::byte> first = send_buffer_.waiting();
  if (putting_ && put_.lent && first.empty()) {
    const const_buffer run = held_.run(held_left_);
    const bool more = run.size() != held_left_ || put_.left != 0;
    const ssize_t n = pair_.owner().pipe().send(pair_.fd(), this, run, more);
    wanted = n > 0 ? static_cast<std::size_t>(n) : 1;
    if (n != 0) return n;
  }
  iovec parts[pieces_per_write];
  std::size_t count = 0;
  wanted = first.size();
  // The parts are only read.
  if (!first.empty()) parts[count++] = {const_cast<std::byte*>(first.data()), first.size()};
  const bool header_only = putting_ && put_.lent && held_left_ != 0 && !first.empty();
  gather rest = held_;
  for (std::size_t left = header_only ? 0 : held_left_; left != 0 && count != pieces_per_write;) {
    const const_buffer run = rest.run(left);
    parts[count++] = {const_cast<std::byte*>(run.data()), run.size()};
    rest.skip(run.size());
    left -= run.size();
    wanted += run.size();
  }
  return pair_.socket().write({parts, count}, header_only ? MSG_MORE : 0);
}

/// Writes everything. \return false: not everything, because the socket is full (blocked_) or the
/// connection is gone
bool stream_link::write() noexcept {
  const std::uint64_t before = written_;
  while (send_buffer_.size() != 0 || held_left_ != 0 || pair_.socket().has_unsent() ||
         add_answers() || next_piece_of_put()) {
    if (putting_ && written_ - before >= bytes_per_turn) {  // others have their turn
      blocked_ = true;
      pair_.link_blocked();
      return false;
    }
    std::size_t bytes = 0;
    const ssize_t n = write_once(bytes);
    last_write_ = passes_;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) {
      // The receiving end finds the reason, and whether the end was orderly.
      send_buffer_.written(send_buffer_.size());
      held_left_ = 0;
      end_put();
      blocked_ = false;
      pair_.write_failed();
      return false;
    }
    if (n > 0) took(static_cast<std::size_t>(n));
    if (n < 0 || static_cast<std::size_t>(n) != bytes || pair_.socket().has_unsent()) {
      blocked_ = true;
      pair_.link_blocked();
      return false;
    }
  }
  blocked_ = false;
  return true;
}

void stream_link::took(std::size_t n) noexcept {
  written_ += n;
  const std::size_t from_outbox = std::min(n, send_buffer_.size());
  send_buffer_.written(from_outbox);
  if (n == from_outbox) return;  // held_ may belong to a message that has ended
  held_.skip(n - from_outbox);
  held_left_ -= n - from_outbox;
}

void stream_link::flush() noexcept {
  if (!ready() || blocked_ || send_buffer_.size() == 0) return;
  write();
}

bool stream_link::retry() noexcept {
  const std::uint64_t before = written_;
  const bool had_unsent = pair_.socket().has_unsent();  // which counts as written
  blocked_ = false;
  if (write()) tell_of_put();
  const bool moved = written_ != before || (had_unsent && !pair_.socket().has_unsent());
  if (moved) notify_writable();
  return moved;
}

void stream_link::notify_writable() noexcept {
  if (!room_wanted_ || held_left_ != 0 || putting_ || send_buffer_.size() > send_buffer::usual / 2)
    return;
  room_wanted_ = false;
  pair_.frame_sink().on_writable();
}

void stream_link::connection_changed() noexcept {
  if (pair_.has_ended()) {
    pair_.owner().pipe().drop(this);
    lent_.clear();
    held_left_ = 0;
    end_put();
    blocked_ = false;
    return;
  }
  notify_writable();
}

bool stream_link::unwritten() const noexcept {
  const bool any = send_buffer_.size() != 0 || held_left_ != 0 || putting_ ||
                   (pair_.is_up() && pair_.socket().has_unsent());
  return any && !pair_.has_ended();
}

bool stream_link::write_rest() noexcept {
  if (!ready() || !unwritten()) return true;
  if (!write()) return false;
  tell_of_put();
  return true;
}

void stream_link::leave_rest() noexcept {
  let_go();
  if (write_rest() || !blocked_) return;
  add_answers();
  pair_.owner().linger_on(pair_.fd(), pair_.socket().last(send_buffer_.waiting()));
  pair_.fall_silent();
  send_buffer_.written(send_buffer_.size());
}

}  // namespace weft::transports::tcp
