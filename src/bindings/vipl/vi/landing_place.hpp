// SPDX-License-Identifier: Apache-2.0
// The memory that a VI shows to its peer for long messages.
#pragma once

#include <map>
#include <mutex>
#include <span>

#include "bindings/vipl/nic/nic.hpp"

namespace weft::vipl {

/// Where the peer of a connection places long messages: regions over registered memory, which end
/// before the buffers are given back. Any thread; not with the NIC locked, because weft is called.
class landing_place {
 public:
  explicit landing_place(std::uint64_t s) noexcept : secret(s) {}
  const std::uint64_t secret;  ///< makes their keys

  void show(nic& of, VIP_MEM_HANDLE handle, std::span<std::byte> bytes);
  void forget(VIP_MEM_HANDLE handle);
  void end();

 private:
  std::mutex mutex_;
  std::map<VIP_MEM_HANDLE, region> regions_;
  bool ended_ = false;
};

}  // namespace weft::vipl
