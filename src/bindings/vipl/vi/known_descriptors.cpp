// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/vi/known_descriptors.hpp"

#include <optional>
#include <utility>

namespace weft::vipl {

namespace {

/// How many are kept; a peer may send more, which are asked for later.
constexpr std::size_t most_known = 4096;

}  // namespace

void known_descriptors::learn(std::span<const std::byte> from) {
  std::optional<descriptor_list> list = read_list(from);
  if (!list) return;
  if (list->dropped != dropped_) known_.clear();
  dropped_ = list->dropped;
  for (known_descriptor& k : list->all) {
    if (!known_.empty() && !comes_before(known_.back().number, k.number)) continue;
    if (!known_.empty() && k.number != known_.back().number + 1) known_.clear();
    if (known_.size() == most_known) return;
    known_.push_back(std::move(k));
  }
}

const known_descriptor* known_descriptors::find(std::uint32_t label) noexcept {
  const std::uint32_t number = label - dropped_;
  while (!known_.empty() && comes_before(known_.front().number, number)) known_.pop_front();
  return !known_.empty() && known_.front().number == number ? &known_.front() : nullptr;
}

}  // namespace weft::vipl
