// SPDX-License-Identifier: Apache-2.0
// Registered memory, cut into slots: those that the device receives into, and those that frames
// leave from. They belong to the context, not to a peer.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/verbs/device.hpp"

namespace weft::transports::verbs {

/// `count` slots of slot_bytes each. Progress lock held only; the device outlives it.
class slots {
 public:
  /// \throws weft::error when memory, or the right to lock it, runs out
  slots(device& d, std::uint32_t count);

  std::optional<std::uint32_t> take() noexcept {
    if (free_.empty()) return {};
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give(std::uint32_t slot) noexcept { free_.push_back(slot); }

  std::byte* at(std::uint32_t slot) const noexcept { return memory_.get() + slot * stride; }
  std::uint32_t key() const noexcept { return registered_->local_key(); }
  std::size_t count() const noexcept { return count_; }
  std::size_t free() const noexcept { return free_.size(); }

 private:
  static constexpr std::size_t stride = (slot_bytes + 63) / 64 * 64;
  struct freed {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };

  const std::uint32_t count_;
  std::unique_ptr<std::byte, freed> memory_;  // whole pages: a fork may leave them out
  std::unique_ptr<registration> registered_;
  std::vector<std::uint32_t> free_;  // as large as it will ever be
};

/// The shared receive queue: the next frame of any peer is received into the slot at its front.
class receives {
 public:
  receives(device& d, std::uint32_t count) : device_(d), slots_(d, count) {}

  const std::byte* at(std::uint32_t slot) const noexcept { return slots_.at(slot); }
  /// The frame in that slot has been read.
  void release(std::uint32_t slot) noexcept { slots_.give(slot); }
  /// Posts the slots that were read, if few are posted. Called after each batch of completions.
  void refill() noexcept {
    if (slots_.free() >= batch) post_free();
  }
  /// Posts all free slots. \return whether the device took all
  bool post_free() noexcept;

 private:
  // Posted together: one lock of the device, and one doorbell of the device, for so many.
  static constexpr std::size_t batch = 32;

  device& device_;
  slots slots_;
};

}  // namespace weft::transports::verbs
