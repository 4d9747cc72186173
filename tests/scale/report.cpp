// SPDX-License-Identifier: Apache-2.0
#include "scale/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace scale {

using weft::collectives::name_of;

namespace {

constexpr const char* layout =
    "{:<10} {:>8} {:>5}  {:<20}{} {:>10} {:>10} {:>6} {:>9} {:>8} {:>10} {:>10} {:>6} {:>7} "
    "{:>8}\n";

std::string size_text(std::size_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10) return fmt::format("{} KiB", bytes >> 10);
  return bytes == 0 ? "-" : fmt::format("{} B", bytes);
}

std::string microseconds(double t) { return fmt::format("{:.{}f}", t, t < 100 ? 2 : 0); }

}  // namespace

std::string table_head() {
  return fmt::format(layout, "collective", "size", "ranks", "algorithm", ' ', "µs", "bound µs",
                     "ratio", "model µs", "frames", "bytes", "leaving", "peers", "idle B",
                     "peers B");
}

std::string table_line(const finding& f) {
  return fmt::format(
      layout, name_of(f.what.what), size_text(f.what.bytes), f.ranks, f.how, f.chosen ? '*' : ' ',
      microseconds(f.cost.microseconds), microseconds(f.bound.least()),
      fmt::format("{:.2f}", f.ratio()), microseconds(f.predicted),
      fmt::format("{:.1f}", static_cast<double>(f.cost.total.frames) / f.ranks),
      f.cost.total.bytes / f.ranks, f.cost.total.leaving / f.ranks,
      fmt::format("{:.1f}", f.known.peers), f.known.heap_idle, f.known.heap_connected);
}

std::string json_line(const finding& f) {
  const auto each = [&](std::uint64_t all) { return static_cast<double>(all) / f.ranks; };
  const nlohmann::json line{{"collective", name_of(f.what.what)},
                            {"bytes", f.what.bytes},
                            {"ranks", f.ranks},
                            {"algorithm", f.how},
                            {"chosen", f.chosen},
                            {"us", f.cost.microseconds},
                            {"bound_us", f.bound.least()},
                            {"latency_bound_us", f.bound.latency},
                            {"bandwidth_bound_us", f.bound.bandwidth},
                            {"ratio", f.ratio()},
                            {"predicted_us", f.predicted},
                            {"frames_per_rank", each(f.cost.total.frames)},
                            {"most_frames", f.cost.most.frames},
                            {"bytes_per_rank", each(f.cost.total.bytes)},
                            {"most_bytes", f.cost.most.bytes},
                            {"leaving_bytes_per_rank", each(f.cost.total.leaving)},
                            {"peers_per_rank", f.known.peers},
                            {"most_peers", f.known.most_peers},
                            {"links_per_rank", f.known.links},
                            {"heap_idle", f.known.heap_idle},
                            {"heap_of_peers", f.known.heap_connected}};
  return line.dump() + "\n";
}

}  // namespace scale
