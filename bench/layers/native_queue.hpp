// SPDX-License-Identifier: Apache-2.0
// Messages through a receive queue of qdma by its own calls: no frames, no engine, no lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace weft::bench {

/// What the transport qdma is built on, as "native QDMA" is below Open MPI's PTL: each process owns
/// a queue in shared memory, and the other one posts to it. A message carries the bytes of a frame
/// header before its own, so that as much crosses as with the transport. One thread; one message at
/// a time.
class native_queue {
 public:
  static constexpr std::size_t header_bytes = 16;
  /// The longest message.
  static constexpr std::size_t most_bytes = 2048 - header_bytes;

  /// Connects to the other end, which is made at the same time.
  /// \param line a connected socket, SOCK_SEQPACKET, to the other process
  /// \throws weft::error, std::runtime_error without shared memory, or in a build without qdma
  explicit native_queue(int line);
  native_queue(const native_queue&) = delete;
  native_queue& operator=(const native_queue&) = delete;
  ~native_queue();

  /// \throws std::runtime_error when the queue is full
  void send(std::span<const std::byte> message);
  /// Polls until a message comes. \return its length, without the header
  std::size_t receive(std::span<std::byte> into);

 private:
  struct parts;
  const std::unique_ptr<parts> parts_;
};

}  // namespace weft::bench
