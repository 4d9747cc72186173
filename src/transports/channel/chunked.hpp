// SPDX-License-Identifier: Apache-2.0
// The two rungs in the middle: all bytes cross in chunks.
#pragma once

#include <memory>
#include <utility>

#include "transports/channel/chunks.hpp"
#include "transports/channel/pieces.hpp"

namespace weft::transports::channel {

/// The rungs `piggyback`, which copies as much as there is room for before it writes, and
/// `pipelined`, which writes each chunk before it copies the next one.
class chunked_channel : public rdma_channel {
 public:
  chunked_channel(std::unique_ptr<line> on, const settings& s) noexcept
      : owned_(std::move(on)),
        line_(*owned_),
        chunks_(line_, s.chunk, s.step == rung::read || s.step == rung::written),
        together_(s.step == rung::piggyback) {}

  ~chunked_channel() override { chunked_channel::close(); }

  std::span<const std::byte> card() const noexcept final { return line_.card(); }
  void meet(std::span<const std::byte> card) final { line_.meet(card); }
  std::size_t put(std::span<const const_buffer> data) override {
    line_.check();
    gather from(data);
    return put_copied(from, bytes_of(data));
  }
  std::size_t get(std::span<const mutable_buffer> into) override {
    line_.check();
    scatter to(into);
    return get_copied(to);
  }
  void progress() override {
    line_.look();
    chunks_.pay();
  }
  void close() noexcept override { line_.shut(); }

 protected:
  /// \return how many of those bytes were taken
  std::size_t put_copied(gather& from, std::size_t size);
  /// Stops at the first chunk that is no data. \return how many bytes
  std::size_t get_copied(scatter& to);

  const std::unique_ptr<line> owned_;
  line& line_;
  channel::chunks chunks_;

 private:
  const bool together_;
};

}  // namespace weft::transports::channel
