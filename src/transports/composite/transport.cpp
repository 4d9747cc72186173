// SPDX-License-Identifier: Apache-2.0
#include "transports/composite/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::transports::composite {

namespace {

/// The smallest frame sizes of all parts, and the sum of their links.
transports::traits common(std::string_view name,
                          const std::vector<std::unique_ptr<transport>>& parts) {
  transports::traits t = parts.front()->traits();
  t.name = name;
  t.links = 0;
  // A multi-rail link supports none of these.
  t.fails_in_order = t.chains_fin = false;
  t.announced_beyond = 0;
  for (const auto& part : parts) {
    const transports::traits& one = part->traits();
    t.max_payload = std::min(t.max_payload, one.max_payload);
    t.fragment = std::min(t.fragment, one.fragment);
    t.first_piece = std::min(t.first_piece, one.first_piece);
    t.eager_limit = std::max(t.eager_limit, one.eager_limit);
    t.links += one.links;
    t.shares_memory = t.shares_memory || one.shares_memory;
    t.passes_any_descriptor = t.passes_any_descriptor || one.passes_any_descriptor;
  }
  return t;
}

}  // namespace

composite_transport::composite_transport(std::string name,
                                         std::vector<std::unique_ptr<transport>> parts,
                                         std::optional<std::size_t> shm_limit)
    : name_(std::move(name)),
      parts_(std::move(parts)),
      shm_limit_(shm_limit),
      traits_(common(name_, parts_)) {}

std::string composite_transport::reach(bool is_self) const {
  for (const auto& part : parts_)
    if (std::string no = part->reach(is_self); !no.empty())
      return fmt::format("{}: {}", part->traits().name, no);
  return {};
}

/// The part that the link of that number belongs to.
/// \param who its link number becomes the number within the part
transport& composite_transport::part_for(const frame_sink& peer, counterpart& who) {
  for (const auto& part : parts_) {
    if (who.link < part->traits().links) {
      part_of_[&peer] = part.get();
      return *part;
    }
    who.link -= part->traits().links;
  }
  throw error(errc::invalid_argument, "there are not so many links");
}

std::unique_ptr<link> composite_transport::open(frame_sink& from, const counterpart& who,
                                                wireup_message& offer) {
  counterpart there = who;
  return part_for(from, there).open(from, there, offer);
}

std::string composite_transport::accept(frame_sink& to, const counterpart& who,
                                        wireup_message offer, wireup_message& answer) {
  counterpart there = who;
  return part_for(to, there).accept(to, there, std::move(offer), answer);
}

void composite_transport::note(frame_sink& from, wireup_message p) {
  if (const auto it = part_of_.find(&from); it != part_of_.end())
    it->second->note(from, std::move(p));
}

bool composite_transport::drain_peer(frame_sink& from) noexcept {
  const auto it = part_of_.find(&from);
  return it == part_of_.end() || it->second->drain_peer(from);
}

void composite_transport::forget(frame_sink& from) noexcept {
  const auto it = part_of_.find(&from);
  if (it == part_of_.end()) return;
  it->second->forget(from);
  part_of_.erase(it);
}

void composite_transport::invalidate_registrations(std::span<const std::byte> memory) noexcept {
  for (const auto& part : parts_) part->invalidate_registrations(memory);
}

void composite_transport::add_to(metrics& m) const noexcept {
  for (const auto& part : parts_) part->add_to(m);
}

void composite_transport::add_peer_to(const frame_sink& peer, peer_metrics& m) const noexcept {
  for (const auto& part : parts_) part->add_peer_to(peer, m);
}

std::span<std::byte> composite_transport::allocate(std::size_t size) {
  for (const auto& part : parts_) {
    const std::span<std::byte> memory = part->allocate(size);
    if (memory.empty()) continue;
    try {
      allocated_by_.emplace(memory.data(), part.get());
    } catch (...) {
      part->deallocate(memory);
      throw;
    }
    return memory;
  }
  return {};
}

void composite_transport::deallocate(std::span<std::byte> memory) noexcept {
  const auto it = allocated_by_.find(memory.data());
  if (it == allocated_by_.end()) return;
  it->second->deallocate(memory);
  allocated_by_.erase(it);
}

/// Short messages go by the first part that works.
std::string composite_transport::explain_frames(std::size_t size) const {
  return parts_.front()->explain_frames(size);
}

/// The parts that share memory, or those that do not, by name.
std::string composite_transport::parts_that(bool share_memory) const {
  std::string names;
  for (const auto& part : parts_)
    if (part->traits().shares_memory == share_memory)
      names += fmt::format("{}{}", names.empty() ? "" : "+", part->traits().name);
  return names;
}

std::vector<explained_way> composite_transport::explain_rest(const rest_question& q) const {
  const bool through_memory = shm_limit_ && q.size <= *shm_limit_;
  if (const std::string by = shm_limit_ ? parts_that(through_memory) : ""; !by.empty())
    return {{{},
             fmt::format("in frames, over {}", by),
             fmt::format("it is {}above WEFT_SHM_LIMIT={}", through_memory ? "not " : "",
                         *shm_limit_)}};
  return {{{},
           fmt::format("in frames, over all links of {} at once", name_),
           "each link takes a share by its measured bandwidth (docs/adr/0010)"}};
}

std::string composite_transport::describe() const {
  std::string all;
  for (const auto& part : parts_) all += (all.empty() ? "" : ", and ") + part->describe();
  return all;
}

std::string composite_transport::describe(const frame_sink& peer) const {
  const auto it = part_of_.find(&peer);
  return it == part_of_.end() ? name_ : it->second->describe(peer);
}

}  // namespace weft::transports::composite
