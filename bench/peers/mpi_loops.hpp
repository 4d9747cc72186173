// SPDX-License-Identifier: Apache-2.0
// The measured loops in MPI. Every rank calls each function; rank 0 gets the samples, the others
// none.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "support/job.hpp"

namespace weft::bench::mpi {

/// Of the messages that are measured.
inline constexpr int data_tag = 1;

/// Rank in MPI_COMM_WORLD.
int rank();

/// Half round trips in microseconds: blocking MPI_Send and MPI_Recv.
std::vector<double> latency(std::size_t size, const job& what);

/// Microseconds of MPI_Sendrecv with the other rank.
std::vector<double> sendrecv(std::size_t size, double effort);

/// Seconds are counted over windows: `window` MPI_Isend or MPI_Irecv, MPI_Waitall, then an 8-byte
/// acknowledgement. A sample is the number of messages in a microsecond, that is millions of
/// messages a second.
std::vector<double> windows(std::size_t size, const job& what);

/// Microseconds for each message of an all-to-all: every rank posts a receive from and a send to
/// every other rank.
std::vector<double> alltoall(std::size_t size, double effort);

/// Microseconds for each call of one of mpi_collectives (support/job.hpp), one call right after the
/// other. The root of a broadcast rotates, so each call has to wait for the one before.
/// \param crowded whether ranks share cores: they wait for each other's time slices, so fewer calls
///        are enough
std::vector<double> collective(const std::string& which, std::size_t size, double effort,
                               bool crowded);

/// One line for a pattern of collective_patterns (support/job.hpp) of what.call at this size; an
/// empty object on other ranks. \param crowded as above
json collective_pattern(const std::string& pattern, std::size_t size, const job& what,
                        const line_head& head, bool crowded);

/// One line for the pattern (support/job.hpp) at this size; an empty object on other ranks.
json overlap(const std::string& pattern, std::size_t size, const job& what, const line_head& head);

/// A buffer as MPI takes it: counts are int, so a size beyond that throws std::length_error.
int count_of(std::span<const std::byte> buffer);

}  // namespace weft::bench::mpi
