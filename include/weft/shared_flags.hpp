// SPDX-License-Identifier: Apache-2.0
// shared_flags: numbers in memory that the processes of one host share, which they await.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <weft/group.hpp>
#include <weft/operations/flags.hpp>

namespace weft {

/// Flags: numbers that begin at 0 and only grow, in memory that the members of a group share. A
/// member raises a flag by a store, and others see it by a load: neither sends a message, and it
/// moves although the other side does not run weft. A coroutine awaits a flag like any operation;
/// a process that sleeps is woken when what it awaits has come, and not before. Beside the flags is
/// plain memory. So an application writes what its processes need of one host: a barrier, a queue,
/// a lock, a collective of its own (docs/cookbook.md).
///
///     shared_flags flags = co_await shared_flags::make(world, 1, 1000 * sizeof(double));
///     std::span<double> table = flags.as<double>();      // the same memory at all members
///     if (world.rank() == 0) {
///       fill(table);
///       flags.raise(0, 1);                               // what was written before is seen
///     } else {
///       co_await within(1s, flags.reaches(0, 1));        // by those that have seen the flag
///       use(table);
///     }
///
/// A handle: cheap to copy, must not outlive its context. The memory lasts until the last handle of
/// the last member has gone. Any thread, also such as do not run weft.
///
/// **Waits end.** When a member dies, or leaves (its context ends, or it closes its endpoint),
/// waits at all others end with peer_lost or closed, and so do later ones, but for those whose
/// flags have come: members leave together, as after a barrier. A wait that is stopped (`within`, a
/// stop token) ends alone. A wait ends with closed also when this member's last handle goes.
///
/// All members can write to all of this memory: one that writes garbage harms the users of these
/// flags, and nothing else of weft.
class shared_flags {
 public:
  /// Makes flags for a group, all 0, and zeroed memory. A collective of the group: every member
  /// calls it with the same numbers. When it has ended well, all members have the flags.
  /// \param of    its members share memory: they are on one host, and weft reaches each of them
  ///              over shared memory
  /// \param flags how many
  /// \param bytes of memory beside them
  /// \throws weft::error  unsupported at all members, if one of them cannot share the memory;
  ///         invalid_argument at all, if they asked for different numbers, or for more than 2^32
  ///         flags or 2^40 bytes; what ends a collective (weft/group.hpp); stopped, at all members,
  ///         if one stopped this call
  static task<shared_flags> make(group of, std::size_t flags, std::size_t bytes = 0);

  std::size_t size() const noexcept;  ///< how many flags

  /// What was written before a flag got its value is seen after this.
  /// \throws weft::error (invalid_argument), as all functions that take a flag: there is no such
  /// one
  std::uint64_t value(std::size_t flag) const;

  /// Gives a flag this value; one that is higher already stays. Several may raise a flag at once.
  /// What this thread wrote before is seen by those that see the value.
  /// \param flag  below size()
  /// \param value for waits of a barrier, a queue or the like, best a number that counts
  void raise(std::size_t flag, std::uint64_t value) const;

  /// Counts a flag up, as `raise` otherwise.
  /// \return the value before: different at each call
  std::uint64_t add(std::size_t flag, std::uint64_t by = 1) const;

  /// Ends when a flag has this value, or a higher one: at once, without a suspension, if it has it.
  /// \throws weft::error when awaited  peer_lost, closed: see above; stopped
  flag_request reaches(std::size_t flag, std::uint64_t value) const {
    return all_reach(flag, 1, value);
  }
  /// Ends when each of several flags has had it.
  /// \param first, count those from `first` on
  /// \param value        of each
  flag_request all_reach(std::size_t first, std::size_t count, std::uint64_t value) const;

  /// Memory beside a flag, in its cache line: short data that crosses with it in one transfer.
  std::span<std::byte, 56> beside(std::size_t flag) const;

  /// The memory that all share, at the beginning of a page. Words that several write at once are
  /// used by std::atomic_ref.
  std::span<std::byte> bytes() const noexcept;
  template <class T>
  std::span<T> as() const noexcept {
    static_assert(std::is_trivially_destructible_v<T>, "other processes do not have its memory");
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }

 private:
  explicit shared_flags(detail::communicator_ptr state) noexcept : state_(std::move(state)) {}

  detail::communicator_ptr state_;
};

}  // namespace weft
