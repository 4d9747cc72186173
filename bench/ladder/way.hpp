// SPDX-License-Identifier: Apache-2.0
// The ways for messages that `weft-bench ladder` compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <weft/rdma_channel.hpp>

#include "support/pattern.hpp"

namespace weft::bench::ladder_command {

/// A way for messages between two processes, each of which has one end. A message is written at
/// `out` and read at `in`; there is a place for each message of a window, and one for the answer.
/// For one thread; send and receive spin. Throws std::runtime_error or weft::error when it breaks.
class way {
 public:
  way(std::string name, std::size_t chunk) : name_(std::move(name)), chunk_(chunk) {}
  way(const way&) = delete;
  way& operator=(const way&) = delete;
  virtual ~way() = default;

  /// The bytes that the other end's meet() needs.
  virtual std::span<const std::byte> card() const = 0;
  virtual void meet(std::span<const std::byte> card) = 0;
  virtual std::span<std::byte> out(std::size_t place, std::size_t size) = 0;
  virtual std::span<std::byte> in(std::size_t place, std::size_t size) = 0;
  /// \param message at out(); it must not change until the answer has come
  virtual void send(std::span<const std::byte> message) = 0;
  /// Returns when all bytes are there.
  /// \param message at in()
  /// \param sequence of its stamp
  virtual void receive(std::span<std::byte> message, std::uint64_t sequence) = 0;

  const std::string& name() const noexcept { return name_; }
  /// Bytes; 0: it has no chunks.
  std::size_t chunk() const noexcept { return chunk_; }

 private:
  const std::string name_;
  const std::size_t chunk_;
};

/// The places of each way.
struct room {
  std::size_t window;   ///< messages in flight
  std::size_t longest;  ///< bytes of a message
};

/// A way whose messages are in ordinary memory.
class way_on_heap : public way {
 public:
  way_on_heap(std::string name, std::size_t chunk, const room& each)
      : way(std::move(name), chunk),
        out_(each.window + 1, each.longest),
        in_(each.window + 1, each.longest) {}

  std::span<std::byte> out(std::size_t place, std::size_t size) final {
    return out_[place].first(size);
  }
  std::span<std::byte> in(std::size_t place, std::size_t size) final {
    return in_[place].first(size);
  }

 private:
  heap_buffers out_, in_;
};

/// An RDMA channel. Throws weft::error where there is none over that transport.
std::unique_ptr<way> by_channel(std::string name, const rdma_channel::settings& s,
                                const room& each);

/// Without a channel, "raw": one write for a message, to memory where the other side polls the last
/// bytes. By the first device, or over shm by the processor. Throws std::runtime_error without one.
std::unique_ptr<way> by_writes(const std::string& transport, const room& each);

}  // namespace weft::bench::ladder_command
