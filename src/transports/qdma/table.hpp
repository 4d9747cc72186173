// SPDX-License-Identifier: Apache-2.0
// The node-wide table of contexts: who has which virtual process id.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "runtime/memory_file.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

/// When a process started, in ticks since boot. 0: there is none, or nobody may know.
std::uint64_t start_of(pid_t pid) noexcept;

/// 128 random bits: where a context can be met.
using socket_id = std::array<std::uint64_t, 2>;

/// A mapped table. Made by the first context of a node and handed on by any; it lives as long as
/// somebody has it. Entries are claimed and released by any process at any time; any thread.
///
/// Everybody can write all of it, so it decides nothing that could harm: a liar makes ids useless,
/// its own or others', and whoever has met a peer goes by what the kernel said then.
class table final : public sender_table {
 public:
  /// A new one. \throws weft::error (system)
  static table make();
  /// One that a member handed on. \throws weft::error (protocol_error)
  static table from(runtime::unique_fd file);

  /// A fresh id for this process. Reclaims what the dead have left first.
  /// \throws weft::error (system) when all entries are in use by the living
  vpid claim(socket_id name);
  void release(vpid v) noexcept;

  /// Whether a context has that id now, as far as one can tell: not after it was released, nor
  /// after its process has died, whoever has its process number since.
  bool lives(vpid v) const noexcept override;

  /// Where to meet it; zeros: nobody has that id.
  socket_id name_of(vpid v) const noexcept;

  /// Frees the entries of the dead. \return how many
  unsigned sweep() noexcept;

  unsigned claimed() const noexcept;  ///< entries, of the living and the dead

  int fd() const noexcept { return file_.get(); }
  /// Whether that descriptor is of the same table.
  bool is_same(int fd) const noexcept;

 private:
  table(runtime::unique_fd file, runtime::mapping memory) noexcept;
  bool owner_lives(const table_entry& e, entry_word w) const noexcept;

  runtime::unique_fd file_;
  runtime::mapping mapping_;
  table_memory* memory_;
};

}  // namespace weft::transports::qdma
