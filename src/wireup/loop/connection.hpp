// SPDX-License-Identifier: Apache-2.0
// Frames over one socket, Unix or TCP.
#pragma once

#include <list>
#include <memory>

#include "runtime/descriptors/close_on_fork.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/loop/loop.hpp"
#include "wireup/sockets/tcp_socket.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

/// Sends and receives frames. Everything on the loop's thread. Pending handlers keep it alive until
/// it has ended, and it keeps its user alive until then.
class connection : public std::enable_shared_from_this<connection> {
 public:
  enum class ending {
    hung_up,  ///< the other side closed or died; all that it sent before was delivered
    broken,   ///< it sent bytes that are no frame
    no_room,  ///< this process had too few free descriptors for those of a wire-up message
    failed,   ///< we could not go on: the user threw, or a descriptor of a wire-up message was
              ///< invalid
    overdue,  ///< it has not read what was sent to it, and the queue has grown beyond most_owed
    closed    ///< `close_when_sent` was called, and what was queued is sent (or cannot be)
  };

  class user {
   public:
    virtual ~user() = default;
    virtual void on_frame(frame f) = 0;
    /// Called before `on_ended(ending::no_room)`: may send a last frame.
    virtual void on_no_room() {}
    /// Called once, as the last call; not called after `close`.
    virtual void on_ended(ending why) = 0;
  };

  enum class medium {
    unix_packets,  ///< descriptors can travel, and the kernel knows the process at the other end
    tcp            ///< bytes only, between processes that know the job's key
  };

  /// A peer is charged for what waits to be sent to it: the bodies of the frames, and these costs
  /// for each frame and each descriptor.
  static constexpr std::size_t frame_cost = 128;
  static constexpr std::size_t descriptor_cost = 1024;
  /// Beyond this amount nothing is read from the peer, so that it cannot ask for more. A correct
  /// peer, however long it is stopped, never asks for so much: two sides that both stop reading
  /// would wait for each other for ever.
  static constexpr std::size_t most_owed_to_hear = std::size_t{4} << 20;
  /// Beyond this amount the connection ends: unsolicited frames to the peer must not pile up
  /// without bound either.
  static constexpr std::size_t most_owed = std::size_t{16} << 20;

  /// \param socket over a Unix socket of a process of the same user: that was checked
  /// \param sealed of the socket; null: in clear
  connection(loop& on, unique_fd socket, medium m = medium::unix_packets,
             std::unique_ptr<net::tls::stream> sealed = {});
  ~connection();

  /// Descriptors may come, too, if the medium carries them: who is at the other end is known.
  void let_descriptors_in() noexcept;
  /// Starts to receive.
  void start(std::shared_ptr<user> whom);
  /// Sends in the order of the calls. Frames are lost when the other side is gone.
  void send(frame f);
  /// Ends when everything is sent, or after a second if the other side does not read.
  void close_when_sent();
  /// The process at the other end has ended: delivers what it sent before, then ends, also if
  /// another process has inherited the socket and keeps it open.
  void process_ended();
  /// Whether the other side has hung up. What it sent before may not be delivered yet.
  bool is_cut() noexcept;
  /// Ends at once; the user is not called.
  void close();

  /// As wireup::process_at; none for a process on another host.
  unique_fd process();
  /// What the kernel reports; nothing for a process on another host.
  const credentials& peer() const noexcept { return peer_; }
  /// The process at the other end, for messages.
  std::string peer_name() const;
  bool carries_descriptors() const noexcept { return medium_ == medium::unix_packets; }

 private:
  void wait_to_read();
  void read();
  void on_sent(const frame& f);
  void drop_queue();
  template <class F>
  void guarded(F f);
  void flush();
  void say_no_more();
  void linger();
  void wait_to_write();
  void retry_soon();
  void end(ending why);
  void hang_up() noexcept;

  loop& loop_;
  asio::posix::stream_descriptor socket_;
  runtime::close_on_fork fork_guard_;  // of the socket: no child keeps it
  asio::steady_timer retry_;
  asio::steady_timer linger_;
  const medium medium_;
  const credentials peer_;
  const std::string tcp_name_;
  stream_frames stream_;  // of a TCP connection
  std::shared_ptr<user> user_;
  std::list<frame> queue_;  // usually empty: a deque would hold memory for each peer
  std::size_t owed_ = 0;    // the queue's cost
  bool resting_ = false;    // nothing is read until the peer has taken part of the queue
  bool writing_ = false;    // a wait for room is under way
  bool deaf_ = false;       // sending failed: the other side is gone, and reading will find the end
  bool closing_ = false;
  bool silent_ = false;         // TCP: our side is shut down; waits for the other side to close
  bool process_ended_ = false;  // the one at the other end
};

}  // namespace weft::wireup
