// SPDX-License-Identifier: Apache-2.0
// Puts: writes into the memory that the peer expects them in, lent or copied, and this side's
// memory for those of the peer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

namespace {
constexpr std::size_t page_size = 4096;
}

post stream_link::put(gather data, remote_address to, std::size_t size,
                      std::uint64_t cookie) noexcept {
  if (!ready() || held_left_ != 0 || putting_) return not_now();
  put_ = {data, to, size, cookie, can_lend(size)};
  putting_ = true;
  if (!next_piece_of_put()) {
    end_put();
    return not_now();
  }
  const bool lent = put_.lent;
  if (lent) lent_.push_back(cookie);  // there is room
  if (blocked_) return post::posted;
  if (write()) {
    end_put();
    return lent ? post::posted : post::done;
  }
  return blocked_ ? post::posted : post::failed;
}

/// The link remembers what it has lent until it is read: without memory for that it copies.
bool stream_link::can_lend(std::size_t size) noexcept {
  if (size < shortest_put || !may_lend()) return false;
  try {
    lent_.reserve(lent_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

/// More would only delay what is lent, which moves faster.
std::size_t stream_link::longest_beginning(std::size_t size) const noexcept {
  return size >= shortest_lent && may_lend() ? beginning_of_lent : link::longest_beginning(size);
}

/// A peer that says that it has read what it has not read sees what the application writes there
/// afterwards. So memory is lent only to a process that was met over a Unix socket: it is of the
/// same user. What is encrypted is copied by that.
bool stream_link::may_lend() const noexcept {
  return pair_.stays_here() && !pair_.socket().is_encrypted() && pair_.who().hosts.empty() &&
         pair_.owner().pipe().usable();
}

/// Begins the next piece: its header into the send buffer, its bytes to be written behind that.
/// \return false: there is none, or no memory
bool stream_link::next_piece_of_put() noexcept {
  if (put_.left == 0) return false;
  frame_header h;
  h.tag = put_.to.packed();
  // A piece that is lent fits into the pipe, wherever its first page begins.
  const std::size_t most = put_.lent ? max_write - page_size : max_write;
  h.size = static_cast<std::uint32_t>(std::min(put_.left, most));
  h.kind = static_cast<std::uint8_t>(own_kind::write);
  if (put_.lent && h.size == put_.left) h.flags = asks_when_read;
  std::byte* const at = send_buffer_.append(sizeof h);
  if (!at) {
    if (send_buffer_.size() == 0) pair_.starve();  // no write will make room
    return false;
  }
  std::memcpy(at, &h, sizeof h);
  held_ = put_.data;
  held_left_ = h.size;
  put_.data.skip(h.size);
  put_.to.offset += h.size;
  put_.left -= h.size;
  return true;
}

/// All of it is written: tells the protocol layer, unless the peer still has to read it. Not from
/// within a call of its own.
void stream_link::tell_of_put() noexcept {
  if (!putting_ || put_.left != 0) return;
  const rest_of_put ended = put_;
  end_put();
  if (!ended.lent) pair_.frame_sink().on_transferred(ended.cookie, true);
}

bool stream_link::was_read() noexcept {
  if (lent_.empty()) return let_go_ != 0 && let_go_-- != 0;
  const bool whole = !putting_ || (put_.left == 0 && held_left_ == 0);
  if (lent_.size() == 1 && put_.lent && !whole) return false;
  const std::uint64_t cookie = lent_.front();
  lent_.erase(lent_.begin());
  pair_.frame_sink().on_transferred(cookie, true);
  return true;
}

void stream_link::owe_answers(std::uint32_t n) noexcept {
  owed_ += n;
  if (ready() && !blocked_ && add_answers()) pair_.owner().flush_later(*this);
}

/// Between frames, and between the pieces of a put. \return whether there is something to write
bool stream_link::add_answers() noexcept {
  if (owed_ == 0 || held_left_ != 0) return false;
  frame_header h;
  h.tag = owed_;
  h.kind = static_cast<std::uint8_t>(own_kind::have_read);
  std::byte* const at = send_buffer_.append(sizeof h, true);
  if (!at) {
    pair_.starve();  // the peer would wait without end
    return false;
  }
  std::memcpy(at, &h, sizeof h);
  owed_ = 0;
  return true;
}

std::optional<remote_address> stream_link::expect(mutable_buffer into) noexcept {
  return pair_.expected().add(into);
}

void stream_link::withdraw(remote_address what) noexcept { pair_.expected().withdraw(what); }

}  // namespace weft::transports::tcp
