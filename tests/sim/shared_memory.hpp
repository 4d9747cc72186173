// SPDX-License-Identifier: Apache-2.0
// A region of one rank, as the oracle knows it: a slot for each access, and a word that is counted
// in.
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

/// What one access is for.
enum class use : std::uint8_t {
  put,
  told_put,  ///< and its owner is told
  get,
  add,
  beyond,  ///< of memory that is not there, behind the region: refused
  before   ///< or before it
};

/// Lives until the end of the run. Nobody touches a slot but its access, so whatever is found there
/// later than an access ended was written too late.
class shared_memory {
 public:
  /// \param slots so many, of `each` bytes
  /// \param called what its owner wants it to be called; key 0: as weft likes
  shared_memory(dice chance, unsigned slots, std::size_t each, weft::region_name name);

  weft::mutable_buffer all() noexcept { return bytes_; }
  use use_of(unsigned slot) const noexcept;
  std::size_t size_of(unsigned slot) const noexcept;
  weft::remote_region slot(unsigned i) const noexcept;
  weft::remote_region counter() const noexcept { return {key, name.first, sizeof(std::uint64_t)}; }
  /// What a put writes there, or a get finds.
  std::vector<std::byte> contents(unsigned slot) const;

  /// Whether an access may end like that for a reason that is the region's.
  bool excuses(unsigned slot, errc status) const noexcept;
  /// An access has ended, or its owner has been told. \return empty, or what is wrong
  std::string judge(const access_record& a, std::uint64_t told);
  /// Nothing is under way any more.
  std::string judge_rest() const;

  const weft::region_name name;
  std::uint64_t key = 0;  ///< 0: it has not begun
  bool ending = false;
  bool open_to_all = false;  ///< a rank that keeps no rules has it, or reaches it

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
  std::uint64_t added_ = 0;    // by those that ended well
  std::uint64_t perhaps_ = 0;  // by the others
};

}  // namespace sim
