// SPDX-License-Identifier: Apache-2.0
// Frames over one socket, Unix or TCP.
#pragma once

#include <deque>
#include <memory>

#include "runtime/close_on_fork.hpp"
#include "wireup/frame.hpp"
#include "wireup/loop.hpp"
#include "wireup/tcp_socket.hpp"
#include "wireup/unix_socket.hpp"

namespace weft::wireup {

/// Sends and receives frames. Everything on the loop's thread. It lives until it has ended, held by
/// what it waits for, and holds its user until then.
class connection : public std::enable_shared_from_this<connection> {
 public:
  enum class ending {
    left,     ///< the other side closed or died; all that it sent before was delivered
    broken,   ///< it sent what is no frame
    no_room,  ///< this process had too few descriptors free for those of a wire-up message
    failed,   ///< we could not go on: a handler threw, or a wire-up message's descriptor was none
    overdue,  ///< it has not read what it was sent, and that is too much by now
    finished  ///< `finish` was called, and what was queued is sent (or cannot be)
  };

  class user {
   public:
    virtual ~user() = default;
    virtual void on_frame(frame f) = 0;
    /// Once, and nothing after it; not after `close`.
    virtual void on_end(ending why) = 0;
  };

  enum class medium {
    unix_packets,  ///< descriptors can travel, and the kernel knows who is there
    tcp            ///< bytes only, between processes that know the job's key
  };

  /// What waits to be sent to one peer is charged to it: frames with their bodies, and so much for
  /// each frame and each descriptor.
  static constexpr std::size_t frame_cost = 128;
  static constexpr std::size_t descriptor_cost = 1024;
  /// Beyond this nothing is read from it, so that it cannot ask for more. No correct peer, however
  /// long it is stopped, asks for so much: two that rest for each other would do so for ever.
  static constexpr std::size_t most_owed_to_hear = std::size_t{4} << 20;
  /// Beyond this it is cut off: what is sent to it unasked must not grow without end either.
  static constexpr std::size_t most_owed = std::size_t{16} << 20;

  connection(loop& on, runtime::unique_fd socket, medium m = medium::unix_packets);

  /// Starts to receive.
  void start(std::shared_ptr<user> whom);
  /// Sends in the order of the calls; lost when the other side is gone.
  void send(frame f);
  /// Ends when everything is sent, or after a second if the other side does not read.
  void finish();
  /// The process at the other end is gone: what it sent before is delivered, then this ends, also
  /// if somebody who inherited the socket keeps it open.
  void process_died();
  /// Whether the other side has hung up, though what it sent before may not be delivered yet.
  bool is_cut() noexcept;
  /// Ends at once, without a word to the user.
  void close();

  /// As wireup::process_at; of a process elsewhere, none.
  runtime::unique_fd process();
  /// What the kernel says; of a process elsewhere, nothing.
  const credentials& peer() const noexcept { return peer_; }
  /// Who is at the other end, for messages.
  std::string peer_name() const;
  bool carries_descriptors() const noexcept { return medium_ == medium::unix_packets; }

 private:
  void wait_to_read();
  void read();
  void settle(const frame& f);
  void drop_queue();
  template <class F>
  void guarded(F f);
  void flush();
  void say_no_more();
  void linger();
  void wait_to_write();
  void retry_soon();
  void end(ending why);
  void dispose_of_rest() noexcept;

  loop& loop_;
  asio::posix::stream_descriptor socket_;
  runtime::close_on_fork fork_guard_;  // the socket: no child keeps it
  asio::steady_timer retry_;
  asio::steady_timer linger_;
  const medium medium_;
  const credentials peer_;
  const std::string tcp_name_;
  stream_frames stream_;  // of a TCP connection
  std::shared_ptr<user> user_;
  std::deque<frame> queue_;
  std::size_t owed_ = 0;  // the queue's cost
  bool resting_ = false;  // nothing is read until the peer has read
  bool writing_ = false;  // a wait for room is under way
  bool deaf_ = false;     // sending failed: the other side is gone, reading will tell
  bool finishing_ = false;
  bool silent_ = false;  // TCP: finished, and waiting for the other side to agree
  bool dead_ = false;    // the process at the other end
};

}  // namespace weft::wireup
