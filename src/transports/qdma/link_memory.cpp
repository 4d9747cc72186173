// SPDX-License-Identifier: Apache-2.0
// The link's one-sided half: copies from and to the peer's memory, and this side's memory that the
// peer may reach.

#include <algorithm>
#include <chrono>
#include <new>

#include "runtime/os/brief_wait.hpp"
#include "transports/qdma/transport.hpp"

namespace weft::transports::qdma {

using weft::qdma::rights;

/// A short range is copied at once; a longer one in passes, in turn with others.
post queue_link::move(transfer t, remote_address where) noexcept {
  if (!peer_) return post::failed;
  t.of = this;
  t.key = peer_->key_named(where);
  t.offset = offset_of(where);
  if (t.key == 0 || peer_->check(t.write, t.key, t.offset, t.left)) return post::failed;
  if (pair_.owner().copies().none_before() && t.left <= transfers::slice) {
    const outcome o = t.go_on(*peer_);
    if (o != outcome::later) return o == outcome::done ? post::done : post::failed;
  }
  return pair_.owner().begin(t) ? post::posted : post::failed;
}

post queue_link::get(scatter into, remote_address from, std::size_t size,
                     std::uint64_t cookie) noexcept {
  transfer t;
  t.into = into;
  t.left = size;
  t.cookie = cookie;
  return move(t, from);
}

post queue_link::put(gather data, remote_address to, std::size_t size,
                     std::uint64_t cookie) noexcept {
  transfer t;
  t.write = true;
  t.from = data;
  t.left = size;
  t.cookie = cookie;
  return move(t, to);
}

bool queue_link::chain(std::uint64_t cookie, const frame_header& header,
                       const frame_extension& extension) noexcept {
  return pair_.owner().copies().chain(*this, cookie, {header, extension});
}

bool queue_link::send_chained(const transfer::frame& f) noexcept {
  gather nothing;
  return send(f.header, &f.extension, nothing) == post::done;
}

/// One copy out of mapped memory beats two through the queue; the kernel's copy does not, unless no
/// thread of the peer polls to do the other half.
preference queue_link::prefers_get(remote_address from, std::size_t size) const noexcept {
  if (!peer_) return preference::no;
  const std::uint64_t key = peer_->key_named(from);
  if (key == 0 || peer_->check(false, key, offset_of(from), size)) return preference::no;
  if (peer_->is_mapped(key)) return preference::yes;
  const bool alone = peer_->no_cma().empty() && peer_->peer_doorbell().computing() &&
                     !peer_->peer_doorbell().has_progress_thread();
  return alone ? preference::yes : preference::no;
}

std::optional<remote_address> queue_link::show(std::span<std::byte> memory,
                                               rights permissions) noexcept {
  if (memory.empty() || memory.size() >= most_exposed) return {};
  try {
    shown_.reserve(shown_.size() + 1);
    shown_.push_back(pair_.owner().segment().regions().add(memory, permissions));
    return name_of(shown_.back());
  } catch (const std::exception&) {
    return {};  // no record is free: the message goes in frames
  }
}

std::optional<remote_address> queue_link::expose(const_buffer data) noexcept {
  // No peer gets the right to write there.
  return show({const_cast<std::byte*>(data.data()), data.size()}, rights::read);
}

std::optional<remote_address> queue_link::expect(mutable_buffer into) noexcept {
  return show(into, rights::write);
}

void queue_link::withdraw(remote_address what) noexcept {
  const auto known = std::find_if(shown_.begin(), shown_.end(), [what](std::uint64_t key) {
    const remote_address name = name_of(key);
    return name.region == what.region && name.offset >> 32 == what.offset >> 32;
  });
  if (known == shown_.end()) return;
  pair_.owner().take_back(*known);
  *known = shown_.back();
  shown_.pop_back();
}

void queue_link::let_go() noexcept {
  pair_.owner().copies().end_all_of(*this);
  for (const std::uint64_t key : shown_) pair_.owner().take_back(key);
  shown_.clear();
}

/// A process that copies does so for microseconds, unless it was stopped in the middle, or died. A
/// reader finds out by itself that it came too late (peer::copy); a writer must have ended before
/// the application has the memory back.
void qdma_transport::take_back(std::uint64_t key) noexcept {
  own_regions& all = segment_.regions();
  const bool written = all.may_write(key);
  all.withdraw(key);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool held = own_regions::is_held(segment_.memory(), key, senders_);
  runtime::brief_wait between_looks;
  while (held && written && std::chrono::steady_clock::now() < limit) {
    between_looks.wait();
    held = own_regions::is_held(segment_.memory(), key, senders_);
  }
  if (held)
    held_.push_back(key);  // cannot throw: there is room for all
  else
    all.retire(key, segment_.memory());
}

/// Records that were held when their region was taken back are used again when no process holds
/// them.
void qdma_transport::retire_held() noexcept {
  std::erase_if(held_, [this](std::uint64_t key) {
    if (own_regions::is_held(segment_.memory(), key, senders_)) return false;
    segment_.regions().retire(key, segment_.memory());
    return true;
  });
}

}  // namespace weft::transports::qdma
