// SPDX-License-Identifier: Apache-2.0
// Endpoints of weft by fi_addr_t, and the reverse.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <weft/context_address.hpp>

#include "bindings/ofi/objects/address_vector.hpp"

namespace weft::ofi {

/// The peers that one endpoint has met of its address vector. Each address is looked up there once;
/// after that, finding the peer costs two loads. Any thread.
class peer_table {
 public:
  peer_table(context& of, const address_vector& names) noexcept
      : context_(of), names_(names), bits_(names.context_bits()) {}

  /// Null: there is no such address, or no memory for it.
  const weft::endpoint* find(fi_addr_t address) noexcept {
    const std::size_t at = bits_ == 0 ? address : place_of(address);
    if (at < blocks * per_block) [[likely]] {
      const block* const b = blocks_[at / per_block].load(std::memory_order_acquire);
      const weft::endpoint* const known =
          b ? b->peers[at % per_block].load(std::memory_order_acquire) : nullptr;
      if (known) [[likely]]
        return known;
    }
    return meet(address);
  }

  /// The address of the sender of a message; FI_ADDR_NOTAVAIL: it is not in the address vector.
  fi_addr_t address_of(peer_id id) noexcept;

 private:
  static constexpr std::size_t blocks = 1024;
  static constexpr std::size_t per_block = 1024;
  struct block {
    std::array<std::atomic<const weft::endpoint*>, per_block> peers{};
    std::array<weft::endpoint, per_block> owned;
  };

  const weft::endpoint* meet(fi_addr_t address) noexcept;
  fi_addr_t known(peer_id id);

  // The two parts of an address with a receive context (fi_rx_addr).
  std::uint64_t index_of(fi_addr_t a) const noexcept { return a & (~std::uint64_t{0} >> bits_); }
  unsigned context_of(fi_addr_t a) const noexcept {
    return bits_ == 0 ? 0 : static_cast<unsigned>(a >> (64 - bits_));
  }
  /// Its place in the table, which is divided among the receive contexts; none: too large.
  std::size_t place_of(fi_addr_t a) const noexcept {
    const std::size_t room = blocks * per_block >> bits_;
    return index_of(a) < room ? context_of(a) * room + index_of(a) : blocks * per_block;
  }

  context& context_;
  const address_vector& names_;
  const unsigned bits_;
  std::mutex mutex_;  // guards the members below; `blocks_` is written under it
  std::array<std::atomic<block*>, blocks> blocks_{};
  std::array<std::unique_ptr<block>, blocks> owned_;
  std::unordered_map<peer_id, fi_addr_t> addresses_;
  // All addresses before this one were met, if they still exist. Without the mutex: threads that
  // meet the same ones at once meet each once.
  std::atomic<std::size_t> met_up_to_{0};
};

}  // namespace weft::ofi
