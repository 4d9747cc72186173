// SPDX-License-Identifier: Apache-2.0
// One end of a connection between two RDMA devices, with no protocol above it.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>

#include "transports/verbs/hardware/device.hpp"

namespace weft::bench {

/// The work of a device that carries a message, from the side that posts it.
enum class device_work : std::uint8_t {
  read,             ///< of the other side's message, which learns nothing
  write,            ///< to the other side, which learns nothing
  send,             ///< into a receive
  write_immediate,  ///< written; immediate data uses up a receive
  write_and_send    ///< written; a send of 32 bytes follows, as a FIN would
};

/// Three areas of registered memory, each for one message: the one that leaves, the one that is
/// read or written, and the one that receives get. Works of a window share them. For one thread;
/// every failure is a std::runtime_error.
class bare_device {
 public:
  /// \param longest bytes of a message
  explicit bare_device(std::size_t longest);

  std::span<const std::byte> card() const { return std::as_bytes(std::span(&card_, 1)); }
  void meet(std::span<const std::byte> card);

  /// The message that leaves, or that the other side reads.
  std::span<std::byte> out(std::size_t size) const { return at(0, size); }
  /// Where a message of such a work is afterwards.
  std::span<std::byte> in(device_work how, std::size_t size) const {
    return at(how == device_work::send ? 2 : 1, size);
  }

  void post(device_work how, std::size_t size);
  /// Waits until all posted work is done: written and sent messages have arrived at the device.
  void finish();
  /// Makes the memory of a message known to the device and unknown again, as a transfer out of
  /// memory whose registration is not kept has to.
  void enroll_anew(std::size_t size);
  /// Copies a message within this process.
  void copy(std::size_t size);

  /// Waits for one message of the other side: not for `read` and `write`.
  void receive();

 private:
  static constexpr unsigned receives = 64;
  struct freed {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  struct card_of_end {
    transports::verbs::queue_pair_address at{};
    std::uint32_t key = 0;
  };

  std::span<std::byte> at(std::size_t area, std::size_t size) const {
    return {memory_.get() + area * longest_, size};
  }
  void post(ibv_wr_opcode what, std::size_t size);
  void post_receive();
  void look();

  const std::unique_ptr<transports::verbs::device> device_;
  const std::size_t longest_;  // of an area: whole pages
  std::unique_ptr<std::byte, freed> memory_;
  std::unique_ptr<transports::verbs::registration> known_;
  std::unique_ptr<transports::verbs::queue_pair> on_;
  card_of_end card_;
  std::uint32_t peer_key_ = 0;
  std::size_t posted_ = 0, done_ = 0;
  std::size_t received_ = 0, taken_ = 0;
};

}  // namespace weft::bench
