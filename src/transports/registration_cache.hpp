// SPDX-License-Identifier: Apache-2.0
// Keeps the registrations of memory with a device for later operations on the same memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>

#include <weft/metrics.hpp>
#include <weft/registration_cache.hpp>

namespace weft::transports {

/// What a device may do with registered memory, for any of its users.
enum class memory_access : std::uint8_t {
  read,  ///< memory that the application only reads is registered for nothing else
  write  ///< and also reading
};

/// Makes and ends a transport's registrations with its device. Called with the progress lock held.
class memory_registrar {
 public:
  /// \return the transport's handle of the registration; null: it failed, for want of memory or
  ///   another reason
  virtual void* enlist(std::span<std::byte> memory, memory_access how) noexcept = 0;
  virtual void dismiss(void* registration) noexcept = 0;

 protected:
  ~memory_registrar() = default;
};

/// What a cache has done since its construction.
struct registration_counts {
  std::uint64_t hits = 0;            ///< requests that found a registration of just their range
  std::uint64_t sub_range_hits = 0;  ///< requests that found a registration of a longer range
  std::uint64_t registrations = 0;
  std::uint64_t evictions = 0;  ///< to make room
  std::uint64_t bytes_now = 0;  ///< registered at this moment
  std::uint64_t entries_now = 0;
};

/// Registered memory by address. Registering costs system calls and locks pages, so unused memory
/// stays registered until its room is needed or its address gets another meaning: code that unmaps
/// memory, or gives it to another owner, calls `forget` before. One cache per device; owned by its
/// transport. Progress lock held only. docs/adr/0019-registration-cache.md
class registration_cache {
  struct region;
  using regions = std::list<region>;

 public:
  /// Registered memory in use: it stays registered as long as this object lives. Must not outlive
  /// the cache.
  class use {
   public:
    use() = default;
    use(use&& other) noexcept
        : cache_(std::exchange(other.cache_, nullptr)), at_(std::move(other.at_)) {}
    use& operator=(use&& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~use() {
      if (cache_) cache_->release(at_);
    }

    /// False: there was no room, or the device refused it.
    explicit operator bool() const noexcept { return cache_ != nullptr; }
    /// The handle that the registrar returned; it is that of all of `memory`.
    void* registration() const noexcept { return at_->registration; }
    /// The registered range, which contains the requested one.
    std::span<std::byte> memory() const noexcept { return at_->memory; }

   private:
    friend class registration_cache;
    use(registration_cache* c, regions::iterator at) noexcept : cache_(c), at_(at) {}

    registration_cache* cache_ = nullptr;
    regions::iterator at_{};
  };

  /// \param r outlives the cache
  registration_cache(memory_registrar& r, const registration_cache_settings& s) noexcept
      : memory_registrar_(r), settings_(s) {}
  ~registration_cache();
  registration_cache(const registration_cache&) = delete;
  registration_cache& operator=(const registration_cache&) = delete;

  /// Registers memory, or finds its registration. \param memory not empty
  use get(std::span<std::byte> memory, memory_access how) noexcept;

  /// That memory is about to be unmapped, or to get another owner: its registrations are not handed
  /// out again, and end when they have no user.
  void forget(std::span<const std::byte> memory) noexcept;

  /// The same for all memory, in constant time: each registration ends when a lookup finds it.
  void forget_all() noexcept { ++generation_; }

  const registration_counts& counts() const noexcept { return counts_; }
  /// For transport::add_to.
  void add_to(metrics& m) const noexcept;

 private:
  struct region {
    std::span<std::byte> memory;
    memory_access how;
    void* registration;
    std::uint64_t generation;
    std::size_t users = 0;
    bool indexed = true;  // can be found

    const std::byte* begin() const noexcept { return memory.data(); }
    const std::byte* end() const noexcept { return memory.data() + memory.size(); }
  };
  /// By first byte. None lies within another, so their last bytes are in the same order.
  using index = std::map<const std::byte*, regions::iterator>;

  index& of(memory_access how) noexcept { return indices_[static_cast<std::size_t>(how)]; }
  bool find(std::span<std::byte> memory, memory_access how, regions::iterator& found) noexcept;
  use begin_use(regions::iterator r) noexcept;
  void release(regions::iterator r) noexcept;
  void drop(index& from, index::iterator it) noexcept;
  void drop_within(index& from, std::span<const std::byte> memory) noexcept;
  void end(regions& in, regions::iterator r) noexcept;
  bool evict() noexcept;
  bool make_room(std::size_t bytes) noexcept;

  memory_registrar& memory_registrar_;
  const registration_cache_settings settings_;
  std::uint64_t generation_ = 0;
  std::array<index, 2> indices_;  // by access
  regions used_;
  regions idle_;  // longest unused first
  registration_counts counts_;
};

}  // namespace weft::transports
