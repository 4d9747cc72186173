// SPDX-License-Identifier: Apache-2.0
// A VI: two queues of descriptors, and a connection.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bindings/vipl/messages.hpp"
#include "bindings/vipl/nic.hpp"
#include "bindings/vipl/work.hpp"

namespace weft::vipl {

/// A notification that the application has asked for.
struct vi_notification {
  VIP_VI_CALLBACK handler;
  VIP_PVOID context;
};

/// Descriptors that are complete, in the order of their completion, of one of the two queues.
struct completed {
  std::deque<VIP_DESCRIPTOR*> ready;
  std::deque<vi_notification> notified;
  completion_queue* queue = nullptr;
  std::size_t posted = 0;  // and not taken
};

/// A connection request of equals that goes on by itself.
struct peer_attempt {
  std::jthread thread;
  bool over = false;  // with the NIC locked, as `result`
  VIP_RETURN result = VIP_NOT_DONE;
  time_point until;
};

/// Where the peer of a connection places long messages: regions over registered memory, which end
/// before the buffers are given back.
class landing_place {
 public:
  explicit landing_place(std::uint64_t s) noexcept : secret(s) {}
  const std::uint64_t secret;  ///< makes their keys

  /// Not locked, as `forget` and `end`, because weft is called.
  void show(nic& of, VIP_MEM_HANDLE handle, std::span<std::byte> bytes);
  void forget(VIP_MEM_HANDLE handle);
  void end();

 private:
  std::mutex mutex_;
  std::map<VIP_MEM_HANDLE, region> regions_;
  bool ended_ = false;
};

class vi final : public object {
 public:
  static constexpr kind its_kind = kind::vi;

  vi(nic& of, const VIP_VI_ATTRIBUTES& a, completion_queue* sends, completion_queue* receives);
  ~vi();  ///< of an idle one

  // --- any thread, not locked -------------------------------------------------------------------

  VIP_RETURN post_send(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE handle);
  VIP_RETURN post_receive(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE handle);
  VIP_RETURN done(completed& of, VIP_DESCRIPTOR** d);
  VIP_RETURN wait(completed& of, time_point until, VIP_DESCRIPTOR** d);
  void notify(completed& of, const vi_notification& n);
  /// Ends the connection or the attempt. Idle afterwards.
  void disconnect();
  /// Sends the receive descriptors ahead that were posted before the connection.
  void send_ahead();

  nic& owner;
  completed sends, receives;

  // --- locked -----------------------------------------------------------------------------------

  VIP_VI_STATE state = VIP_STATE_IDLE;
  VIP_VI_ATTRIBUTES attributes;
  std::uint32_t number = 0;
  std::optional<peer_attempt> attempt;
  std::optional<peer_attempt> take_attempt() noexcept;  ///< one that is over
  /// What the other side has said to a connection that is pending.
  enum class answer : std::uint8_t { none, yes, no };
  answer heard = answer::none;
  introduction remote{};  ///< of a connection
  /// Which side of a pending connection this is.
  enum class side : std::uint8_t { requests, accepts };

  introduction introduce() const noexcept;
  /// Begins a connection; its epoch distinguishes it from others of this VI.
  void begin_connecting(side s) noexcept;
  /// The side that requests: its peer is known. \throws std::bad_alloc
  /// \return false: another one has answered
  bool expect_answer_of(const endpoint& to);
  void set_peer(const endpoint& to, const introduction& who);    ///< \throws std::bad_alloc
  void say(message what, std::span<const std::byte> body = {});  ///< to the peer
  void stop_connecting() noexcept;
  std::uint32_t tag() const noexcept;
  std::uint16_t epoch() const noexcept { return epoch_; }
  bool idle_queues() const noexcept { return sends.posted == 0 && receives.posted == 0; }
  peer_id peer_id_of_connection() const noexcept {
    return state == VIP_STATE_CONNECTED || state == VIP_STATE_CONNECT_PENDING ? peer_id_ : no_peer;
  }
  void connection_lost() noexcept;
  /// Shows that memory to the peer no more. \return where the region is to be ended
  std::shared_ptr<landing_place> hide(VIP_MEM_HANDLE handle);

