// SPDX-License-Identifier: Apache-2.0
// Replaces src/transports/shm/transport.hpp: only what a ring_link needs of its owners.
#pragma once

#include <limits>

#include "transports/shm/link.hpp"

namespace weft::transports::shm {

class pair;

class shm_transport {
 public:
  struct transfers {
    void end_all_of(const pair&) noexcept {}
  };
  transfers& copies() noexcept { return copies_; }
  const transports::traits& traits() const noexcept {
    static constexpr transports::traits t{.name = "shm", .max_payload = shm::max_payload};
    return t;
  }
  const std::uint32_t& passes() const noexcept { return passes_; }
  /// Every payload is stored in the ordinary way.
  std::size_t streamed_from() const noexcept { return std::numeric_limits<std::size_t>::max(); }
  void wants_room(ring_link&) noexcept {}
  void has_unconsumed(ring_link&) noexcept {}
  void link_ended(ring_link&) noexcept {}
  void exposes(ring_link&) noexcept {}
  void exposes_nothing(ring_link&) noexcept {}

 private:
  std::uint32_t passes_ = 0;
  transfers copies_;
};

class pair {
 public:
  explicit pair(runtime::remote_doorbell& own_bell) noexcept : doorbell_(own_bell) {}

  shm_transport& owner() noexcept { return owner_; }
  const shm_transport& owner() const noexcept { return owner_; }
  runtime::remote_doorbell& peer_doorbell() noexcept { return doorbell_; }
  std::string take_answer(wireup_message) noexcept { return {}; }
  bool pass(const unique_fd&, std::uint32_t) noexcept { return false; }
  peer_view view(remote_address, std::size_t) noexcept { return {}; }
  post get(scatter, remote_address, std::size_t, std::uint64_t) noexcept { return post::failed; }
  preference prefers_get(remote_address, std::size_t) const noexcept { return preference::no; }
  bool may_write() const noexcept { return false; }
  bool write(std::uint64_t, std::uint64_t, std::size_t) const noexcept { return false; }
  std::optional<remote_address> expose(const_buffer) noexcept { return {}; }

 private:
  shm_transport owner_;
  runtime::remote_doorbell& doorbell_;
};

}  // namespace weft::transports::shm
