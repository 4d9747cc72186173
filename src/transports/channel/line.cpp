// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/line.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

namespace weft::transports::channel {

namespace {

/// The peer writes `value` first and `inverse` last; this reads them in the opposite order.
bool read(word& from, std::uint64_t& value) noexcept {
  const std::uint64_t inverse = std::atomic_ref(from.inverse).load(std::memory_order_acquire);
  value = std::atomic_ref(from.value).load(std::memory_order_acquire);
  return inverse == ~value;
}

}  // namespace

line::line(const settings& s) noexcept
    : shape_{static_cast<std::uint32_t>(s.ring), static_cast<std::uint32_t>(s.chunk),
             static_cast<std::uint32_t>(s.step)} {}

void line::compare(const shape& peers) {
  if (peers == shape_) return;
  fail(errc::invalid_argument,
       fmt::format("the two ends differ: rung {}, ring {}, chunk {} here, rung {}, ring {}, chunk "
                   "{} there; they must choose the same",
                   shape_.step, shape_.ring, shape_.chunk, peers.step, peers.ring, peers.chunk));
}

void line::check_unmet() const {
  if (trouble_) throw *trouble_;
  if (outbox_) throw error(errc::invalid_argument, "RDMA channel: it has met its peer before");
}

void line::not_met() {
  throw error(errc::invalid_argument,
              "RDMA channel: it has met no peer; pass the card of the other end to meet first");
}

std::uint64_t line::hear(word words::*which, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  if (!channel::read(words_->*which, value)) return least;
  if (value < least || value > most)
    lie(fmt::format("it counts {}, which cannot be below {} or above {}", value, least, most));
  return value;
}

bool line::hear_invitation(std::uint64_t number, invitation& into) noexcept {
  std::uint64_t value = 0;
  if (!channel::read(words_->invited.number, value) || value != number) return false;
  std::memcpy(&into, &words_->invited, sizeof into);
  return true;
}

void line::fail(errc why, const std::string& what) {
  break_off();
  trouble_ = std::make_unique<error>(why, "RDMA channel: " + what);
  throw *trouble_;
}

void line::lie(const std::string& what) {
  fail(errc::protocol_error,
       "the peer breaks the rules: " + what + "; it may be damaged, or not be weft");
}

void line::note_closed() {
  if (!trouble_) trouble_ = std::make_unique<error>(errc::closed, "RDMA channel: it was closed");
}

}  // namespace weft::transports::channel
