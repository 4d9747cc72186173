// SPDX-License-Identifier: Apache-2.0
#include "proto/rendezvous/early_sends.hpp"

#include <algorithm>
#include <cstring>

#include <weft/message.hpp>

namespace weft::proto {

/// The first known receive with that tag, from position `from` on, is met.
bool early_sends::take(std::uint64_t tag, std::size_t from) noexcept {
  const auto first = known_.begin() + static_cast<std::ptrdiff_t>(from);
  const auto one =
      std::find_if(first, known_.end(), [tag](const early_receive& e) { return e.tag == tag; });
  if (one == known_.end()) return false;
  known_.erase(one);
  return true;
}

void early_sends::sent(std::uint64_t tag, std::uint32_t units, bool begins) noexcept {
  if (begins) message(messages_++) = {tag, units_, take(tag, 0)};
  units_ += units;
}

bool early_sends::on_early(const std::byte* data, std::size_t size, std::uint64_t usable,
                           std::int64_t credit) noexcept {
  const std::size_t n = size / sizeof(early_receive);
  if (!data || n == 0 || n > early_in_frame || size % sizeof(early_receive) != 0) return false;
  // Units that were under way to the peer when it announced them.
  const std::int64_t under_way = static_cast<std::int64_t>(usable) - credit;
  if (usable > ~std::uint32_t{0} || under_way < 0 || static_cast<std::uint64_t>(under_way) > units_)
    return false;
  const std::uint64_t taken_in = units_ - static_cast<std::uint64_t>(under_way);
  // Of more messages than are kept here, it is not known which had been taken in.
  const std::uint64_t oldest = messages_ > most_begun ? messages_ - most_begun : 0;
  const bool unclear = oldest != 0 && message(oldest).at > taken_in;

  const std::size_t before = known_.size();
  for (std::size_t i = 0; i != n; ++i) {
    early_receive e;
    std::memcpy(&e, data + i * sizeof e, sizeof e);
    if (e.number <= last_ || e.tag >= first_reserved_tag) return false;
    last_ = e.number;
    if (!unclear && known_.size() != most_early) known_.push_back(e);
  }
  for (std::uint64_t m = oldest; m != messages_; ++m)
    if (begun& one = message(m); one.at >= taken_in && !one.took) one.took = take(one.tag, before);
  return true;
}

void early_sends::on_end(std::uint64_t number) noexcept {
  const auto one = std::find_if(known_.begin(), known_.end(),
                                [number](const early_receive& e) { return e.number == number; });
  if (one != known_.end()) known_.erase(one);
}

std::uint64_t early_sends::find(std::uint64_t tag, std::uint64_t size) const noexcept {
  const auto one = std::find_if(known_.begin(), known_.end(),
                                [tag](const early_receive& e) { return e.tag == tag; });
  return one != known_.end() && size <= one->room ? one->number : 0;
}

}  // namespace weft::proto
