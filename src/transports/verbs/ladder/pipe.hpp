// SPDX-License-Identifier: Apache-2.0
// The RDMA channel of MPICH2: a pipe of five functions between two processes, on any rung of the
// ladder that Liu et al. describe. docs/adr/0022-ladder.md
#pragma once

#include <weft/message.hpp>
#include <weft/registration_cache.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transports/verbs/hardware/device.hpp"

namespace weft::transports::verbs::ladder {

/// How bytes cross. Each rung builds on the one before; the last two are alternatives.
enum class rung : std::uint8_t {
  basic,      ///< data by one write into the reader's ring, each pointer by one more
  piggyback,  ///< size and flag behind the data in one write; the count of bytes read is told late
  pipelined,  ///< as piggyback, and each chunk leaves before the next one is copied
  read,       ///< long runs are read by the reader's device, and not copied
  written     ///< long runs are written by the writer's device, and not copied
};

/// Both ends must choose the same rung, ring and chunk.
struct settings {
  rung step = rung::pipelined;
  std::size_t ring = 256 * 1024;  ///< bytes; at least two chunks, at most 1 GiB
  std::size_t chunk = 16 * 1024;  ///< bytes; divides the ring, at least 128
  /// The number of contiguous bytes from which on a run is not copied; for `read` and `written`.
  std::size_t threshold = 32 * 1024;
  std::chrono::seconds timeout{10};  ///< the silence after which the connection breaks
  registration_cache_settings regions{.caching = registration_caching::bounded};
};

/// One end, for one thread. Opened by `open` and `meet`. Once the pipe has broken, also by a lie of
/// the peer, every call that follows throws a weft::error, except `close`.
class pipe {
 public:
  virtual ~pipe() = default;

  /// The argument for the peer's `meet`, to be carried there by other means.
  virtual std::span<const std::byte> card() const noexcept = 0;
  /// \param card of the peer's end
  /// \throws weft::error when it makes no sense, or the two do not fit
  virtual void meet(std::span<const std::byte> card) = 0;

  /// Takes the bytes that there is room for. Bytes too long to be copied are not taken before they
  /// have crossed: until then `put` returns 0, the caller passes the same bytes again, and they
  /// must not change.
  /// \return how many bytes, from the first on
  virtual std::size_t put(std::span<const const_buffer> data) = 0;

  /// Hands out received bytes, in order. While a long run is under way `get` returns 0, the caller
  /// passes the same memory again, and the device may write there.
  /// \return how many bytes, from the first on
  virtual std::size_t get(std::span<const mutable_buffer> into) = 0;

  /// Sends the peer the counts that it is owed, and detects a broken connection. To be called while
  /// `put` and `get` return 0.
  virtual void progress() = 0;

  /// Ends this side: afterwards no device touches memory of the pipe or of the caller. Bytes that
  /// have not reached the peer may be lost, and the peer's pipe breaks: the two sides agree on the
  /// end before, as they did on the beginning.
  virtual void close() noexcept = 0;
};

/// \param on used by this pipe alone, and outlives it
/// \throws weft::error (invalid_argument) for settings that are out of range, or with the cause and
///   the cure when the device has no room
std::unique_ptr<pipe> open(device& on, const settings& s);

}  // namespace weft::transports::verbs::ladder
