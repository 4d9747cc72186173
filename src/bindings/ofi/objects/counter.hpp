// SPDX-License-Identifier: Apache-2.0
// fi_cntr(3)
#pragma once

#include <atomic>
#include <mutex>

#include "bindings/ofi/objects/domain.hpp"
#include "bindings/ofi/objects/loop_list.hpp"
#include "bindings/ofi/objects/sleeper.hpp"

namespace weft::ofi {

class counter final : public fid_cntr {
 public:
  counter(domain& of, void* context) noexcept;
  ~counter();

  /// fi_ops_domain::cntr_open
  static int open(fid_domain* of, fi_cntr_attr* attr, fid_cntr** made, void* context) noexcept;

  /// Adds an endpoint's loop: the reading or waiting thread makes its progress.
  void add(external_loop& p);
  void remove(external_loop& p) noexcept;

  /// An operation ended. Any thread.
  void count(bool well) noexcept { (well ? ended_ : failed_).fetch_add(1); }

  users used;

 private:
  void look() noexcept;
  int wait(std::uint64_t threshold, int timeout) noexcept;
  static fi_ops_cntr cntr_ops;

  domain& domain_;
  std::mutex mutex_;
  loop_list loops_;
  sleeper sleeper_;
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace weft::ofi
