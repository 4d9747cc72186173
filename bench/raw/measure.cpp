// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <stdexcept>

#include "raw/raw.hpp"

namespace weft::bench::raw {
namespace {

/// The bytes beside the flag in one line.
constexpr std::size_t line_payload = 56;

copy_way way_of(std::string_view limit) {
  if (limit == pipelined_copy) return copy_way::pipelined;
  if (limit == streamed_copy) return copy_way::streamed;
  if (limit == cma) return copy_way::cma;
  if (limit == direct_copy) return copy_way::direct;
  throw std::invalid_argument(fmt::format(
      "no raw limit is called {}; there are {}, {}, {}, {}, {}, {} and {}", limit, cache_line,
      slot_rate, pipelined_copy, streamed_copy, cma, direct_copy, tcp_socket));
}

}  // namespace

std::string_view about(std::string_view limit) {
  if (limit == cache_line) return "one line to the other core and back, no library";
  if (limit == slot_rate) return "a ring of slots in shared memory, no library";
  if (limit == tcp_socket) return "both sides spin on non-blocking sockets, no library";
  switch (way_of(limit)) {
    case copy_way::pipelined:
      return "both sides copy at once through a ring, no library";
    case copy_way::streamed:
      return "the same, with stores that pass the caches, no library";
    case copy_way::cma:
      return "the receiver calls process_vm_readv, no library";
    case copy_way::direct:
      break;
  }
  return "the receiver copies out of shared memory, no library";
}

std::vector<std::string_view> limits_of(std::string_view bench) {
  if (bench == "latency") return {cache_line, pipelined_copy, cma, direct_copy, tcp_socket};
  if (bench == "rate") return {slot_rate};
  if (bench == "bandwidth") return {pipelined_copy, streamed_copy, cma, direct_copy, tcp_socket};
  return {};
}

std::vector<json> measure(std::string_view limit, const job& what, ring_shape ring) {
  std::vector<json> lines;
  const auto add = [&](std::size_t size, std::string_view metric,
                       const std::vector<double>& samples) {
    const std::string transport = limit == tcp_socket ? "tcp" : "shm";
    auto line = make_line({what.bench, transport, "spinning", size}, metric, samples);
    line["contestant"] = fmt::format("raw {}", limit);
    line["limit"] = limit;
    if (limit == pipelined_copy || limit == streamed_copy)
      line["ring"] = {{"chunk", ring.chunk}, {"depth", ring.depth}};
    if (what.bench != "latency") {
      line["window"] = limit == slot_rate ? 0 : what.window;
      line["buffers"] = what.buffers;
    }
    lines.push_back(std::move(line));
  };

  for (const auto size : what.sizes) {
    const bool small = size <= line_payload;
    if (limit == cache_line) {
      if (small) add(size, half_rtt_us, cache_line_us(what.effort));
    } else if (limit == slot_rate) {
      if (small) add(size, mmsg_s, slot_rate_mmsg_s(what.effort));
    } else if (limit == tcp_socket) {
      if (what.bench == "latency")
        add(size, half_rtt_us, socket_latency_us(size, what));
      else
        add(size, mb_s, socket_bandwidth_mb_s(size, what));
    } else if (const auto way = way_of(limit); !small) {
      if (what.bench == "latency")
        add(size, half_rtt_us, copy_latency_us(way, size, ring, what.effort));
      else
        add(size, mb_s, copy_bandwidth_mb_s(way, size, what, ring));
    }
  }
  return lines;
}

}  // namespace weft::bench::raw
