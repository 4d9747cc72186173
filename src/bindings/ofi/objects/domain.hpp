// SPDX-License-Identifier: Apache-2.0
// fi_domain(3)
#pragma once

#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <weft/context.hpp>

#include "bindings/ofi/objects/attributes.hpp"
#include "bindings/ofi/objects/fabric.hpp"

namespace weft::ofi {

class endpoint;
class memory_region;

class domain final : public fid_domain {
 public:
  domain(fabric& of, const fi_info& info, void* context) noexcept;
  ~domain();

  /// fi_ops_fabric::domain
  static int open(fid_fabric* of, fi_info* info, fid_domain** made, void* context) noexcept;

  /// The options for the contexts of its endpoints: those of the environment, and those of the
  /// application.
  options chosen() const;

  /// Adds an endpoint; it stays in the domain while it is enabled. Any thread.
  void add(endpoint& e);
  void remove(endpoint& e) noexcept;
  /// Adds the context of a scalable endpoint, whose parts are its lanes. Any thread.
  void add(context& shared);
  void remove(context& shared) noexcept;
  /// As context::invalidate_registrations, in the contexts of all endpoints. Any thread.
  void forget(std::span<const std::byte> memory) noexcept;

  /// Adds memory that peers of all its endpoints, also of later ones, may reach by its key. Any
  /// thread.
  /// \return false: another region has that key
  bool add(memory_region& m);
  /// Waits for peers with a grant to copy from or to it.
  void remove(memory_region& m) noexcept;

  bool accesses() const noexcept { return accesses_; }  ///< FI_RMA or FI_ATOMIC was requested
  const naming& names() const noexcept { return names_; }
  /// A key that no region of the domain has, and that no peer can guess.
  /// \throws weft::error (system)
  std::uint64_t draw_key();

  users used;  // endpoints, queues, counters, address vectors, memory regions

 private:
  static fi_ops_domain domain_ops;
  fabric& fabric_;
  const bool manual_progress_;
  const bool accesses_;
  const naming names_;
  std::mutex mutex_;  // guards the members below
  std::vector<endpoint*> endpoints_;
  std::vector<context*> shared_;
  std::unordered_map<std::uint64_t, memory_region*> regions_;  // by their keys
};

}  // namespace weft::ofi
