// SPDX-License-Identifier: Apache-2.0
// fi_domain(3)
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include <weft/context.hpp>

#include "bindings/ofi/fabric.hpp"

namespace weft::ofi {

class domain final : public fid_domain {
 public:
  domain(fabric& of, const fi_info& info, void* context) noexcept;
  ~domain();

  /// fi_ops_fabric::domain
  static int open(fid_fabric* of, fi_info* info, fid_domain** made, void* context) noexcept;

  /// For the contexts of its endpoints: those of the environment, and what the application said.
  options chosen() const;

  /// The contexts of its endpoints, while they are enabled. Any thread.
  void add(weft::context& c);
  void remove(const weft::context& c) noexcept;
  /// As context::forget, in all of them. Any thread.
  void forget(std::span<const std::byte> memory) noexcept;

  users used;  // endpoints, queues, counters, address vectors, memory regions

 private:
  static fi_ops_domain domain_ops;
  fabric& fabric_;
  const bool manual_progress_;
  std::mutex mutex_;
  std::vector<weft::context*> contexts_;  // guarded by mutex_
};

}  // namespace weft::ofi
