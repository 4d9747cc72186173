// SPDX-License-Identifier: Apache-2.0
// fi_mr(3). Messages, and this side's memory in reads and writes, need no registration: a region
// for them is only a handle, whose end tells that the memory is about to get another use. A region
// with remote access is a weft::region of every endpoint of its domain.
#pragma once

#include <list>
#include <span>
#include <vector>

#include <weft/region.hpp>

#include "bindings/ofi/objects/domain.hpp"

namespace weft::ofi {

/// Weft's key for a region with that key: 0 is not a key for weft, FI_KEY_NOTAVAIL is none for
/// libfabric.
constexpr std::uint64_t weft_key(std::uint64_t key) noexcept { return key + 1; }

class memory_region final : public fid_mr {
 public:
  memory_region(domain& of, std::span<const iovec> pieces, std::uint64_t access, std::uint64_t key,
                void* context);
  ~memory_region();

  static fi_ops_mr domain_ops;

  // The domain's calls, under its lock.
  void show_to_peers_of(endpoint& e);
  void hide() noexcept { shown_.clear(); }
  /// That endpoint is about to end, which ends what it shows.
  void leave_to(const endpoint& e) noexcept;

  users used;

 private:
  struct shown {
    const endpoint* at;
    weft::region region;
  };
  static int make(fid_t of, std::span<const iovec> pieces, std::uint64_t access, std::uint64_t key,
                  std::uint64_t flags, fid_mr** made, void* context) noexcept;
  bool is_remote() const noexcept { return may_ != rights::none; }

  domain& domain_;
  const std::vector<iovec> pieces_;
  const rights may_;  // what peers may do
  std::list<shown> shown_;
};

}  // namespace weft::ofi
