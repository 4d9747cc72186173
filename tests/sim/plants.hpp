// SPDX-License-Identifier: Apache-2.0
// Planted faults: they show whether the oracle finds faults.
#pragma once

#include <string>
#include <vector>

#include "support/dice.hpp"
#include "transports/fake/world.hpp"

namespace sim {

namespace fake = weft::transports::fake;
using weft::tests::dice;

/// Tampers with the frame that was put on a wire last. \return whether it could
using tampering = bool (*)(fake::wire&);

struct plant_kind {
  std::string name;
  std::string what;     ///< in words
  tampering on_a_wire;  ///< null: the fault is not on a wire
  bool ends_twice;      ///< an operation is completed twice
};

const std::vector<plant_kind>& plant_kinds();

/// One fault in one run, at a random moment.
class planted {
 public:
  /// \param name empty: none. \throws std::invalid_argument naming the possible faults
  planted(const std::string& name, dice chance);

  void put_into(fake::world& w) const;

  /// The number of the end of an operation that is reported twice; 0: none.
  std::uint64_t ends_twice() const noexcept;

 private:
  const plant_kind* kind_ = nullptr;
  std::uint64_t when_ = 0;  ///< the number of the frame, or of the end, that it may affect
};

}  // namespace sim
