// SPDX-License-Identifier: Apache-2.0
// The counters of a context as OpenMetrics text, for Prometheus and what reads its formats.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <weft/context.hpp>
#include <weft/metrics.hpp>

namespace weft {

/// How many samples: totals are some 50 for each lane; each transport and each peer has 14 to 19
/// more.
enum class metrics_detail : std::uint8_t { totals, transports, peers };

/// The counters as OpenMetrics text (version 1.0), with types and units, and labels `rank`, `lane`,
/// `transport` and `peer`. Families of single transports begin with weft_transport_, those of peers
/// with weft_peer_, so that sums do not count twice.
/// docs/operating.md lists them. Content-Type: see openmetrics_content_type.
/// \param lanes  from context::snapshot_lanes
/// \param detail which samples
/// \throws std::bad_alloc
std::string to_openmetrics(std::span<const lane_metrics> lanes,
                           metrics_detail detail = metrics_detail::peers);

/// The same of a context, now. Any thread.
/// \param ctx    the context
/// \param detail which samples
/// \code
/// std::string page = weft::to_openmetrics(ctx);   // for GET /metrics of a server of your own
/// \endcode
std::string to_openmetrics(const context& ctx, metrics_detail detail = metrics_detail::peers);

/// The value of an HTTP response's Content-Type for this text.
inline constexpr const char* openmetrics_content_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Replaces a file with the text: a reader finds the former text or the new one, never a part. The
/// new one is written to FILE.tmp first. Options can have that done in intervals
/// (options::metrics_file).
/// \param ctx    the context
/// \param file   to be replaced, in a folder where this process may make files
/// \param detail which samples
/// \throws weft::error (system) that names the file and the cause; std::bad_alloc
void write_openmetrics(const context& ctx, const std::string& file,
                       metrics_detail detail = metrics_detail::peers);

}  // namespace weft
