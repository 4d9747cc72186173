// SPDX-License-Identifier: Apache-2.0
// A dump as JSON: one object in one line.
#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <string_view>

#include <weft/build.hpp>

#include "api/core/core.hpp"
#include "api/core/dump_report.hpp"

namespace weft::detail {

namespace {

using output = std::back_insert_iterator<std::string>;

std::string json_text(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (all += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      fmt::format_to(output(all), "\\u{:04x}", static_cast<unsigned>(c));
    else
      all += c;
  }
  return all += '"';
}

void add(std::string& to, const proto::pending_line& line) {
  fmt::format_to(output(to), "{{\"kind\":\"{}\"", line.kind);
  if (line.peer != no_peer) fmt::format_to(output(to), ",\"peer\":{}", line.peer);
  if (line.tag) fmt::format_to(output(to), ",\"tag\":{}", *line.tag);
  if (line.bytes) fmt::format_to(output(to), ",\"bytes\":{}", *line.bytes);
  fmt::format_to(output(to), ",\"text\":{}}}", json_text(line.text));
}

void add(std::string& to, const char* name, const proto::pending_lines& of) {
  fmt::format_to(output(to), ",\"{}\":[", name);
  for (const proto::pending_line& line : of.lines) {
    if (&line != &of.lines.front()) to += ',';
    add(to, line);
  }
  fmt::format_to(output(to), "],\"{}_left_out\":{}", name, of.left_out);
}

void add(std::string& to, const lane_dump& one) {
  fmt::format_to(output(to), "{{\"lane\":{},\"stuck\":{}", one.lane, one.stuck);
  if (!one.stuck) {
    fmt::format_to(output(to),
                   ",\"pending\":{},\"passes\":{},\"passes_in_ms\":{},\"state\":\"{}\","
                   "\"progress\":{},\"others\":{},\"served\":{}",
                   one.pending, one.passes, dump_report::observed.count(),
                   runtime::name_of(one.state), json_text(one.progress), one.what.others,
                   one.what.served);
    if (one.first_timer) fmt::format_to(output(to), ",\"first_timer_s\":{:.3f}", *one.first_timer);
    add(to, "operations", one.what.operations);
    add(to, "messages", one.what.messages);
    add(to, "connections", one.what.connections);
  }
  to += '}';
}

}  // namespace

std::string dump_report::json_of(const std::vector<lane_dump>& lanes) const {
  const wireup::job& job = first_lane_.plane().job();
  std::string all = fmt::format("{{\"weft\":\"{}\",\"pid\":{},\"rank\":{},\"size\":{},\"lanes\":[",
                                version(), ::getpid(), job.rank(), job.size());
  for (const lane_dump& one : lanes) {
    if (&one != &lanes.front()) all += ',';
    add(all, one);
  }
  return all += "]}\n";
}

}  // namespace weft::detail
