// SPDX-License-Identifier: Apache-2.0
#include "layers/instruction_steps.hpp"

namespace weft::bench {
namespace {

struct place_of_step {
  std::string_view part_of_path;
  std::string_view step;
};

/// The first that matches counts.
constexpr std::array<place_of_step, 18> places{{{"/src/runtime/os/small_copy.hpp", "copy"},
                                                {"/string/", "copy"},  // memcpy of the C library
                                                {"/include/weft/transport/frame.hpp", "copy"},
                                                {"/src/transports/", "ring"},
                                                {"/src/runtime/sleep/doorbell", "ring"},
                                                {"/src/runtime/os/pause.hpp", "ring"},
                                                {"/src/runtime/lock/progress_lock", "lock"},
                                                {"/src/runtime/progress/progress_core", "lock"},
                                                {"/src/runtime/trace/probes", "protocol"},
                                                {"/src/runtime/trace/trace", "protocol"},
                                                {"/src/runtime/", "complete"},
                                                {"/weft/coro/operation.hpp", "complete"},
                                                {"/src/proto/match/", "match"},
                                                {"/src/proto/", "protocol"},
                                                {"/include/weft/", "request"},
                                                {"/src/coro/", "request"},
                                                {"/src/", "request"},  // api, bindings
                                                {"/bench/", "loop"}}};

struct ceilings {
  std::string_view loop;
  std::array<double, step_count> most;
};

// loop, request, lock, protocol, match, complete, ring, copy, other: what was counted, and a few.
constexpr std::array<ceilings, 9> all_ceilings{
    {{"send", {0, 28, 5, 67, 3, 9, 72, 0, 0}},
     {"receive", {0, 102, 5, 100, 60, 35, 54, 0, 0}},
     {"send-many", {0, 4, 3, 56, 3, 6, 72, 0, 0}},
     {"receive-many", {0, 28, 6, 77, 26, 6, 54, 0, 0}},
     {"send-value", {0, 28, 5, 67, 3, 9, 72, 0, 0}},
     {"receive-value", {0, 113, 5, 100, 60, 35, 54, 0, 0}},
     {"single", {0, 125, 89, 190, 62, 232, 208, 0, 0}},
     {"c-send", {0, 72, 21, 100, 3, 12, 72, 0, 0}},
     {"c-receive", {0, 168, 8, 100, 60, 45, 58, 0, 0}}}};

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

std::array<double, step_count> ceilings_of(std::string_view loop) noexcept {
  for (const ceilings& one : all_ceilings)
    if (one.loop == loop) return one.most;
  return {};
}

}  // namespace weft::bench
