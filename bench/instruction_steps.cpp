// SPDX-License-Identifier: Apache-2.0
#include "instruction_steps.hpp"

namespace weft::bench {
namespace {

struct place_of_step {
  std::string_view part_of_path;
  std::string_view step;
};

/// The first that matches counts.
constexpr std::array<place_of_step, 18> places{{{"/src/runtime/small_copy.hpp", "copy"},
                                                {"/string/", "copy"},  // memcpy of the C library
                                                {"/src/transports/frame.hpp", "copy"},
                                                {"/src/transports/", "ring"},
                                                {"/src/runtime/doorbell", "ring"},
                                                {"/src/runtime/pause.hpp", "ring"},
                                                {"/src/runtime/progress_lock", "lock"},
                                                {"/src/runtime/progress_core", "lock"},
                                                {"/src/runtime/trace", "protocol"},
                                                {"/src/runtime/", "complete"},
                                                {"/weft/coro/operation.hpp", "complete"},
                                                {"/src/proto/match", "match"},
                                                {"/src/proto/unexpected", "match"},
                                                {"/src/proto/", "protocol"},
                                                {"/include/weft/", "request"},
                                                {"/src/coro/", "request"},
                                                {"/src/", "request"},  // api, bindings
                                                {"/bench/", "loop"}}};

struct ceiling {
  std::string_view loop;
  double most;
};

}  // namespace

std::string_view step_of(const instruction_count& code) {
  for (const std::string* file : {&code.file, &code.home}) {
    if (file->find("/usr/include/") != std::string::npos) continue;
    for (const place_of_step& one : places)
      if (file->find(one.part_of_path) != std::string::npos) return one.step;
  }
  return "other";
}

step_counts::step_counts(const std::vector<instruction_count>& counts, unsigned messages) {
  for (const instruction_count& one : counts)
    for (std::size_t i = 0; i < step_count; ++i)
      if (steps[i].name == step_of(one))
        each[i] += static_cast<double>(one.instructions) / messages;
}

double step_counts::all() const noexcept {
  double sum = 0;
  for (const double one : each) sum += one;
  return sum;
}

double step_counts::above_ring() const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < step_count; ++i)
    if (steps[i].above_ring) sum += each[i];
  return sum;
}

double ceiling_of(std::string_view loop) noexcept {
  constexpr std::array<ceiling, 0> ceilings{};
  for (const ceiling& one : ceilings)
    if (one.loop == loop) return one.most;
  return 0;
}

}  // namespace weft::bench
