// SPDX-License-Identifier: Apache-2.0
// The RDMA channel of MPICH2: a pipe of bytes between two processes, on each rung of the ladder in
// Liu et al., "Design and Implementation of MPICH2 over InfiniBand with RDMA Support" (2004), over
// shared memory or an RDMA device. It is for those who measure such designs or port one. It needs
// no context, no thread of its own, and nothing on the other side but the same class; an
// application is better served by weft/endpoint.hpp or weft/stream.hpp, which wait, find peers, and
// survive them.
//
//   rdma_channel::settings s{.transport = "shm", .step = rdma_channel::rung::pipelined};
//   auto channel = rdma_channel::open(s);
//   send_by_other_means(channel->card());       // a socket, a pipe, a file
//   channel->meet(receive_by_other_means());
//   for (weft::const_buffer rest = data; !rest.empty();) {
//     const std::size_t n = channel->put({&rest, 1});
//     rest = rest.subspan(n);
//     if (n == 0) channel->progress();
//   }
//
// docs/adr/0022-ladder.md; samples/rdma_channel.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <weft/message.hpp>
#include <weft/registration_cache.hpp>

namespace weft {

/// One end of a channel: the paper's five functions, where `meet` and `close` are the paper's
/// initialisation and finalisation, and `progress`. For one thread at a time. Nothing blocks: a
/// call does what it can do now. Once the channel has broken, also by a lie of the peer, every call
/// that follows throws the same weft::error, except `close`.
class rdma_channel {
 public:
  /// How bytes cross. Each rung builds on the one before; the last two are alternatives.
  enum class rung : std::uint8_t {
    basic,      ///< data by one write into the reader's ring, each pointer by one more
    piggyback,  ///< size and flag behind the data in one write; the count of bytes read comes late
    pipelined,  ///< as piggyback, and each chunk leaves before the next one is copied
    read,       ///< long runs are read by the reader, out of the writer's memory, and not copied
    written     ///< long runs are written by the writer, into the reader's memory, and not copied
  };

  /// Both ends must choose the same transport, rung, ring and chunk.
  struct settings {
    /// "shm": memory of both processes, which are on one host and of one user. "verbs": an RDMA
    /// device, also between hosts.
    std::string transport = "shm";
    rung step = rung::pipelined;
    std::size_t ring = 256 * 1024;  ///< bytes; two chunks at least, 1 GiB at most
    std::size_t chunk = 16 * 1024;  ///< bytes; a multiple of 8 that divides the ring; 128 at least
    /// Bytes in a row from which on a run is not copied; for `read` and `written`.
    std::size_t threshold = 32 * 1024;
    /// verbs: the silence after which the connection breaks. shm: how long `close` waits for a peer
    /// that is in the middle of a write to this side's memory.
    std::chrono::seconds timeout{10};
    /// verbs, `read` and `written`: what becomes of memory that was registered. Other values than
    /// `off` are for callers that unmap no memory that they have passed to put or get.
    registration_cache_settings regions{.caching = registration_caching::bounded};
    /// verbs: the device, as ibv_devices names it, and the index of its address; without them the
    /// first ones that work.
    std::string device = {};
    std::optional<unsigned> gid_index = {};
  };

  /// Makes an end that has met no peer yet.
  /// \throws weft::error (invalid_argument) for settings that are out of range; (unsupported)
  ///   naming the cause and the cure when this build or this machine has no such transport;
  ///   (system, out_of_memory) when the kernel or the device has no room
  static std::unique_ptr<rdma_channel> open(const settings& s);

  rdma_channel() = default;
  rdma_channel(const rdma_channel&) = delete;
  rdma_channel& operator=(const rdma_channel&) = delete;
  /// As `close`.
  virtual ~rdma_channel() = default;

  /// The argument for the peer's `meet`, to be carried there by other means, as it is: up to 128
  /// bytes, valid as long as this object.
  virtual std::span<const std::byte> card() const noexcept = 0;

  /// Connects the two ends: each calls it once, with the other's card, in any order. A
  /// process that can forge a card chooses this side's peer.
  /// \throws weft::error (protocol_error) when the card makes no sense; (invalid_argument) when the
  ///   two do not fit; (unreachable, unsupported) naming the cause and the cure
  virtual void meet(std::span<const std::byte> card) = 0;

  /// Takes the bytes that there is room for. Bytes of a copied run belong to the caller again when
  /// this returns. Bytes too long to be copied are not taken before they have crossed: until then
  /// `put` returns 0, the caller passes the same bytes again, and they must not change.
  /// \param data pieces, which are put as if they were one; any may be empty
  /// \return how many bytes, from the first on; 0: call again, with `progress` in between
  /// \throws weft::error (invalid_argument) for other bytes than those under way; peer_lost,
  ///   protocol_error and closed for a channel that has broken
  virtual std::size_t put(std::span<const const_buffer> data) = 0;

  /// Hands out received bytes, in order. While a long run is under way `get` returns 0, the caller
  /// passes the same memory again, and the peer may write there.
  /// \return how many bytes, from the first on; 0: call again, with `progress` in between
  /// \throws weft::error as put; also (out_of_memory) when memory for a long run cannot be
  ///   registered
  virtual std::size_t get(std::span<const mutable_buffer> into) = 0;

  /// Sends the peer the counts that it is owed, and detects a broken connection. To be called while
  /// `put` and `get` return 0.
  /// \throws weft::error (peer_lost) when the peer has closed its end or died
  virtual void progress() = 0;

  /// Ends this side. Afterwards no device and no peer touches memory of the channel or of the
  /// caller, but for one case: over shm, a peer that is stopped in the middle of a write for longer
  /// than the timeout. Bytes that have not reached the peer may be lost, and the peer's channel
  /// breaks: the two sides agree on the end before, as they did on the beginning.
  virtual void close() noexcept = 0;
};

}  // namespace weft
