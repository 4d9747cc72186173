// SPDX-License-Identifier: Apache-2.0
// The collectives of one communicator by flags.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/detail/collective_ops.hpp>

#include "bindings/mpi/open_mpi.hpp"
#include "collectives/flags/flag_rounds.hpp"

namespace weft::collectives {
struct arguments;
struct flag_steps;
}  // namespace weft::collectives

namespace weft::mpi_collectives {

using open_mpi::handle;

/// A rank's view of a communicator whose ranks share memory. Its calls return an error of MPI, or
/// `success`; ranks that make different calls get MPI_ERR_OTHER. One thread at a time, as MPI
/// demands for a communicator.
class flag_communicator {
 public:
  /// \param memory as flag_segment::make made it, of flag_rounds::layout_of
  /// \throws weft::error it is no such memory
  flag_communicator(const unique_fd& memory, handle comm, peer_id rank, peer_id size);

  peer_id rank() const noexcept { return rounds_.rank(); }
  peer_id size() const noexcept { return rounds_.members(); }
  /// Before the first call. \param processes of the ranks: waits end when one has gone
  void watch(std::vector<pid_t> processes) noexcept { processes_ = std::move(processes); }
  /// Before the first call: for what tells this segment from others.
  mutable_buffer memory() const noexcept { return segment_.user_memory(); }

  int barrier() noexcept;
  int broadcast(mutable_buffer data, peer_id root) noexcept;
  /// \param result at the root as long as `mine`, elsewhere empty
  int reduce(const_buffer mine, mutable_buffer result, peer_id root,
             const detail::reduction& how) noexcept;
  int all_reduce(const_buffer mine, mutable_buffer result, const detail::reduction& how) noexcept;

  /// As the error handler of the communicator has it, which may end the job. \return an error
  int fail() const noexcept;

 private:
  enum class call : std::uint8_t { barrier, broadcast, reduce, all_reduce };
  static const char* name_of(std::uint64_t what) noexcept;

  int run(call what, std::size_t bytes, const collectives::arguments& with,
          const collectives::flag_steps& steps) noexcept;
  int wait(const collectives::flag_rounds::awaited& what) noexcept;
  bool has_lost_a_rank() const noexcept;
  bool is_worth_parts(std::size_t bytes) const noexcept;

  const handle comm_;
  runtime::flag_segment segment_;
  collectives::flag_rounds rounds_;
  std::vector<pid_t> processes_;
  const bool crowded_;  // ranks of this host have no core each
};

}  // namespace weft::mpi_collectives
