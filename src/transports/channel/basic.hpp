// SPDX-License-Identifier: Apache-2.0
// The lowest rung: a ring of bytes, and a separate write for each change of a pointer.
#pragma once

#include <memory>
#include <utility>

#include "transports/channel/line.hpp"

namespace weft::transports::channel {

/// Head and tail count bytes since the beginning. The writer has the head, the reader the tail;
/// each has a word into which the other side writes its own count.
class basic_channel final : public rdma_channel {
 public:
  explicit basic_channel(std::unique_ptr<line> on) noexcept
      : owned_(std::move(on)), line_(*owned_) {}
  ~basic_channel() override { basic_channel::close(); }

  std::span<const std::byte> card() const noexcept override { return line_.card(); }
  void meet(std::span<const std::byte> card) override { line_.meet(card); }
  std::size_t put(std::span<const const_buffer> data) override;
  std::size_t get(std::span<const mutable_buffer> into) override;
  void progress() override { line_.look(); }
  void close() noexcept override { line_.shut(); }

 private:
  const std::unique_ptr<line> owned_;
  line& line_;
  std::uint64_t head_ = 0, peer_tail_ = 0;  // of the bytes to the peer
  std::uint64_t peer_head_ = 0, tail_ = 0;  // of the bytes from the peer
};

}  // namespace weft::transports::channel
