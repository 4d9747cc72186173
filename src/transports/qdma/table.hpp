// SPDX-License-Identifier: Apache-2.0
// The node-wide table of contexts and their virtual process ids.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "runtime/descriptors/memory_file.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

/// When a process started, in ticks since boot. 0: there is no such process, or /proc does not
/// tell.
std::uint64_t start_of(pid_t pid) noexcept;

/// 128 random bits: where a context can be met.
using socket_id = std::array<std::uint64_t, 2>;

/// A mapped table. Made by the first context of a node and passed on by any; it lives as long as a
/// process has it mapped. Entries are claimed and released by any process at any time; any thread.
///
/// Every process that has the table can write all of it, so nothing relies on it that could do
/// harm: a lying peer makes ids useless, its own or those of others; a process that has met a peer
/// relies on the kernel's answers from that time.
class table final : public sender_table {
 public:
  /// Makes a table. \throws weft::error (system)
  static table make();
  /// Maps a table that a member passed on. \throws weft::error (protocol_error)
  static table from(unique_fd file);

  /// A fresh id for this process. Reclaims the entries of dead processes first.
  /// \throws weft::error (system) when all entries are in use by the living
  vpid claim(socket_id name);
  void release(vpid v) noexcept;

  /// Whether a context has that id now, as far as can be told: not after it was released, nor after
  /// its process has died, even if another process has its process number since.
  bool lives(vpid v) const noexcept override;

  /// The socket where to meet it; zeros: no context has that id.
  socket_id name_of(vpid v) const noexcept;

  /// Frees the entries of dead processes. \return how many
  unsigned sweep() noexcept;

  unsigned claimed() const noexcept;  ///< entries, of living and dead processes

  int fd() const noexcept { return file_.get(); }
  /// Whether that descriptor is of the same table.
  bool is_same(int fd) const noexcept;

 private:
  table(unique_fd file, runtime::mapping memory) noexcept;
  bool owner_lives(const table_entry& e, entry_word w) const noexcept;

  unique_fd file_;
  runtime::mapping mapping_;
  table_memory* memory_;
};

}  // namespace weft::transports::qdma
