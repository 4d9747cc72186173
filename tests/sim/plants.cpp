// SPDX-License-Identifier: Apache-2.0
#include "sim/plants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "proto/frames/frames.hpp"

namespace sim {

using weft::proto::frame_kind;

namespace {

bool drop_credit(fake::wire& w) {
  auto& credit = w.frames.back().header.credit;
  return std::exchange(credit, std::uint16_t{0}) != 0;
}

/// Exchanges the payloads of two pieces of one message.
bool swap_fragments(fake::wire& w) {
  if (w.frames.size() < 2) return false;
  auto& last = w.frames.back();
  auto& before = w.frames[w.frames.size() - 2];
  const auto is_piece = [](const fake::wire::frame& f) {
    const auto kind = static_cast<frame_kind>(f.header.kind);
    return kind == frame_kind::more || kind == frame_kind::data;
  };
  if (!is_piece(last) || !is_piece(before) || last.header.kind != before.header.kind ||
      last.payload.size() != before.payload.size() || last.payload == before.payload)
    return false;
  last.payload.swap(before.payload);
  return true;
}

bool lose_frame(fake::wire& w) {
  w.frames.pop_back();
  return true;
}

bool repeat_frame(fake::wire& w) {
  w.frames.push_back(w.frames.back());
  return true;
}

}  // namespace

const std::vector<plant_kind>& plant_kinds() {
  static const std::vector<plant_kind> all{
      {"dropped-credit", "a frame loses the credit that it returns", &drop_credit, false},
      {"reordered-fragment", "two pieces of a message change places", &swap_fragments, false},
      {"double-completion", "an operation is completed twice", nullptr, true},
      {"lost-frame", "a frame does not arrive", &lose_frame, false},
      {"repeated-frame", "a frame arrives twice", &repeat_frame, false},
  };
  return all;
}

planted::planted(const std::string& name, dice chance) : when_(chance.part(200).between(1, 12)) {
  if (name.empty()) return;
  std::string names;
  for (const plant_kind& k : plant_kinds()) {
    if (k.name == name) kind_ = &k;
    names += (names.empty() ? "" : ", ") + k.name;
  }
  if (!kind_)
    throw std::invalid_argument(
        fmt::format("there is no fault \"{}\" to plant; there are {}", name, names));
}

void planted::put_into(fake::world& w) const {
  if (!kind_ || !kind_->on_a_wire) return;
  w.tamper = [do_it = kind_->on_a_wire, left = when_](fake::wire& on) mutable {
    if (left == 0) return;
    if (left > 1) {
      // Only frames on which the tampering has an effect are counted.
      fake::wire copy = on;
      if (do_it(copy)) --left;
    } else if (do_it(on)) {
      left = 0;
    }
  };
}

std::uint64_t planted::ends_twice() const noexcept {
  return kind_ && kind_->ends_twice ? when_ : 0;
}

}  // namespace sim
