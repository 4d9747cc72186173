// SPDX-License-Identifier: Apache-2.0
// Which communicators of this rank have flags.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "bindings/mpi_collectives/flag_communicator.hpp"

namespace weft::mpi_collectives {

/// The communicators of an MPI process, from MPI_Init to MPI_Finalize. The first calls of one go by
/// MPI, since many communicators have few; then its ranks agree, by MPI's own calls, whether all of
/// them share memory. Any thread.
class communicators {
 public:
  /// After MPI_Init.
  void begin() noexcept { on_.store(true, std::memory_order_release); }
  /// Ahead of MPI_Finalize.
  void end() noexcept { on_.store(false, std::memory_order_release); }

  /// For a collective that all ranks of a communicator make. Null: it goes by MPI, at all of them.
  flag_communicator* find(handle comm) noexcept {
    if (!on_.load(std::memory_order_acquire)) return nullptr;
    entry* e = last_.load(std::memory_order_acquire);
    if (!e || e->comm.load(std::memory_order_relaxed) != comm) [[unlikely]]
      e = look_up(comm);
    if (!e) return nullptr;
    if (e->decided) [[likely]]
      return e->flags.get();
    return count(*e);
  }

 private:
  static constexpr unsigned calls_by_mpi = 8;
  static constexpr int no_key = -1;  // MPI_KEYVAL_INVALID

  /// The attribute of a communicator. They live as long as the process, for another communicator in
  /// time: a thread may read one as it goes.
  struct entry {
    communicators* all = nullptr;
    std::atomic<handle> comm = nullptr;
    unsigned calls = 0;
    bool decided = false;
    std::unique_ptr<flag_communicator> flags;
  };

  entry* look_up(handle comm) noexcept;
  entry* take_entry(handle comm);
  void give_back(entry& e) noexcept;
  int make_key() noexcept;
  flag_communicator* count(entry& e) noexcept;

  std::atomic<bool> on_ = false;
  std::atomic<entry*> last_ = nullptr;
  std::atomic<int> key_ = no_key;  // written with the mutex held
  std::mutex mutex_;               // for what follows
  std::deque<entry> entries_;
};

/// Asks all ranks of a communicator, in the same call of each, whether it can have flags.
/// \return null at all ranks, or at none
std::unique_ptr<flag_communicator> agree_on_flags(handle comm) noexcept;

}  // namespace weft::mpi_collectives
