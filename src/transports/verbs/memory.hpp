// SPDX-License-Identifier: Apache-2.0
// Registered memory, cut into slots: those that the device receives into, and those that frames
// leave from. They belong to the context, not to a peer.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/verbs/hardware/device.hpp"

namespace weft::transports::verbs {

/// Registered memory for `count` frames of slot_bytes at most. The device outlives it.
class slab {
 public:
  enum class used_by : std::uint8_t {
    this_side,  ///< the device's addresses are those of the memory
    the_peer    ///< which may write it; the device's addresses begin at 0
  };

  /// \throws weft::error when memory, or the right to lock it, runs out
  slab(device& d, std::uint32_t count, used_by who);

  std::byte* at(std::uint32_t slot) const noexcept { return memory_.get() + slot * slot_stride; }
  const registration& registered() const noexcept { return *registered_; }

 private:
  struct freed {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };

  std::unique_ptr<std::byte, freed> memory_;  // whole pages: a fork may leave them out
  std::unique_ptr<registration> registered_;
};

/// `count` slots, of which some are in use. Progress lock held only; the device outlives it.
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

  std::byte* at(std::uint32_t slot) const noexcept { return memory_.at(slot); }
  std::uint32_t key() const noexcept { return memory_.registered().local_key(); }
  std::size_t count() const noexcept { return count_; }
  std::size_t free() const noexcept { return free_.size(); }

 private:
  const std::uint32_t count_;
  slab memory_;
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
