// SPDX-License-Identifier: Apache-2.0
// The queues from which a device, and the applications of its process, receive.
#pragma once

#include <deque>
#include <vector>

#include <weft/qdma.hpp>

#include "runtime/progress/engine.hpp"
#include "transports/qdma/device/met_peers.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/shared_segment.hpp"

namespace weft::transports::qdma {

/// Queue 0 is the device's: signals come in it. The others are the applications'. Owned by the
/// device; progress lock held only.
class own_queues {
 public:
  /// \param of, in, who outlive this \param me this process
  own_queues(runtime::engine& of, shared_segment& in, vpid me, met_peers& who);

  /// \throws weft::error (out_of_memory)
  std::uint32_t open();
  /// No operation receives from it; its messages are dropped.
  void close(std::uint32_t number) noexcept;

  /// \return true: ended already
  bool receive(weft::qdma::receive_operation& op) noexcept;
  void cancel(weft::qdma::receive_operation& op) noexcept;
  /// Ends all operations that wait.
  void end_all(errc why) noexcept;

  queue_reader& signals() noexcept { return queues_[0].reader; }
  /// Tells the senders of queue 0 that there is room again.
  void signals_taken() noexcept { notify_writable(queues_[0]); }

  /// \return false: the queue is full
  bool post_to_self(std::uint32_t queue, std::span<const std::byte> bytes) noexcept {
    return queues_[queue].own.post(bytes);
  }

  /// Hands messages to the operations that wait. \return how many
  unsigned deliver() noexcept;
  /// Goes on without the slots of dead producers. Now and then.
  void look_after(const sender_table& who_lives) noexcept;
  void forget_wish(vpid who) noexcept;
  /// Whether a message has come that the device, or an operation, waits for.
  bool has_work() noexcept;

 private:
  struct one {
    one(queue_memory& q, queue_progress& p, vpid me) : reader(q, p), own(q, p, me) {}
    queue_reader reader;
    queue_writer own;  // for messages that this process posts to itself
    bool open = false;
    std::deque<weft::qdma::receive_operation*> waiting;
  };

  void hand_over(one& q, weft::qdma::receive_operation& op, const queue_reader::view& m) noexcept;
  void notify_writable(one& q) noexcept;

  runtime::engine& engine_;
  met_peers& peers_;
  std::vector<one> queues_;
};

}  // namespace weft::transports::qdma
