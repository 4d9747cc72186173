// SPDX-License-Identifier: Apache-2.0
// A VI between the two processes of a measurement, through vipl.h, and the measured loops.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <vipl.h>

#include "stage/stage.hpp"
#include "support/plan.hpp"

namespace weft::bench {

/// What distinguishes one VI from another.
struct vipl_way {
  std::string transport = "shm";
  std::string copy{};              ///< WEFT_SHM_COPY; empty: as the environment has it
  std::string stores{};            ///< WEFT_SHM_STORES, the same
  std::string rendezvous{};        ///< WEFT_RENDEZVOUS, the same
  std::string memory = "own";      ///< "own": of VipAllocateMem; "any": any registered memory
  std::string level = "delivery";  ///< "unreliable", "delivery" or "reliable"
};

/// A NIC of a process, with one VI that is connected to the other process's. One thread. Calls that
/// fail throw std::runtime_error.
class vipl_side {
 public:
  /// Both processes, in the same order.
  /// \param place  a discriminator that only these two use
  /// \param window messages in flight at most
  vipl_side(pair_member& member, const vipl_way& way, const std::string& place, std::size_t longest,
            std::size_t window);
  vipl_side(const vipl_side&) = delete;
  vipl_side& operator=(const vipl_side&) = delete;
  ~vipl_side();

  /// As half_round_trips: samples for rank 0. No receive may be posted.
  std::vector<double> half_round_trips(std::size_t size, plan loops);
  /// Rank 0 sends windows, and rank 1 acknowledges each: megabytes in a second.
  std::vector<double> windows(std::size_t size, plan loops);
  /// Microseconds of sends by rank 0 on a new connection, each until its answer. The receiver posts
  /// its descriptors afterwards, so the first send has to ask for them.
  std::vector<double> from_the_first(std::size_t size, std::size_t count);

 private:
  void connect();
  void disconnect();
  VIP_DESCRIPTOR* describe(std::size_t n, std::size_t buffer, std::size_t size);
  void post_receive(std::size_t n, std::size_t size);
  void post_send(std::size_t n, std::size_t size);
  void await_send();
  void await_receive();
  void answer();
  void await_answer();

  pair_member& member_;
  const std::string place_;
  const std::size_t longest_, window_;
  VIP_RELIABILITY_LEVEL level_;
  std::string memory_;
  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_PROTECTION_HANDLE tag_ = nullptr;
  VIP_VI_HANDLE vi_ = nullptr;
  VIP_PVOID at_ = nullptr;
  VIP_MEM_HANDLE handle_ = 0;
};

}  // namespace weft::bench
