// SPDX-License-Identifier: Apache-2.0
// The two sides of a measurement, and the way to get them without a launcher: two processes on two
// cores that share one block of memory. The other ways are in sides.hpp, which needs weft.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::bench {

class hosts;

/// A sense-reversing barrier for two, in shared memory. Spins; never enters the kernel. It does not
/// hang if the other process dies, because run_pair then ends this process as well.
class spin_barrier {
 public:
  /// `sense` is the caller's own, starts at 0 and lives as long as it uses the barrier.
  void arrive_and_wait(std::uint32_t& sense) noexcept;

 private:
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> sense_{0};
};

/// One of the two sides, for its body, however the two came to be. Used by the one thread that runs
/// the body.
class pair_member {
 public:
  explicit pair_member(int rank) noexcept : rank_(rank) {}
  pair_member(const pair_member&) = delete;
  pair_member& operator=(const pair_member&) = delete;
  virtual ~pair_member() = default;

  /// 0, which prints the results, or 1.
  int rank() const noexcept { return rank_; }
  /// Returns when both have called it.
  virtual void barrier() = 0;
  /// Both call it: each gets the bytes of the other.
  /// \throws std::length_error for more than longest_exchange bytes
  virtual std::vector<std::byte> exchange(std::span<const std::byte> mine) = 0;
  /// Whether times of the two sides are known to be of one clock.
  virtual bool one_clock() const noexcept = 0;

  static constexpr std::size_t longest_exchange = 4096;

 private:
  int rank_;
};

/// A forked side.
class forked_member final : public pair_member {
 public:
  struct control;  // the head of the shared block

  forked_member(control& shared, std::span<std::byte> area, int rank) noexcept
      : pair_member(rank), control_(shared), area_(area) {}

  void barrier() noexcept override;
  std::vector<std::byte> exchange(std::span<const std::byte> mine) override;
  bool one_clock() const noexcept override { return true; }
  /// The shared memory, at the same address in both; zeroed, and page aligned.
  std::span<std::byte> shared() const noexcept { return area_; }
  /// Keeps one measured value for the parent. Throws std::length_error beyond
  /// pair_options::max_samples.
  void report(double sample);

 private:
  control& control_;
  std::span<std::byte> area_;
  std::uint32_t sense_ = 0;
};

struct pair_options {
  std::string name = "pair";             ///< for error messages
  std::size_t shared_bytes = 0;          ///< size of forked_member::shared()
  std::size_t max_samples = 1 << 16;     ///< for each of the two
  std::chrono::seconds time_limit{120};  ///< both are killed then
  bool pin = true;                       ///< rank 0 on the first allowed core, 1 on the second
  const hosts* apart = nullptr;          ///< rank 0 on the first of these, 1 on the second
};

/// The values that each rank reported, in order.
using pair_samples = std::array<std::vector<double>, 2>;

/// Forks two processes, pins them on the first two allowed cores, runs `body` in each and waits for
/// both. Throws std::runtime_error when one throws (with its message), dies (with its signal) or is
/// late; the other is ended too. Call it from a process with one thread: only the calling thread
/// exists after a fork.
pair_samples run_pair(const pair_options& options, const std::function<void(forked_member&)>& body);

}  // namespace weft::bench
