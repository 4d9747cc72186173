// SPDX-License-Identifier: Apache-2.0
// fi_mr(3): weft registers memory by itself, so a region for messages is nothing but a handle. It
// tells when the memory is about to become something else: the application closes it before.
#pragma once

#include <span>
#include <vector>

#include "bindings/ofi/domain.hpp"

namespace weft::ofi {

class memory_region final : public fid_mr {
 public:
  memory_region(domain& of, std::span<const iovec> pieces, std::uint64_t key, void* context);
  ~memory_region();

  static fi_ops_mr domain_ops;
  users used;

 private:
  static int make(fid_t of, std::span<const iovec> pieces, std::uint64_t access, std::uint64_t key,
                  std::uint64_t flags, fid_mr** made, void* context) noexcept;
  domain& domain_;
  const std::vector<iovec> pieces_;
};

}  // namespace weft::ofi
