// SPDX-License-Identifier: Apache-2.0
// The text of weft/openmetrics.hpp: a table of families, and one loop for each kind of labels.
#include <weft/openmetrics.hpp>

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

#include <weft/build.hpp>

#include "api/core/replace_file.hpp"
#include "proto/frames/peer_number.hpp"

namespace weft {

namespace {

enum class kind : bool { counter, gauge };

/// The name of a family, without its prefix, ends with its unit.
template <class Of>
struct family {
  const char* name;
  const char* help;
  std::uint64_t Of::*value;
  kind what = kind::counter;
  double scale = 1;  // of the unit
};

constexpr std::array<family<traffic_metrics>, 14> of_traffic{{
    {"sent_messages", "Messages that have left, also weft's own", &traffic_metrics::messages_sent},
    {"received_messages", "Messages that have met their receive",
     &traffic_metrics::messages_received},
    {"sent_bytes", "Payload of messages that have left", &traffic_metrics::bytes_sent},
    {"received_bytes", "Payload of messages that have met their receive",
     &traffic_metrics::bytes_received},
    {"made_calls", "Calls that got their reply", &traffic_metrics::calls_made},
    {"served_calls", "Calls and posts that a handler has served", &traffic_metrics::calls_served},
    {"sent_loans", "Messages that the peer may read in place", &traffic_metrics::loans_sent},
    {"viewed_loans", "Messages that were received without a copy", &traffic_metrics::loans_viewed},
    {"started_accesses", "Puts, gets and atomics that the peer has done",
     &traffic_metrics::rma_started},
    {"served_accesses", "Puts, gets and atomics that the peer asked for",
     &traffic_metrics::rma_served},
    {"put_bytes", "Written into the peer's memory", &traffic_metrics::bytes_put},
    {"got_bytes", "Read out of the peer's memory", &traffic_metrics::bytes_got},
    {"put_here_bytes", "Written by the peer into memory here", &traffic_metrics::bytes_put_here},
    {"got_here_bytes", "Read by the peer out of memory here", &traffic_metrics::bytes_got_here},
}};

constexpr std::array<family<connection_metrics>, 4> of_connections{{
    {"sent_again_segments", "Segments that the kernel has sent again over TCP",
     &connection_metrics::segments_sent_again},
    {"encrypted_connections", "TCP connections that were made and encrypted",
     &connection_metrics::connections_encrypted},
    {"sealed_bytes", "Bytes that TLS has encrypted", &connection_metrics::bytes_sealed},
    {"opened_bytes", "Bytes that TLS has decrypted", &connection_metrics::bytes_opened},
}};

constexpr std::array<family<metrics>, 31> of_totals{{
    {"unexpected_messages", "Messages that came before their receive",
     &metrics::unexpected_messages},
    {"unexpected_bytes", "Memory of unexpected messages at this moment",
     &metrics::unexpected_bytes_now, kind::gauge},
    {"unexpected_peak_bytes", "The most of it so far", &metrics::unexpected_bytes_peak,
     kind::gauge},
    {"dropped_messages", "Messages that no receive got", &metrics::messages_dropped},
    {"rendezvous_messages", "Messages that needed a handshake", &metrics::rendezvous},
    {"rendezvous_get_messages", "Of these, read from the sender's memory",
     &metrics::rendezvous_gets},
    {"rendezvous_put_messages", "Of these, written to the receiver's memory",
     &metrics::rendezvous_puts},
    {"shared_copy_chunks", "Parts of payloads that this side wrote for a receiver",
     &metrics::shared_copy_chunks},
    {"lost_links", "Links that were lost while others to the peer remained", &metrics::links_lost},
    {"sent_again_frames", "Frames sent again because their first link was lost",
     &metrics::frames_sent_again},
    {"failed_handshakes", "TLS handshakes that failed", &metrics::handshakes_failed},
    {"sleeps", "Times that a thread slept in the wait set", &metrics::sleeps},
    {"asleep_seconds", "Time that threads slept there", &metrics::nanoseconds_asleep, kind::counter,
     1e-9},
    {"wakes", "Times that an event woke a sleeping thread", &metrics::wake_ups},
    {"empty_wakes", "Of these, those that found nothing", &metrics::empty_wake_ups},
    {"rung_doorbells", "Times that another process was woken", &metrics::doorbells_rung},
    {"progress_passes", "Passes by the progress thread", &metrics::progress_iterations},
    {"opened_streams", "Streams", &metrics::streams_opened},
    {"stream_written_bytes", "Bytes written to streams", &metrics::stream_bytes_written},
    {"stream_read_bytes", "Bytes of streams that have come", &metrics::stream_bytes_read},
    {"stream_waits", "Writes that found no space in the reader's window", &metrics::stream_waits},
    {"refused_calls", "Calls that were answered with an error", &metrics::calls_refused},
    {"dropped_posts", "Posts without a handler, or whose handler failed", &metrics::posts_dropped},
    {"begun_collectives", "Collectives that this process has begun", &metrics::collectives},
    {"registrations", "Registrations of memory with devices", &metrics::memory_registrations},
    {"registration_hits", "Registrations found in the cache", &metrics::registration_hits},
    {"registration_part_hits", "Registrations found as part of a longer range",
     &metrics::registration_sub_range_hits},
    {"registration_evictions", "Registrations ended to make room",
     &metrics::registration_evictions},
    {"registered_bytes", "Memory that is registered at this moment", &metrics::registered_bytes,
     kind::gauge},
    {"striped_bytes", "Bytes of messages over several links", &metrics::striped_bytes},
    {"striped_other_bytes", "Of these, over another link than the first",
     &metrics::striped_bytes_other_links},
}};

std::string escaped(std::string_view value) {
  std::string safe;
  for (const char c : value) {
    if (c == '\n') {
      safe += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') safe += '\\';
    safe += c;
  }
  return safe;
}

class text {
 public:
  /// \param of prefix and name
  void begin(const std::string& of, kind what, const char* help) {
    const std::string_view unit = std::string_view(of).substr(of.rfind('_') + 1);
    add("# TYPE {} {}\n# UNIT {} {}\n# HELP {} {}.\n", of,
        what == kind::counter ? "counter" : "gauge", of, unit, of, help);
    name_ = what == kind::counter ? of + "_total" : of;
  }
  template <class Of>
  void sample(const std::string& labels, const family<Of>& f, const Of& from) {
    if (f.scale == 1)
      add("{}{{{}}} {}\n", name_, labels, from.*f.value);
    else
      add("{}{{{}}} {:.9f}\n", name_, labels, static_cast<double>(from.*f.value) * f.scale);
  }
  template <class... Values>
  void add(fmt::string_view how, const Values&... values) {
    fmt::vformat_to(std::back_inserter(all_), how, fmt::make_format_args(values...));
  }
  std::string take() { return fmt::to_string(all_); }

 private:
  fmt::memory_buffer all_;
  std::string name_;
};

std::string labels_of(const lane_metrics& lane) {
  return fmt::format("rank=\"{}\",lane=\"{}\"", lane.rank, lane.lane);
}

std::string labels_of(const peer_metrics& p) {
  const std::string peer = p.peer < proto::most_ranks ? std::to_string(p.peer) : p.name;
  return fmt::format("peer=\"{}\",transport=\"{}\"", escaped(peer), escaped(p.transport));
}

void add_totals(text& to, std::span<const lane_metrics> lanes) {
  for (const auto& f : of_traffic) {
    to.begin(std::string("weft_") + f.name, f.what, f.help);
    for (const lane_metrics& lane : lanes)
      to.sample<traffic_metrics>(labels_of(lane), f, lane.total);
  }
  for (const auto& f : of_connections) {
    to.begin(std::string("weft_") + f.name, f.what, f.help);
    for (const lane_metrics& lane : lanes)
      to.sample<connection_metrics>(labels_of(lane), f, lane.total);
  }
  for (const auto& f : of_totals) {
    to.begin(std::string("weft_") + f.name, f.what, f.help);
    for (const lane_metrics& lane : lanes) to.sample(labels_of(lane), f, lane.total);
  }
}

void add_transports(text& to, std::span<const lane_metrics> lanes) {
  for (const auto& f : of_traffic) {
    to.begin(std::string("weft_transport_") + f.name, f.what, f.help);
    for (const lane_metrics& lane : lanes)
      for (const transport_metrics& t : lane.transports)
        to.sample<traffic_metrics>(
            fmt::format("{},transport=\"{}\"", labels_of(lane), escaped(t.transport)), f, t);
  }
}

void add_peers(text& to, std::span<const lane_metrics> lanes) {
  const auto each = [&](auto act) {
    for (const lane_metrics& lane : lanes)
      for (const peer_metrics& p : lane.peers)
        act(p, fmt::format("{},{}", labels_of(lane), labels_of(p)));
  };
  for (const auto& f : of_traffic) {
    to.begin(std::string("weft_peer_") + f.name, f.what, f.help);
    each([&](const peer_metrics& p, const std::string& labels) {
      to.sample<traffic_metrics>(labels, f, p);
    });
  }
  for (const auto& f : of_connections) {
    to.begin(std::string("weft_peer_") + f.name, f.what, f.help);
    each([&](const peer_metrics& p, const std::string& labels) {
      to.sample<connection_metrics>(labels, f, p);
    });
  }
  to.add("# TYPE weft_peer_connected gauge\n# HELP weft_peer_connected 1: there is a link.\n");
  each([&](const peer_metrics& p, const std::string& labels) {
    to.add("weft_peer_connected{{{}}} {}\n", labels, p.connected ? 1 : 0);
  });
}

}  // namespace

std::string to_openmetrics(std::span<const lane_metrics> lanes, metrics_detail detail) {
  text all;
  all.add(
      "# TYPE weft_build info\n# HELP weft_build The version of weft.\n"
      "weft_build_info{{version=\"{}\"}} 1\n",
      version());
  add_totals(all, lanes);
  if (detail >= metrics_detail::transports) add_transports(all, lanes);
  if (detail >= metrics_detail::peers) add_peers(all, lanes);
  all.add("# EOF\n");
  return all.take();
}

std::string to_openmetrics(const context& ctx, metrics_detail detail) {
  return to_openmetrics(ctx.snapshot_lanes(), detail);
}

void write_openmetrics(const context& ctx, const std::string& file, metrics_detail detail) {
  detail::replace_file(file, to_openmetrics(ctx, detail));
}

}  // namespace weft
