// SPDX-License-Identifier: Apache-2.0
// fi_mr(3): weft needs no registration, so a region for messages is nothing but a handle.
#pragma once

#include "bindings/ofi/domain.hpp"

namespace weft::ofi {

class memory_region final : public fid_mr {
 public:
  memory_region(domain& of, std::uint64_t key, void* context) noexcept;
  ~memory_region();

  static fi_ops_mr domain_ops;
  users used;

 private:
  static int make(fid_t of, std::uint64_t access, std::uint64_t key, std::uint64_t flags,
                  fid_mr** made, void* context) noexcept;
  domain& domain_;
};

}  // namespace weft::ofi
