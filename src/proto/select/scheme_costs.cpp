// SPDX-License-Identifier: Apache-2.0
#include "proto/select/scheme_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace weft::proto {

std::size_t scheme_costs::class_of(std::uint64_t bytes) noexcept {
  constexpr std::size_t first = 15;  // up to 2^15 bytes
  const auto width =
      static_cast<std::size_t>(std::bit_width(std::max<std::uint64_t>(bytes, 1) - 1));
  return std::min(std::max(width, first) - first, size_classes - 1);
}

double scheme_costs::cost(payload_scheme how, std::uint64_t bytes) const noexcept {
  const size_class& c = classes_[class_of(bytes)];
  return how == payload_scheme::get ? c.get.per_kib : c.frames.per_kib;
}

void scheme_costs::note_answer(std::uint64_t bytes, bool gets) noexcept {
  std::uint32_t& n = classes_[class_of(bytes)].answers;
  if (gets ? n != most_answers : n != 0) gets ? ++n : --n;
}

bool scheme_costs::receivers_get(std::uint64_t bytes) const noexcept {
  return classes_[class_of(bytes)].answers > most_answers / 2;
}

bool scheme_costs::is_known(const size_class& c) noexcept {
  return c.frames.per_kib != 0 && c.get.per_kib != 0;
}

/// The first choice of a class: as the nearest class that is known has it, of two the larger one.
void scheme_costs::begin_as_neighbour(std::size_t index) noexcept {
  size_class& c = classes_[index];
  for (std::size_t distance = 1; distance != size_classes; ++distance)
    for (const std::size_t other : {index + distance, index - distance}) {
      if (other >= size_classes || !is_known(classes_[other])) continue;
      c.frames.per_kib = classes_[other].frames.per_kib;
      c.get.per_kib = classes_[other].get.per_kib;
      c.frames.runs = c.get.runs = runs_before_use;
      return;
    }
}

bool scheme_costs::next_run_gets(const size_class& c) noexcept {
  const float frames = c.frames.per_kib, get = c.get.per_kib;
  if (std::min(c.frames.runs, c.get.runs) < runs_before_use) return c.get.runs < c.frames.runs;
  if (frames == 0 || get == 0) return get != 0;  // payloads that did not end have no cost
  const auto [low, high] = std::minmax(frames, get);
  const std::uint32_t between = high < 1.3F * low ? runs_between_close : runs_between_far;
  return (get < frames) != (c.runs % between == 0);
}

/// Whether the payload that has ended shows that this run, of the dearer scheme, is not worth its
/// other payloads. Only if no other payload is under way: of several, the first one to end has the
/// time of all.
bool scheme_costs::is_hopeless(const size_class& c) noexcept {
  const measured& tried = c.gets ? c.get : c.frames;
  const measured& other = c.gets ? c.frames : c.get;
  const bool only_one = c.alone && payloads_per_run - c.left == tried.payloads;
  return only_one && tried.runs > 1 && other.per_kib != 0 &&
         (tried.per_kib == 0 || tried.per_kib > other.per_kib) &&
         tried.ns > 2 * double{other.per_kib} * tried.kib;
}

payload_scheme scheme_costs::choose(std::uint64_t bytes, std::size_t under_way) noexcept {
  size_class& c = classes_[class_of(bytes)];
  if (c.left == 0) {
    if (c.runs++ == 0) begin_as_neighbour(class_of(bytes));
    c.gets = next_run_gets(c);
    ++(c.gets ? c.get : c.frames).runs;
    // Long enough for payloads that have the machine to themselves.
    c.mixed = static_cast<std::uint32_t>(std::min<std::size_t>(under_way, 64));
    c.left = payloads_per_run + 2 * c.mixed;
    c.alone = c.mixed == 0;
  }
  --c.left;
  return c.gets ? payload_scheme::get : payload_scheme::frames;
}

void scheme_costs::note(payload_scheme how, std::uint64_t bytes, std::uint64_t counted,
                        std::chrono::nanoseconds took) noexcept {
  size_class& c = classes_[class_of(bytes)];
  if ((how == payload_scheme::get) != c.gets) return;
  if (c.mixed != 0) {
    --c.mixed;
    return;
  }
  measured& m = c.gets ? c.get : c.frames;
  m.kib += static_cast<double>(counted) / 1024;
  m.ns += static_cast<double>(took.count());
  if (++m.payloads != payloads_per_run && !is_hopeless(c)) return;
  if (m.payloads != payloads_per_run) c.left = 0;
  const auto sample = static_cast<float>(m.ns / m.kib);
  m.payloads = 0;
  m.kib = m.ns = 0;
  // Disturbances only add to a time (the process was not running, a thread was woken): so a higher
  // sample counts less than a lower one, and one far off as little as one that is somewhat off. The
  // first sample has page faults and cold caches, and is replaced by the second.
  if (m.per_kib == 0 || m.runs <= 2)
    m.per_kib = sample;
  else
    m.per_kib +=
        (std::min(sample, 3 * m.per_kib) - m.per_kib) * (sample < m.per_kib ? 0.5F : 0.25F);
}

scheme_costs& scheme_cost_table::of(std::string_view transport) noexcept {
  const auto known = std::find_if(all_.begin(), all_.end() - 1, [&](const entry& e) {
    return e.transport.empty() || e.transport == transport;
  });
  known->transport = transport;
  return known->costs;
}

std::string scheme_cost_table::describe() const {
  std::string text;
  for (const entry& e : all_)
    for (std::uint64_t bytes = 32 * 1024; !e.transport.empty() && bytes <= (16u << 20);
         bytes *= 2) {
      const double frames = e.costs.cost(payload_scheme::frames, bytes);
      const double get = e.costs.cost(payload_scheme::get, bytes);
      if (frames == 0 || get == 0) continue;
      text += fmt::format("measured: {}, up to {} KiB: frames {:.0f} ns/KiB, get {:.0f} ns/KiB\n",
                          e.transport, bytes / 1024, frames, get);
    }
  return text;
}

}  // namespace weft::proto
