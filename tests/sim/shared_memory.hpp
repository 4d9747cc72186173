// SPDX-License-Identifier: Apache-2.0
// A region of one rank, as the oracle knows it: a slot for each access, and a word for the atomic
// operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <weft/remote_region.hpp>

#include "sim/ledger.hpp"
#include "support/dice.hpp"

namespace sim {

/// The purpose of one access.
enum class use : std::uint8_t {
  put,
  told_put,  ///< a put with a notification
  get,
  add,
  beyond,  ///< of memory behind the region: refused
  before   ///< of memory before it
};

/// Lives until the end of the run. Only its access uses a slot, so a change after the end of the
/// access was written too late.
class shared_memory {
 public:
  /// \param slots the number of slots, of `each` bytes
  /// \param name the owner's name for it; key 0: weft chooses
  shared_memory(dice chance, unsigned slots, std::size_t each, weft::region_name name);

  weft::mutable_buffer all() noexcept { return bytes_; }
  use use_of(unsigned slot) const noexcept;
  std::size_t size_of(unsigned slot) const noexcept;
  weft::remote_region slot(unsigned i) const noexcept;
  weft::remote_region counter() const noexcept { return {key, name.first, sizeof(std::uint64_t)}; }
  /// The bytes that a put writes to the slot, or a get finds there.
  std::vector<std::byte> contents(unsigned slot) const;

  /// Whether an access may end with that status for a reason of the region.
  bool excuses(unsigned slot, errc status) const noexcept;
  /// An access has ended, or its owner was notified. \return empty, or what is wrong
  std::string judge(const access_record& a, std::uint64_t told);
  /// Called when no operation is under way any more.
  std::string judge_rest() const;

  const weft::region_name name;
  std::uint64_t key = 0;  ///< 0: the region has not begun
  bool ending = false;
  bool open_to_all = false;  ///< a rank that breaks the rules owns it, or can reach it

 private:
  bool is_refused(unsigned slot) const noexcept;
  bool holds(unsigned slot) const;
  std::string judge_notified(std::uint64_t told);

  const dice chance_;
  const unsigned slots_;
  const std::size_t each_;
  std::vector<std::byte> bytes_;
  std::set<std::uint64_t> heard_;
  std::set<std::uint64_t> found_;
  std::set<unsigned> written_;
  std::uint64_t added_ = 0;    // by operations that ended well
  std::uint64_t perhaps_ = 0;  // by the others
};

}  // namespace sim
