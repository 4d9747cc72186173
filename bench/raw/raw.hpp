// SPDX-License-Identifier: Apache-2.0
// The limits of the machine: two processes with shared memory, or with a TCP socket, without a
// library. Each function forks a pair (support/pair.hpp), so call it from a process with one
// thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "output/json_lines.hpp"
#include "support/job.hpp"

namespace weft::bench::raw {

/// The way of a large message from one process's memory to the other's.
enum class copy_way {
  pipelined,  ///< sender copies into a ring of chunks while the receiver copies out of it: heap to
              ///< heap
  streamed,   ///< the same, but the sender's stores pass the caches
  cma,        ///< the receiver calls process_vm_readv: heap to heap, one copy, by the kernel
  direct,  ///< the receiver copies out of the sender's shared segment: one copy, but the source is
           ///< no ordinary heap
};

/// The ring of a pipelined copy.
struct ring_shape {
  std::size_t chunk = 16 << 10;  ///< bytes that are handed over at once
  std::size_t depth = 4;         ///< chunks in the ring
};

/// Half round trips of one cache line that carries its own flag, in microseconds.
std::vector<double> cache_line_us(double effort = 1.0);

/// Millions of messages a second through a ring of 64-byte slots, each with 8 bytes of payload and
/// its flag in one line.
std::vector<double> slot_rate_mmsg_s(double effort = 1.0);

/// Half round trips of `size` bytes, in microseconds.
std::vector<double> copy_latency_us(copy_way way, std::size_t size, ring_shape ring = {},
                                    double effort = 1.0);

/// Megabytes a second, `what.window` messages of `size` bytes in flight, from and into
/// `what.buffer_count()` buffers.
std::vector<double> copy_bandwidth_mb_s(copy_way way, std::size_t size, const job& what,
                                        ring_shape ring = {});

/// Half round trips of `size` bytes over TCP, both sides spinning on non-blocking sockets, in
/// microseconds. Over the loopback interface, unless `what.hosts`.
std::vector<double> socket_latency_us(std::size_t size, const job& what);

/// Megabytes a second over such a socket, `what.window` messages of `size` bytes and then one byte
/// back.
std::vector<double> socket_bandwidth_mb_s(std::size_t size, const job& what);

/// The names of the limits, as measure() and the command line take them.
inline constexpr std::string_view cache_line = "cache_line";
inline constexpr std::string_view slot_rate = "slot_rate";
inline constexpr std::string_view pipelined_copy = "pipelined_copy";
inline constexpr std::string_view streamed_copy = "streamed_copy";
inline constexpr std::string_view cma = "cma";
inline constexpr std::string_view direct_copy = "direct_copy";
inline constexpr std::string_view tcp_socket = "socket";

/// A short description of a limit.
std::string_view about(std::string_view limit);

/// The limits that support `bench` ("latency", "rate", "bandwidth").
std::vector<std::string_view> limits_of(std::string_view bench);

/// Measures `limit` for every size of `what`; unsupported sizes are left out (a cache line carries
/// at most 56 bytes). The lines are those of the same benchmark through a library, plus "limit".
/// Throws std::runtime_error with cause and cure when the machine refuses it (process_vm_readv in
/// some containers).
std::vector<json> measure(std::string_view limit, const job& what, ring_shape ring = {});

}  // namespace weft::bench::raw
