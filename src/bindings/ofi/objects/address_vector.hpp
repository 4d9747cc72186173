// SPDX-License-Identifier: Apache-2.0
// fi_av(3): the addresses of peers, numbered in the order of insertion. Any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include <weft/context_address.hpp>

#include "bindings/ofi/objects/object.hpp"

namespace weft::ofi {

class domain;

class address_vector final : public fid_av {
 public:
  /// \param context_bits of an fi_addr_t that name a receive context (fi_rx_addr)
  address_vector(domain& of, fi_av_type type, unsigned context_bits, void* context);
  ~address_vector();

  /// fi_ops_domain::av_open
  static int open(fid_domain* of, fi_av_attr* attr, fid_av** made, void* context) noexcept;

  /// Nothing: there is no such address, or it was removed.
  std::optional<context_address> at(fi_addr_t address) const;
  std::size_t size() const;
  unsigned context_bits() const noexcept { return context_bits_; }

  users used;  // endpoints

 private:
  static int insert(fid_av* av, const void* addresses, std::size_t count, fi_addr_t* made,
                    std::uint64_t flags, void* context) noexcept;
  static int remove(fid_av* av, fi_addr_t* which, std::size_t count, std::uint64_t flags) noexcept;
  static int lookup(fid_av* av, fi_addr_t which, void* address, std::size_t* size) noexcept;
  static const char* to_text(fid_av* av, const void* address, char* text,
                             std::size_t* size) noexcept;
  static fi_ops_av av_ops;

  domain& domain_;
  const unsigned context_bits_;
  mutable std::mutex mutex_;
  std::vector<std::optional<context_address>> contacts_;
};

}  // namespace weft::ofi
