// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/link.hpp"

#include <algorithm>

namespace weft::transports::fake {

fake_link::~fake_link() {
  const auto held = transport_.world_.lock();
  wire_->let_go();
  wire_->transfers.clear();
  wire_->shown.clear();
  std::erase(transport_.out_, wire_.get());
  wire_->sender = nullptr;
}

void fake_link::let_go() noexcept {
  const auto held = transport_.world_.lock();
  wire_->let_go();
  // A frame that tells of a put may be under way behind it.
  if (transport_.manner_.fails_in_order) transport_.world_.land(*wire_, time::max());
  wire_->transfers.clear();
  wire_->shown.clear();
}

bool fake_link::unconsumed() const noexcept {
  const auto held = transport_.world_.lock();
  return !wire_->frames.empty();
}

bool fake_link::holds() const noexcept {
  const auto held = transport_.world_.lock();
  return wire_->held.has_value();
}

/// Moves all bytes at once, or begins a transfer that ends later.
post fake_link::begin(wire::transfer t) noexcept {
  wire& w = *wire_;
  world& where = transport_.world_;
  const manner& how = transport_.manner_;
  if (how.memory != memory::readable || w.broken || transport_.dead_) return post::failed;
  if (!how.later) return where.move(w, t, t.size) ? post::done : post::failed;
  if (w.transfers.size() >= how.transfers) {
    w.refused = true;
    return post::busy;
  }
  where.set_out(w, t);
  w.transfers.push_back(t);
  if (t.put) w.last_put = t.due;
  where.wake(w.from);
  return post::posted;
}

post fake_link::get(scatter into, remote_address from, std::size_t size,
                    std::uint64_t cookie) noexcept {
  const auto held = transport_.world_.lock();
  wire::transfer t;
  t.at = from;
  t.into = into;
  t.size = size;
  t.cookie = cookie;
  return begin(t);
}

peer_view fake_link::view(remote_address from, std::size_t size) noexcept {
  const auto held = transport_.world_.lock();
  wire::transfer t;
  t.at = from;
  t.size = size;
  if (!transport_.manner_.views || wire_->broken || transport_.dead_) return {};
  const wire::place* const p = transport_.world_.find(*wire_, t);
  if (!p) return {};
  // The memory is the test's, and outlives everything in the world.
  static const std::shared_ptr<const void> kept = std::make_shared<int>();
  return {p->at + from.offset, &kept};
}

post fake_link::put(gather data, remote_address to, std::size_t size,
                    std::uint64_t cookie) noexcept {
  const auto held = transport_.world_.lock();
  wire::transfer t;
  t.put = true;
  t.at = to;
  t.data = data;
  t.size = size;
  t.cookie = cookie;
  return begin(t);
}

bool fake_link::chain(std::uint64_t cookie, const frame_header& header,
                      const frame_extension& extension) noexcept {
  const auto held = transport_.world_.lock();
  std::deque<wire::transfer>& all = wire_->transfers;
  if (!transport_.manner_.chains || all.empty() || all.back().cookie != cookie) return false;
  all.back().chained = wire::frame{time{0}, header, true, extension, {}, 0, {}};
  return true;
}

std::optional<remote_address> fake_link::show(wire::place what) noexcept {
  const auto held = transport_.world_.lock();
  if (transport_.manner_.memory == memory::hidden || wire_->broken) return {};
  while (++transport_.last_shown_ == 0 || wire_->shown.contains(transport_.last_shown_)) {
  }
  wire_->shown.emplace(transport_.last_shown_, what);
  return remote_address{transport_.last_shown_, 0};
}

std::optional<remote_address> fake_link::expose(const_buffer data) noexcept {
  return show({const_cast<std::byte*>(data.data()), data.size(), false});
}

std::optional<remote_address> fake_link::expect(mutable_buffer into) noexcept {
  return show({into.data(), into.size(), true});
}

void fake_link::withdraw(remote_address what) noexcept {
  const auto held = transport_.world_.lock();
  wire_->shown.erase(what.region);
}

}  // namespace weft::transports::fake
