// SPDX-License-Identifier: Apache-2.0
// Both rings of a connection, cut into chunks whose trailers carry the counts.
#pragma once

#include <optional>

#include "transports/channel/line.hpp"

namespace weft::transports::channel {

/// A chunk is one write: the bytes that it carries, then its trailer. The count of chunks read is
/// told in the trailers of the other direction; without any, by a word, when half of the ring has
/// been read.
class chunks {
 public:
  struct arrived {
    chunk_kind kind;
    std::span<const std::byte> bytes;  ///< the peer may change them at any time
  };

  /// \param on     outlives this
  /// \param bytes  of a chunk
  /// \param offers whether the peer may make offers
  chunks(line& on, std::size_t bytes, bool offers) noexcept
      : line_(on), bytes_(bytes), count_(on.ring() / bytes), offers_(offers) {}

  /// How many bytes a chunk carries.
  std::size_t payload() const noexcept { return bytes_ - sizeof(trailer); }

  /// How many chunks could be filled now.
  std::size_t room();
  /// Where to write the bytes of the next chunk; only if there is room, and `fill` follows.
  std::byte* place(std::size_t size) const noexcept {
    return end_of(line_.outbox(), filled_) - sizeof(trailer) - size;
  }
  /// Finishes the next chunk, which leaves with the next `post`.
  void fill(chunk_kind kind, std::size_t size) noexcept;
  void post();

  /// The next chunk to read, if it has arrived.
  const arrived* front();
  /// So many bytes of that chunk have been read: the rest is next.
  void take(std::size_t size);
  /// Tells how many chunks were read, if the peer may need to know.
  void pay();

 private:
  // Works that are kept for words, and for memory of the application.
  static constexpr std::uint32_t reserve = 8;

  std::byte* end_of(std::byte* ring, std::uint64_t number) const noexcept {
    return ring + (number % count_ + 1) * bytes_;
  }
  bool is_there(std::uint64_t number, trailer& into) const noexcept;
  void learn(std::uint64_t read);

  line& line_;
  const std::size_t bytes_, count_;
  const bool offers_;
  std::uint64_t posted_ = 0,
                filled_ = 0;  // all chunks before posted_ have left; all before filled_ are filled
  std::uint64_t peer_read_ = 0;
  std::uint64_t read_ = 0, told_ = 0;
  std::optional<arrived> front_;
};

}  // namespace weft::transports::channel
