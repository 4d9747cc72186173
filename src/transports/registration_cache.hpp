// SPDX-License-Identifier: Apache-2.0
// Memory that a device was told of, and is not told of again.
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

/// What may be done with registered memory by a device, for whoever asks it to.
enum class memory_access : std::uint8_t {
  read,  ///< memory that the application only reads is registered for nothing else
  write  ///< and also reading
};

/// How a transport makes memory known to its device. Called with the progress lock held.
class memory_registrar {
 public:
  /// \return what the transport knows it by; null: it cannot, for want of memory or otherwise
  virtual void* enlist(std::span<std::byte> memory, memory_access how) noexcept = 0;
  virtual void dismiss(void* registration) noexcept = 0;

 protected:
  ~memory_registrar() = default;
};

/// What a cache has done since it was made.
struct registration_counts {
  std::uint64_t hits = 0;            ///< asked for, and registered in just that range
  std::uint64_t sub_range_hits = 0;  ///< and part of a longer range that was
  std::uint64_t registrations = 0;
  std::uint64_t evictions = 0;  ///< to make room
  std::uint64_t bytes_now = 0;  ///< registered at this moment
  std::uint64_t entries_now = 0;
};

/// Registered memory by address. Registering costs system calls and locks pages, so what nobody
/// uses any more stays registered until its room is needed or its address gets another meaning:
/// whoever unmaps memory or gives it to somebody else says `forget` before. One per device;
/// owned by its transport. Progress lock held only. docs/adr/0019-registration-cache.md
class registration_cache {
  struct region;
  using regions = std::list<region>;

 public:
  /// Registered memory in use: it stays registered as long as this lives. Must not outlive the
  /// cache.
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

    /// False: there was no room, or the device did not take it.
    explicit operator bool() const noexcept { return cache_ != nullptr; }
    /// What the registrar returned; for all of `memory`.
    void* registration() const noexcept { return at_->registration; }
    /// The range that is registered: what was asked for lies in it.
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

  /// Registers memory, or finds that it is. \param memory not empty
  use get(std::span<std::byte> memory, memory_access how) noexcept;

  /// That memory is about to be unmapped, or to become another's: what is registered of it is not
  /// handed out again, and ends when nobody uses it.
  void forget(std::span<const std::byte> memory) noexcept;

  /// The same for all memory, in no time: each region ends when it is met.
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
    bool indexed = true;  // may be found

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
