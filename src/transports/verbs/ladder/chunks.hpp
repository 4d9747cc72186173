// SPDX-License-Identifier: Apache-2.0
// Both rings of a connection, cut into chunks that carry their own news.
#pragma once

#include <optional>

#include "transports/verbs/ladder/connection.hpp"

namespace weft::transports::verbs::ladder {

/// A chunk is one write: what it carries, then its trailer. What was read is told in the trailers
/// of the other direction; without any, by a word, when half of the ring has been read.
class chunks {
 public:
  struct arrived {
    chunk_kind kind;
    std::span<const std::byte> bytes;  ///< the peer may change them at any time
  };

  /// \param on     outlives this
  /// \param bytes  of a chunk
  /// \param offers whether the peer may make some
  chunks(connection& on, std::size_t bytes, bool offers) noexcept
      : line_(on), bytes_(bytes), count_(on.ring() / bytes), offers_(offers) {}

  /// How much one carries.
  std::size_t payload() const noexcept { return bytes_ - sizeof(trailer); }

  /// How many could be filled now.
  std::size_t room();
  /// Where to write what the next one is to carry; only if there is room, and `fill` follows.
  std::byte* place(std::size_t size) const noexcept {
    return end_of(line_.outbox(), filled_) - sizeof(trailer) - size;
  }
  /// It leaves with the next `post`.
  void fill(chunk_kind kind, std::size_t size) noexcept;
  void post();

  /// What comes next, if it is there.
  const arrived* front();
  /// So much of it has been read: the rest is what comes next.
  void take(std::size_t size);
  /// Tells what was read, if the peer may need to know.
  void pay();

 private:
  // Works that are kept for words, and for memory of the application's.
  static constexpr std::uint32_t reserve = 8;

  std::byte* end_of(std::byte* ring, std::uint64_t number) const noexcept {
    return ring + (number % count_ + 1) * bytes_;
  }
  bool is_there(std::uint64_t number, trailer& into) const noexcept;
  void learn(std::uint64_t read);

  connection& line_;
  const std::size_t bytes_, count_;
  const bool offers_;
  std::uint64_t posted_ = 0, filled_ = 0;  // posted are those before filled ones
  std::uint64_t peer_read_ = 0;
  std::uint64_t read_ = 0, told_ = 0;
  std::optional<arrived> front_;
};

}  // namespace weft::transports::verbs::ladder
