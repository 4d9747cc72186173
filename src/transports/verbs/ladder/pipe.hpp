// SPDX-License-Identifier: Apache-2.0
// The RDMA channel of MPICH2: a pipe of five functions between two processes, on any rung of the
// ladder that Liu et al. climbed. docs/adr/0022-ladder.md
#pragma once

#include <weft/message.hpp>
#include <weft/registration_cache.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transports/verbs/device.hpp"

namespace weft::transports::verbs::ladder {

/// How bytes cross. Each rung stands on the one before; the last two are two ways of the same.
enum class rung : std::uint8_t {
  basic,      ///< data by one write into the reader's ring, each pointer by one more
  piggyback,  ///< size and flag behind the data in one write; what was read is told late
  pipelined,  ///< the same, and each chunk leaves before the next one is copied
  read,       ///< what is long is read by its reader's device, and not copied
  written     ///< what is long is written by its writer's device, and not copied
};

/// Both ends must choose the same rung, ring and chunk.
struct settings {
  rung step = rung::pipelined;
  std::size_t ring = 256 * 1024;  ///< bytes; at least two chunks, at most 1 GiB
  std::size_t chunk = 16 * 1024;  ///< bytes; divides the ring, at least 128
  /// From how many bytes in one piece on nothing is copied; of `read` and `written`.
  std::size_t threshold = 32 * 1024;
  std::chrono::seconds timeout{10};  ///< after how much silence the connection breaks
  registration_cache_settings regions{.caching = registration_caching::bounded};
};

/// One end, for one thread. Opened by `open` and `meet`. Whatever breaks it, a lie of the peer's
/// included, is a weft::error from every call that follows, but `close`.
class pipe {
 public:
  virtual ~pipe() = default;

  /// What the peer's `meet` wants, to be carried there by other means.
  virtual std::span<const std::byte> card() const noexcept = 0;
  /// \param card of the peer's end
  /// \throws weft::error when it makes no sense, or the two do not fit
  virtual void meet(std::span<const std::byte> card) = 0;

  /// Takes what there is room for. What is too long to be copied is not taken before it has
  /// crossed: until then `put` says 0, wants the same bytes again, and they are not to be changed.
  /// \return how many bytes, from the first on
  virtual std::size_t put(std::span<const const_buffer> data) = 0;

  /// Hands out what has come, in order. While something long is on its way `get` says 0, wants the
  /// same memory again, and the device may write there.
  /// \return how many bytes, from the first on
  virtual std::size_t get(std::span<const mutable_buffer> into) = 0;

  /// Tells the peer what it is owed, and finds out that the connection has broken. To be called
  /// while `put` and `get` say 0.
  virtual void progress() = 0;

  /// Ends this side: afterwards no device touches memory of the pipe's or the caller's. What the
  /// peer has not got may be lost, and its pipe breaks: the two agree before, as they met.
  virtual void close() noexcept = 0;
};

/// \param on used by this pipe alone, and outlives it
/// \throws weft::error (invalid_argument) for settings that are out of range, or with the cause and
///   the cure when the device has no room
std::unique_ptr<pipe> open(device& on, const settings& s);

}  // namespace weft::transports::verbs::ladder
