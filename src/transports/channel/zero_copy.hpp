// SPDX-License-Identifier: Apache-2.0
// The two highest rungs: long runs cross from one caller's memory directly into the other's.
#pragma once

#include <optional>

#include "transports/channel/chunked.hpp"

namespace weft::transports::channel {

/// A run of bytes from the threshold on is offered in a chunk, so that it keeps its place in the
/// order of bytes. The answer to an offer lies in words and not in chunks, so it overtakes chunks
/// that have not been read.
///   rung read:    the reader's device reads there; then `moved` tells the writer
///   rung written: the reader invites; the writer's device writes, and `moved` right behind
class zero_copy_channel final : public chunked_channel {
 public:
  zero_copy_channel(std::unique_ptr<line> on, const settings& s) noexcept
      : chunked_channel(std::move(on), s),
        reads_(s.step == rung::read),
        threshold_(s.threshold),
        longest_(line_.longest_move()) {}
  ~zero_copy_channel() override { zero_copy_channel::close(); }

  std::size_t put(std::span<const const_buffer> data) override;
  std::size_t get(std::span<const mutable_buffer> into) override;
  void close() noexcept override;

 private:
  /// Long memory of the application, until it has crossed.
  struct run {
    std::span<std::byte> memory;
    line::loan known = {};
    std::optional<std::uint32_t> work = {};  // its place, once it is posted
  };

  bool make_offer(const_buffer bytes);
  std::size_t end_offer(const_buffer bytes);
  std::size_t end_written_offer();
  void begin_arrival(mutable_buffer into);
  std::size_t end_arrival(mutable_buffer into);

  const bool reads_;
  const std::size_t threshold_;
  const std::size_t longest_;  // bytes of one work
  std::optional<run> offered_, arriving_;
  std::uint64_t offers_ = 0;         // made
  std::uint64_t invitations_ = 0;    // sent
  std::uint64_t put_ = 0, got_ = 0;  // bytes that went without a copy
};

}  // namespace weft::transports::channel
