// SPDX-License-Identifier: Apache-2.0
#include "transports/joint/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::transports::joint {

namespace {

/// A frame that all of them take, and the links of all.
transports::traits common(std::string_view name,
                          const std::vector<std::unique_ptr<transport>>& parts) {
  transports::traits t = parts.front()->traits();
  t.name = name;
  t.links = 0;
  // None of it is done by a bundle.
  t.fails_in_order = t.chains_fin = false;
  t.announced_beyond = 0;
  for (const auto& part : parts) {
    const transports::traits& one = part->traits();
    t.max_payload = std::min(t.max_payload, one.max_payload);
    t.fragment = std::min(t.fragment, one.fragment);
    t.first_piece = std::min(t.first_piece, one.first_piece);
    t.links += one.links;
    t.shares_memory = t.shares_memory || one.shares_memory;
  }
  return t;
}

}  // namespace

joint_transport::joint_transport(std::string name, std::vector<std::unique_ptr<transport>> parts)
    : name_(std::move(name)), parts_(std::move(parts)), traits_(common(name_, parts_)) {
  worth_polling = false;
}

std::string joint_transport::reach(bool is_self) const {
  for (const auto& part : parts_)
    if (std::string no = part->reach(is_self); !no.empty())
      return fmt::format("{}: {}", part->traits().name, no);
  return {};
}

/// Whose link of that number is.
/// \param who the number becomes the one that the part knows
transport& joint_transport::part_for(const inlet& peer, counterpart& who) {
  for (const auto& part : parts_) {
    if (who.link < part->traits().links) {
      part_of_[&peer] = part.get();
      return *part;
    }
    who.link -= part->traits().links;
  }
  throw error(errc::invalid_argument, "there are not so many links");
}

std::unique_ptr<link> joint_transport::open(inlet& from, const counterpart& who, parcel& offer) {
  counterpart there = who;
  return part_for(from, there).open(from, there, offer);
}

std::string joint_transport::accept(inlet& to, const counterpart& who, parcel offer,
                                    parcel& answer) {
  counterpart there = who;
  return part_for(to, there).accept(to, there, std::move(offer), answer);
}

void joint_transport::note(inlet& from, parcel p) {
  if (const auto it = part_of_.find(&from); it != part_of_.end())
    it->second->note(from, std::move(p));
}

bool joint_transport::hear_out(inlet& from) noexcept {
  const auto it = part_of_.find(&from);
  return it == part_of_.end() || it->second->hear_out(from);
}

void joint_transport::forget(inlet& from) noexcept {
  const auto it = part_of_.find(&from);
  if (it == part_of_.end()) return;
  it->second->forget(from);
  part_of_.erase(it);
}

void joint_transport::forget_memory(std::span<const std::byte> memory) noexcept {
  for (const auto& part : parts_) part->forget_memory(memory);
}

void joint_transport::add_to(metrics& m) const noexcept {
  for (const auto& part : parts_) part->add_to(m);
}

std::string joint_transport::describe() const {
  std::string all;
  for (const auto& part : parts_) all += (all.empty() ? "" : ", and ") + part->describe();
  return all;
}

std::string joint_transport::describe(const inlet& peer) const {
  const auto it = part_of_.find(&peer);
  return it == part_of_.end() ? name_ : it->second->describe(peer);
}

}  // namespace weft::transports::joint
