// SPDX-License-Identifier: Apache-2.0
// The peer of an RDMA channel on a fake device, which writes arbitrary bytes anywhere.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "support/verbs_fabric.hpp"
#include "transports/verbs/channel/open.hpp"
#include "transports/verbs/channel/wire.hpp"

namespace weft::tests {

namespace wire = transports::channel;

class channel_liar {
 public:
  /// \param on     its device, which outlives it; takes all its writes inline from now on
  /// \param honest the pipe whose card it is given; opened on another device of the same fabric
  channel_liar(fake_device& on, const rdma_channel& honest)
      : queue_(on.make_queue_pair()),
        known_(
            on.enroll(memory_, 0,
                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)) {
    std::memcpy(&card_, honest.card().data(), sizeof card_);
    queue_->connect(card_.at, 0, std::chrono::seconds(1));
    on.inline_bytes = 4096;
  }

  /// The honest pipe's card.
  const verbs::channel::card& card() const noexcept { return card_; }

  /// The card that the honest pipe is given.
  /// \param c the content except queue pair and memory, which are those of this side
  verbs::channel::card own_address(verbs::channel::card c) const noexcept {
    c.at.queue_pair = queue_->number();
    c.key = known_->remote_key();
    return c;
  }

  /// \param at an offset in the memory that the honest pipe shows
  /// \return whether the device accepted it
  bool write(std::uint64_t at, const_buffer what) {
    if (what.empty()) return true;
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(what.data()),
                  static_cast<std::uint32_t>(what.size()), 0};
    ibv_send_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = IBV_WR_RDMA_WRITE;
    work.send_flags = IBV_SEND_INLINE;
    work.wr.rdma = {at, card_.key};
    return queue_->post(work) == 0;
  }
  /// Writes any value of a fixed size.
  template <class T>
  bool write_one(std::uint64_t at, const T& what) {
    return write(at, std::as_bytes(std::span(&what, 1)));
  }

  /// \param word_at an offset in wire::words
  bool say(std::size_t word_at, std::uint64_t value) {
    return write_one(card_.chosen.ring + word_at, wire::word{value, ~value});
  }

  /// Ends the chunk of that number in the ring.
  bool chunk(std::size_t number, const wire::trailer& t) {
    return write_one((number + 1) * card_.chosen.chunk - sizeof t, t);
  }

 private:
  verbs::channel::card card_{};
  std::unique_ptr<verbs::queue_pair> queue_;
  alignas(4096) std::array<std::byte, 8192> memory_{};  // the honest pipe writes there; unread
  std::unique_ptr<verbs::registration> known_;
};

}  // namespace weft::tests
