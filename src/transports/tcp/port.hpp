// SPDX-License-Identifier: Apache-2.0
// The receiving end of a connection.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "transports/tcp/expected_memory.hpp"
#include "transports/tcp/stream_socket.hpp"
#include "transports/tcp/wire.hpp"

namespace weft::transports::tcp {

/// What a port says to its owner.
class answer_sink {
 public:
  /// The peer has read so many of this side's writes.
  /// \return false: it cannot have
  virtual bool on_read_by_peer(std::uint32_t writes) noexcept = 0;

 protected:
  ~answer_sink() = default;
};

/// Cuts the bytes of a connection into frames. Keeps only the beginning of an incomplete frame:
/// bytes are read into memory that all connections share, or, those of long frames, directly into
/// the buffer of the receive, or to the memory that the peer's writes are for. Owned by a pair;
/// progress lock held only.
class port {
 public:
  /// \param answers outlives the port
  explicit port(answer_sink& answers) noexcept : answers_(answers) {}

  enum class state : std::uint8_t {
    open,
    ended,   ///< the other side has closed it, or its process has died: the control plane tells
             ///< which
    lost,    ///< the network, or the other host, does not answer
    broken,  ///< the received bytes make no sense
    starved  ///< there is no memory for the received bytes
  };

  /// Memory that `read` needs: a whole frame that is not placed, and the bytes read beside it.
  static constexpr std::size_t scratch_bytes = max_payload + 64 * 1024;

  /// Bytes per read: hundreds of small messages, few enough to be fair to other peers.
  static constexpr std::size_t bytes_per_read = 32 * 1024;

  /// Reads once and delivers the complete frames.
  /// \param scratch scratch_bytes; free again afterwards
  /// \return whether anything came, also an end
  bool read(stream_socket& from, frame_sink& to, std::span<std::byte> scratch) noexcept;

  state now() const noexcept { return state_; }

  /// What the peer may write to.
  expected_memory& expected() noexcept { return expected_; }

  /// How many writes have been read, since the last call, whose sender wants to know that.
  std::uint32_t take_owed() noexcept { return std::exchange(owed_, 0u); }

  /// Frees memory that only traffic needs.
  void rest() noexcept;

 private:
  bool heard(ssize_t n) noexcept;
  void parse(int fd, std::span<const std::byte> bytes, frame_sink& to) noexcept;
  bool begin_placing(const frame_header& h, const frame_extension* x,
                     std::span<const std::byte> there, frame_sink& to) noexcept;
  bool take_own(int fd, const frame_header& h, std::span<const std::byte>& there) noexcept;
  bool end_write(int fd) noexcept;
  mutable_buffer next_place(frame_sink& to) noexcept;
  bool read_placed(stream_socket& from, frame_sink& to, std::span<std::byte> scratch) noexcept;

  answer_sink& answers_;
  state state_ = state::open;
  bool bulk_ = false;            // long frames follow each other: read little beyond the header
  std::vector<std::byte> kept_;  // the beginning of a frame

  expected_memory expected_;
  std::uint32_t owed_ = 0;

  // A frame whose payload is read to the place that the frame sink named, or a `write`.
  bool placing_ = false;
  frame_header header_;
  frame_extension extension_;
  std::uint32_t placed_ = 0;  // bytes of its payload that have come
};

}  // namespace weft::transports::tcp
