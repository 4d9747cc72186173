// SPDX-License-Identifier: Apache-2.0
// Memory for the nodes of a scope: allocated in chunks, recycled, freed with the scope.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

namespace weft::detail {

/// The header of a slot. The node follows the header.
struct alignas(16) node_slot {
  node_slot* next_free = nullptr;
  void (*cancel)(node_slot&) noexcept = nullptr;  ///< set while the slot's node is in flight
  std::uint32_t units = 0;  ///< size of the slot, header included, in units of 64 bytes

  void* memory() noexcept { return this + 1; }
};

/// Hands out slots. Not thread-safe; the scope knows which thread or lock each pool belongs to.
class node_pool {
 public:
  static constexpr std::size_t unit = 64;
  static constexpr std::size_t largest = 16;  ///< units per slot

  static constexpr std::size_t units_for(std::size_t bytes) noexcept {
    return (sizeof(node_slot) + bytes + unit - 1) / unit;
  }

  node_pool() = default;

  /// \param first memory to use before any is allocated, aligned to 16; must outlive the pool
  node_pool(std::byte* first, std::size_t bytes) noexcept { adopt(first, bytes, false); }

  node_pool(const node_pool&) = delete;
  node_pool& operator=(const node_pool&) = delete;

  ~node_pool() {
    while (chunks_) {
      chunk* c = chunks_;
      chunks_ = c->next;
      if (c->allocated) ::operator delete(c);
    }
  }

  /// A slot of `units`. \throws std::bad_alloc
  node_slot& take(std::size_t units) {
    if (node_slot* s = free_[units]) {
      free_[units] = s->next_free;
      return *s;
    }
    return carve(units);
  }

  /// Takes a slot back after its node has been destroyed.
  void give(node_slot& s) noexcept {
    s.cancel = nullptr;
    s.next_free = free_[s.units];
    free_[s.units] = &s;
  }

  /// Calls `cancel` of every node in flight. A cancel must neither take nor give a slot.
  void cancel_all() noexcept {
    for (chunk* c = chunks_; c; c = c->next) {
      for (std::byte* at = c->begin(); at != c->unused;) {
        node_slot& s = *reinterpret_cast<node_slot*>(at);
        if (s.cancel) s.cancel(s);
        at += s.units * unit;
      }
    }
  }

 private:
  struct alignas(16) chunk {
    chunk* next;
    std::byte* unused;
    std::byte* end;
    bool allocated;

    std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  };

  void adopt(std::byte* memory, std::size_t bytes, bool allocated) noexcept {
    auto* c = new (memory) chunk{chunks_, nullptr, memory + bytes, allocated};
    c->unused = c->begin();
    chunks_ = c;
  }

  /// The size of chunks doubles, so a million nodes in flight cost a dozen allocations, once.
  node_slot& carve(std::size_t units) {
    if (!chunks_ || static_cast<std::size_t>(chunks_->end - chunks_->unused) < units * unit) {
      adopt(static_cast<std::byte*>(::operator new(next_size_)), next_size_, true);
      if (next_size_ < largest_chunk) next_size_ *= 2;
    }
    auto* s = new (chunks_->unused) node_slot;
    s->units = static_cast<std::uint32_t>(units);
    chunks_->unused += units * unit;
    return *s;
  }

  static constexpr std::size_t largest_chunk = std::size_t{1} << 20;

  chunk* chunks_ = nullptr;
  std::array<node_slot*, largest + 1> free_{};
  std::size_t next_size_ = std::size_t{8} << 10;
};

/// The size of the slots that a kind of node needs.
template <class Node>
constexpr std::size_t units_of() noexcept {
  constexpr std::size_t units = node_pool::units_for(sizeof(Node));
  static_assert(units <= node_pool::largest, "an operation as large as this needs another owner");
  static_assert(alignof(Node) <= alignof(node_slot));
  return units;
}

}  // namespace weft::detail
