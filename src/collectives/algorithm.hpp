// SPDX-License-Identifier: Apache-2.0
// An algorithm is one entry of its collective's table. README.md tells how to add one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/detail/collective_ops.hpp>

#include "collectives/call.hpp"
#include "collectives/select.hpp"

namespace weft::collectives {

using detail::reduction;

class collective;
struct flag_steps;

/// The sizes of the parts of what goes in and out, where they differ.
struct part_sizes {
  detail::byte_counts in = {}, out = {};
};

/// What a member gives to a collective; each kind uses some of it. Short collectives make and pass
/// one for each call, so it is small, and passed by reference.
struct arguments {
  const_buffer in = {};     ///< what this rank gives; for all_reduce and scan the same as `out`
  mutable_buffer out = {};  ///< what it gets; for broadcast also what it gives
  peer_id root = 0;
  reduction how = {};
  std::unique_ptr<const part_sizes> parts = {};  ///< null: they are equal
  std::uint64_t number = not_begun;              ///< of a call that has begun by flags
};

/// \throws std::bad_alloc
inline std::unique_ptr<const part_sizes> sizes_of(detail::byte_counts in, detail::byte_counts out) {
  return std::make_unique<const part_sizes>(part_sizes{std::move(in), std::move(out)});
}

/// The numbers of the cost formulas. In a group of several hosts a, b and `message` are those of
/// one member of a host that sends to another host; with levels, others know that near steps cost
/// less, and that the ranks of a host share its port.
struct terms {
  terms(const collective_size& size, const group_shape& g) noexcept;
  double message(double bytes) const noexcept { return far.message(bytes); }
  /// log2 n steps, in which few ranks of a host send to others: those of a tree.
  double tree(double bytes) const noexcept;
  /// log2 n steps, in which all ranks send so many bytes; the near ones first.
  double exchanges(double bytes) const noexcept;
  /// The same with half of the bytes, a half of that, ...
  double halves(double bytes) const noexcept;
  /// Once by flags: an arrival, and the look at those of all.
  double flags() const noexcept { return 0.1 + 0.03 * n; }
  /// Rounds by slots. \param bytes of one rank
  double rounds(double bytes) const noexcept;

  double n, log_n;   ///< ranks; log2 of them, rounded up
  double a, b, c;    ///< microseconds of a message, of each byte, of each reduced byte
  double m;          ///< bytes of one rank's part
  double share;      ///< m (n - 1) / n: what a ring moves of a buffer
  double f;          ///< microseconds of each byte that crosses by way of a slot
  double crowd = 1;  ///< ranks that share the port of a host
  std::size_t element;
  bool commutative;
  const group_shape& group;

 private:
  message_costs far;
  double far_steps;  ///< of log2 n: between hosts
};

/// What an algorithm does once the collective has begun. The arguments live until its end.
using algorithm_steps = task<void> (*)(collective c, const arguments& with);

/// One way to do a collective. Lives as long as the program.
struct algorithm {
  std::string_view name;  ///< as in WEFT_COLLECTIVES
  double (*cost)(const terms& t);
  /// Why it cannot be used, for `weft-info --why`; null: it can. All members get the same answer.
  const char* (*unfit)(const collective_size& c, const group_shape& g);
  /// The collective at one member, from its beginning to its end.
  task<void> (*body)(detail::communicator_ptr&& of, const collective_call& made, arguments&& with);
  // As a part of another collective; both null: it is none.
  algorithm_steps steps = nullptr;
  const flag_steps* flags = nullptr;
};

/// A collective. Its file has its table, and what applications call.
struct collective_table {
  std::string_view name;
  std::string_view root_is;               ///< "to" or "from" the root; empty: there is no root
  std::span<const algorithm> algorithms;  ///< 15 at most; the first one serves always
};
extern const collective_table barrier_table, broadcast_table, reduce_table, all_reduce_table,
    gather_table, scatter_table, all_gather_table, all_to_all_table, scan_table;

const collective_table& table_of(kind k) noexcept;

/// `algorithm::unfit` of one that serves always.
inline const char* serves_always(const collective_size&, const group_shape&) { return nullptr; }
/// Of one that changes the order of operands, and gives each rank a block of them.
inline const char* unfit_for_blocks(const collective_size& c, const group_shape& g) {
  if (!c.commutative) return "the operation does not commute";
  if (g.ranks < 2) return "there is no other rank";
  return c.bytes < 8 * std::uint64_t{g.ranks} ? "fewer than 8 bytes for each rank" : nullptr;
}
/// Of one that needs parts of one size.
const char* unfit_for_parts(const collective_size& c, const group_shape& g);

/// One collective by those steps, from its beginning to its end.
/// \param made what it is: equal at all members
task<void> run(detail::communicator_ptr of, collective_call made, arguments with,
               algorithm_steps steps);

/// `algorithm::body` of steps.
template <algorithm_steps steps>
task<void> in_frame(detail::communicator_ptr&& of, const collective_call& made, arguments&& with) {
  return run(std::move(of), made, std::move(with), steps);
}

}  // namespace weft::collectives
