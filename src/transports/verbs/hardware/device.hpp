// SPDX-License-Identifier: Apache-2.0
// The transport's interface to an RDMA device: a dozen calls of libibverbs, so that tests can use
// another implementation.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

/// Where peers reach a device.
struct place {
  std::uint16_t lid = 0;
  std::uint8_t mtu = IBV_MTU_1024;  ///< an ibv_mtu
  bool ethernet = true;
  std::array<std::uint8_t, 16> gid{};
};

/// The sizes of the queues. All are counts but `inline_bytes`.
struct sizes {
  std::uint32_t receives = 512;      ///< of the shared receive queue
  std::uint32_t sends = 128;         ///< of each queue pair
  std::uint32_t inline_bytes = 128;  ///< a device may grant more or less
};

/// What a device can do with memory of peers.
struct abilities {
  std::uint8_t reads_at_once = 16;             ///< of one queue pair, and of its peer; 0: none
  std::uint32_t longest = 1024 * 1024 * 1024;  ///< bytes of one read or write
};

/// Memory that the device may use, until this object is destroyed.
class registration {
 public:
  virtual ~registration() = default;
  virtual std::uint32_t local_key() const noexcept = 0;
  virtual std::uint32_t remote_key() const noexcept = 0;
};

/// One end of a reliable connection. The device writes its completions to its one queue. Once this
/// object is destroyed, the device no longer touches any posted memory.
class queue_pair {
 public:
  virtual ~queue_pair() = default;
  virtual std::uint32_t number() const noexcept = 0;
  /// Bytes that a send may carry inline.
  virtual std::uint32_t inline_bytes() const noexcept = 0;

  /// \param there     the peer's end, as the peer describes it (checked)
  /// \param own_psn   of the first packet from this side
  /// \param timeout   the silence after which the connection breaks
  /// \return empty, or why it does not work
  virtual std::string connect(const queue_pair_address& there, std::uint32_t own_psn,
                              std::chrono::seconds timeout) = 0;

  /// As ibv_post_send of one work request. \return 0 or an errno
  virtual int post(ibv_send_wr& work) noexcept = 0;

  /// Breaks the connection: all posted work ends, with an error.
  virtual void fail() noexcept = 0;
};

/// An event of the device other than a completion.
struct device_event {
  std::string what;                      ///< a sentence for people
  std::optional<std::uint32_t> on = {};  ///< the number of the queue pair that has broken
  bool fatal = false;                    ///< every queue pair has broken
  bool port = false;                     ///< its port has gone down, or come up: port_is_up
};

/// An opened device, with one completion queue, one completion channel and one shared receive
/// queue. Used with the progress lock held. Must outlive the objects that it made.
class device {
 public:
  virtual ~device() = default;

  virtual const place& here() const noexcept = 0;
  virtual const abilities& can() const noexcept = 0;
  /// For people: its name, port, address and mtu.
  virtual std::string describe() const = 0;

  /// \param first  the device's address for the first byte; work requests use such addresses
  ///   together with its keys. The same as in memory, within a page.
  /// \param access IBV_ACCESS_*
  /// \throws weft::error with the cause and the cure
  virtual std::unique_ptr<registration> enroll(std::span<std::byte> memory, std::uint64_t first,
                                               int access) = 0;
  /// \throws weft::error when the device can make no more
  virtual std::unique_ptr<queue_pair> make_queue_pair() = 0;

  /// As ibv_post_srq_recv. \return 0 or an errno; `first_refused` as there
  virtual int post_receives(ibv_recv_wr& first, ibv_recv_wr** first_refused) noexcept = 0;

  /// As ibv_poll_cq. \return how many
  virtual std::size_t poll(std::span<ibv_wc> completions) noexcept = 0;

  /// Readable after the first completion that followed `arm`.
  virtual int channel() const noexcept = 0;
  /// Completions before this call may not be signalled: poll once more afterwards. \return false:
  /// refused
  virtual bool arm() noexcept = 0;
  /// The channel was readable: makes it unreadable.
  virtual void drain_channel() noexcept = 0;

  /// Readable when next_event has an event.
  virtual int events() const noexcept = 0;
  virtual std::optional<device_event> next_event() noexcept = 0;
  /// Whether the port reaches its network now. A system call.
  virtual bool port_is_up() noexcept = 0;
};

}  // namespace weft::transports::verbs