  /// A message of a peer; calls nothing of weft.
  void on_message(const header& h, peer_id from, std::span<const std::byte> rest) noexcept;
  /// What a message asks for and its handler may not do.
  void settle() noexcept;
  void on_moved(work& w) noexcept;                   ///< its transfers have ended
  void on_committed(work& w, errc status) noexcept;  ///< its message has left

 private:
  struct received_message {
    std::uint32_t length;
    bool immediate;
    std::uint32_t word;
    std::uint32_t operation;  // a bit of the status
  };
  struct posted_receive {
    VIP_DESCRIPTOR* descriptor;
    std::uint32_t capacity;
  };

  // Checks, in vi_post.cpp.
  std::uint32_t check(const VIP_DESCRIPTOR& d, bool receives) noexcept;

  // The send queue, in send_queue.cpp and send_start.cpp.
  work& take_work();
  void advance() noexcept;
  bool advance_once();
  bool may_begin_early(const work& w) noexcept;
  void begin(work& w);
  void begin_rdma(work& w);
  void place(work& w, const known_descriptor& at);
  void ask(work& w);
  void add_part(work& w, const detail::transfer_request& r);
  void start_parts(work& w) noexcept;
  void commit(work& w);
  void finish(work& w, std::uint32_t status) noexcept;
  void publish_sends() noexcept;
  void on_arrived(std::uint32_t messages) noexcept;
  void on_refused(std::uint32_t label) noexcept;
  void abandon(std::uint32_t status) noexcept;
  void go_on_after_answer();
  bool in_flight() const noexcept;

  // The receive queue, in receive_queue.cpp.
  void arrive(const received_message& m, std::span<const std::byte> bytes,
              std::uint8_t how) noexcept;
  void refuse(std::uint32_t label) noexcept;
  void complete_receive(std::uint32_t status, std::uint32_t length) noexcept;
  void flush_receives() noexcept;
  void drop(std::uint32_t label) noexcept;

  // Descriptors that travel ahead, in descriptors_ahead.cpp.
  std::size_t describe(std::uint32_t from, std::size_t room, std::vector<std::byte>& out);
  void learn(std::span<const std::byte> from);
  bool worth_sending_ahead() const noexcept;
  void send_ahead_from(std::uint32_t number, std::uint8_t how);
  const known_descriptor* descriptor_for(const work& w) noexcept;
  bool shows(const VIP_DESCRIPTOR& d) const noexcept;
  void show(const VIP_DESCRIPTOR& d);  // not locked
  void renew_landing_place();

  void complete(completed& of, VIP_DESCRIPTOR* d, bool receive) noexcept;
  void call_notified(completed& of);
  /// The connection ends by an error. \param tell the peer is to learn of it
  void fail(VIP_ERROR_CODE code, VIP_DESCRIPTOR* d, bool tell) noexcept;
  void flush() noexcept;
  header header_of(message what) const noexcept;

  endpoint peer_;
  peer_id peer_id_ = no_peer;  // known earlier than the endpoint, at a client
  side side_ = side::requests;
  std::uint16_t epoch_ = 0;
  std::uint32_t connections_ = 0;

  std::deque<work*> works_;
  std::size_t started_ = 0, committed_ = 0;  // of works_, from its front
  std::vector<std::unique_ptr<work>> all_works_;
  std::vector<work*> free_works_;
  bool advancing_ = false, again_ = false;
  std::uint32_t confirmed_ = 0;   // messages of this side, by the peer
  std::uint32_t next_label_ = 0;  // of the next message of this side
  std::deque<known_descriptor> known_;
  std::uint32_t dropped_there_ = 0;  // messages of this side, as far as is known
  bool answered_ = false;            // a question of this side, and the work does not know yet

  std::deque<posted_receive> posted_;
  std::uint32_t arrived_ = 0;  // messages of this connection
  std::uint32_t taken_ = 0;    // descriptors by them: the number of the first in posted_
  std::uint32_t told_ = 0;     // descriptors below this number have travelled ahead
  bool peer_places_ = false;   // the peer uses them
  bool asked_ = false;         // by the peer, and not answered yet
  bool tells_drop_ = false;    // the peer is to learn that a message was dropped

  std::shared_ptr<landing_place> landing_;  // renewed for each connection; its regions: not locked
  std::vector<VIP_MEM_HANDLE> shown_;       // the registrations that it shows
};

}  // namespace weft::vipl
