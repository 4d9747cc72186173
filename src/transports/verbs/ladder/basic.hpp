// SPDX-License-Identifier: Apache-2.0
// The lowest rung: a ring of bytes, and a separate write for each change of a pointer.
#pragma once

#include "transports/verbs/ladder/connection.hpp"

namespace weft::transports::verbs::ladder {

/// Head and tail count bytes since the beginning. The writer has the head, the reader the tail;
/// each has a word into which the other side writes its own count.
class basic_pipe final : public pipe {
 public:
  basic_pipe(device& on, const settings& s) : line_(on, s) {}

  std::span<const std::byte> card() const noexcept override {
    return std::as_bytes(std::span(&line_.card(), 1));
  }
  void meet(std::span<const std::byte> card) override { line_.meet(card); }
  std::size_t put(std::span<const const_buffer> data) override;
  std::size_t get(std::span<const mutable_buffer> into) override;
  void progress() override { line_.look(); }
  void close() noexcept override { line_.shut(); }

 private:
  connection line_;
  std::uint64_t head_ = 0, peer_tail_ = 0;  // of the bytes to the peer
  std::uint64_t peer_head_ = 0, tail_ = 0;  // of the bytes from the peer
};

}  // namespace weft::transports::verbs::ladder
