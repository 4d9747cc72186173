// SPDX-License-Identifier: Apache-2.0
// The collectives of a group on plain bytes: weft/group.hpp makes them typed. Applications do not
// name these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/message.hpp>

namespace weft::collectives {
class communicator;
}

namespace weft::detail {

using communicator_ptr = std::shared_ptr<collectives::communicator>;

/// How two lists of elements become one.
struct reduction {
  std::size_t element;  ///< bytes
  bool commutative;     ///< operands may change places, so that faster algorithms may be used
  /// out[i] = left[i] op right[i]; `out` may be `left` or `right`. May throw.
  void (*combine)(const void* op, const std::byte* left, const std::byte* right, std::byte* out,
                  std::size_t elements);
  std::shared_ptr<const void> op;  ///< null: it has no state
  /// Of the element (upper byte) and the operation: members compare them. 0: not known.
  std::uint16_t name = 0;

  void operator()(const_buffer left, const_buffer right, std::byte* out) const {
    combine(op.get(), left.data(), right.data(), out, left.size() / element);
  }
};

/// In place of the name of a reduction.
inline constexpr std::uint16_t name_of_split = 0xffff, name_of_shared_flags = 0xfffe;
/// "plus of 8-byte floating-point numbers"
std::string describe_reduction(std::uint16_t name);

/// The size of each rank's part.
using byte_counts = std::vector<std::size_t>;

// Each ends when this process has its result and its buffers are its own again; it throws what
// group says. The shapes of buffers are checked there, and here that they do not overlap.
task<void> barrier(communicator_ptr of);
task<void> broadcast(communicator_ptr of, mutable_buffer data, peer_id root);
task<void> reduce(communicator_ptr of, const_buffer mine, mutable_buffer result, reduction how,
                  peer_id root);
task<void> all_reduce(communicator_ptr of, mutable_buffer data, reduction how);
task<void> scan(communicator_ptr of, mutable_buffer data, reduction how);
task<void> gather(communicator_ptr of, const_buffer mine, mutable_buffer all, peer_id root);
task<void> scatter(communicator_ptr of, const_buffer all, mutable_buffer mine, peer_id root);
task<void> all_gather(communicator_ptr of, const_buffer mine, mutable_buffer all,
                      std::uint16_t operation = 0);
task<void> all_to_all(communicator_ptr of, const_buffer out, mutable_buffer in);
/// The same with parts of different sizes, which lie behind each other.
task<void> gather(communicator_ptr of, const_buffer mine, mutable_buffer all, byte_counts parts,
                  peer_id root);
task<void> scatter(communicator_ptr of, const_buffer all, byte_counts parts, mutable_buffer mine,
                   peer_id root);
task<void> all_to_all(communicator_ptr of, const_buffer out, byte_counts out_parts,
                      mutable_buffer in, byte_counts in_parts);

peer_id rank_in(const collectives::communicator& of) noexcept;
peer_id size_of(const collectives::communicator& of) noexcept;

}  // namespace weft::detail
