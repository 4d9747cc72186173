// SPDX-License-Identifier: Apache-2.0
// Collectives that consist of others: by levels, one inside each host and one between hosts.
#pragma once

#include <optional>

#include "collectives/algorithms/data.hpp"
#include "collectives/flags/flag_call.hpp"

namespace weft::collectives {

/// The choice for a part of another collective: as `choose`, of the algorithms that can be a part.
/// \param g shape of the part
const algorithm& choose_part(const collective_size& c, const group_shape& g) noexcept;
/// Its cost in microseconds.
double cost_of_part(const collective_size& c, const group_shape& g) noexcept;

/// A part of a collective. Made before the whole waits for anything: a part by flags has its rounds
/// from then on, and all members have to give rounds to their calls in one order.
class part_of_collective {
 public:
  /// \param among `collective::in_host` or `in_slice` of the whole; or the whole
  /// \param bytes of one rank's part; of_parts
  /// \param with  read, and in use, during `perform`; where its buffers are may change before
  part_of_collective(const collective& among, kind what, std::uint64_t bytes,
                     const arguments& with);
  /// Once.
  task<void> perform();

 private:
  const collective c_;
  const collective_size size_;
  const arguments& with_;
  const algorithm* how_;
  std::optional<flag_call> by_flags_;
};

/// `algorithm::unfit` of a collective by levels.
const char* unfit_for_levels(const collective_size& c, const group_shape& g);
/// Of one of whose data each slice has a part.
const char* unfit_for_shares(const collective_size& c, const group_shape& g);
/// The same of a reduction, whose operands change places.
const char* unfit_for_reduced_shares(const collective_size& c, const group_shape& g);

/// What parts of a collective of this size cost, one after the other, in a group with levels.
class cost_of_levels {
 public:
  explicit cost_of_levels(const terms& t) noexcept
      : t_(t), host_(t.group.of_host()), of_host_(size({}, t.m), host_) {}
  /// Ranks of a host; hosts.
  double p() const noexcept { return host_.ranks; }
  double h() const noexcept { return t_.n / p(); }
  /// Of the same data among the ranks of a host.
  const terms& of_host() const noexcept { return of_host_; }
  double in_host(kind what, double bytes) const noexcept {
    return cost_of_part(size(what, bytes), host_);
  }
  double in_slice(kind what, double bytes, bool all = true) const noexcept {
    return cost_of_part(size(what, bytes), t_.group.of_slice(all));
  }

 private:
  collective_size size(kind what, double bytes) const noexcept {
    return {what, static_cast<std::uint64_t>(bytes), t_.commutative, t_.element};
  }
  const terms& t_;
  const group_shape host_;
  const terms of_host_;
};

}  // namespace weft::collectives
