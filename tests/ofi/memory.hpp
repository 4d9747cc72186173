// SPDX-License-Identifier: Apache-2.0
// Memory that peers may reach, and the transports to it.
#pragma once

#include <cstring>
#include <string>

#include "side.hpp"

namespace ofi_test {

/// Memory of a side, and its name for others.
class exposed {
 public:
  exposed(side& of, std::span<std::byte> memory,
          std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE)
      : by_address_((of.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0),
        memory_(memory),
        mr_(made<fid_mr>([&](auto m) {
          return fi_mr_reg(of.domain.get(), memory.data(), memory.size(), access, 0, of.keys++, 0,
                           m, nullptr);
        })) {}

  std::uint64_t key() const { return fi_mr_key(mr_.get()); }
  std::uint64_t at(std::uint64_t offset) const {
    return offset + (by_address_ ? reinterpret_cast<std::uintptr_t>(memory_.data()) : 0);
  }

 private:
  const bool by_address_;
  const std::span<std::byte> memory_;
  const owned<fid_mr> mr_;
};

/// Endpoints that are enabled while it lives use these transports.
class through {
 public:
  explicit through(const char* transports) : name(transports) {
    ::setenv("WEFT_TRANSPORTS", transports, 1);
  }
  through(const through&) = delete;
  through& operator=(const through&) = delete;
  ~through() { ::unsetenv("WEFT_TRANSPORTS"); }
  const std::string name;
};

}  // namespace ofi_test
