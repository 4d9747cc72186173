// SPDX-License-Identifier: Apache-2.0
// The steps of a small message, separated by the source files of their code.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "layers/callgrind.hpp"

namespace weft::bench {

struct step {
  const char* name;
  bool above_ring;  ///< part of weft, and not of its transport
};

inline constexpr std::size_t step_count = 9;
/// In the order of a message's way; docs/performance.md says what each is.
inline constexpr std::array<step, step_count> steps{{{"loop", false},
                                                     {"request", true},
                                                     {"lock", true},
                                                     {"protocol", true},
                                                     {"match", true},
                                                     {"complete", true},
                                                     {"ring", false},
                                                     {"copy", false},
                                                     {"other", true}}};

/// The step that the code belongs to. Code of the standard library's headers belongs to the
/// function that it was compiled into.
std::string_view step_of(const instruction_count& code);

/// Instructions of each step for one message.
struct step_counts {
  step_counts(const std::vector<instruction_count>& counts, unsigned messages);
  double all() const noexcept;
  double above_ring() const noexcept;

  std::array<double, step_count> each{};
};

/// The most instructions of each step for a message in that loop, also in a build with assertions;
/// 0: not limited, as are all steps of an unknown loop.
std::array<double, step_count> ceilings_of(std::string_view loop) noexcept;

}  // namespace weft::bench
