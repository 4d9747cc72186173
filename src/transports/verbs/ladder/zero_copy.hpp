// SPDX-License-Identifier: Apache-2.0
// The two highest rungs: long runs cross from one caller's memory directly into the other's.
#pragma once

#include <optional>

#include "transports/verbs/ladder/chunked.hpp"
#include "transports/verbs/regions.hpp"

namespace weft::transports::verbs::ladder {

/// A run of bytes from the threshold on is offered in a chunk, so that it keeps its place in the
/// order of bytes. The answer to an offer lies in words and not in chunks, so it overtakes chunks
/// that have not been read.
///   rung read:    the reader's device reads there; then `moved` tells the writer
///   rung written: the reader invites; the writer's device writes, and `moved` right behind
class zero_copy_pipe final : public chunked_pipe {
 public:
  zero_copy_pipe(device& on, const settings& s)
      : chunked_pipe(on, s),
        reads_(s.step == rung::read),
        threshold_(s.threshold),
        longest_(on.can().longest),
        regions_(on),
        cache_(regions_, s.regions) {}
  ~zero_copy_pipe() override { zero_copy_pipe::close(); }

  std::size_t put(std::span<const const_buffer> data) override;
  std::size_t get(std::span<const mutable_buffer> into) override;
  void close() noexcept override;

 private:
  /// Long memory of the application, until it has crossed.
  struct run {
    std::span<std::byte> memory;
    registration_cache::use known;
    std::optional<std::uint32_t> work = {};  // its place, once it is posted

    std::uint64_t place() const noexcept;
    ibv_sge piece(std::size_t size) const noexcept;
  };

  bool make_offer(const_buffer bytes);
  std::size_t end_offer(const_buffer bytes);
  std::size_t end_written_offer();
  void begin_arrival(mutable_buffer into);
  std::size_t end_arrival(mutable_buffer into);

  const bool reads_;
  const std::size_t threshold_;
  const std::size_t longest_;  // bytes of one work
  regions regions_;
  registration_cache cache_;
  std::optional<run> offered_, arriving_;
  std::uint64_t offers_ = 0;         // made
  std::uint64_t invitations_ = 0;    // sent
  std::uint64_t put_ = 0, got_ = 0;  // bytes that went without a copy
};

}  // namespace weft::transports::verbs::ladder
