// SPDX-License-Identifier: Apache-2.0
// One peer, as the protocols see it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/detail/rma_ops.hpp>

#include "proto/control_queue.hpp"
#include "proto/flow_control.hpp"
#include "proto/id_table.hpp"
#include "proto/inbound_message.hpp"
#include "proto/protocol_coroutine.hpp"
#include "proto/sender_numbers.hpp"
#include "proto/unexpected_queue.hpp"
#include "transports/transport.hpp"

namespace weft::proto {

class rma;
class multi_rail_link;
class messenger;
enum class payload_scheme : std::uint8_t;

/// The sender's wait for an answer to its message. Lives in the protocol's frame.
struct rendezvous_send_state {
  const detail::send_operation* op = nullptr;
  std::coroutine_handle<> waiting;
  frame_kind kind{};  ///< zero until it has come
  frame_extension extension{};
  bool stop_data = false;  ///< the receiver, having asked for the rest, wants no more of it

  bool starved = false;                   ///< with more credit more would have gone at once
  std::optional<remote_address> exposed;  ///< where the receiver can read it, until it is withdrawn
  bool putting = false;                   ///< the link is writing the rest
  bool written = false;                   ///< and how that ended
  bool told = false;                      ///< the receiver was told, or will be in that order
};

/// State of one peer, reset when the object is reused for another.
class connection_state {
 public:
  enum class state : std::uint8_t {
    idle,        ///< never spoken to: no link, no memory
    connecting,  ///< a link was asked for
    open,
    closed,  ///< in good order, by either side
    lost     ///< `why()` tells
  };

  connection_state();
  connection_state& operator=(connection_state&&) noexcept;
  ~connection_state();

 protected:
  peer_id id_ = no_peer;
  std::size_t small_limit_ = 0;  // bytes of what always goes in one frame
  bool inlines_ = true;          // the beginning of a long message goes with its request
  state state_ = state::idle;
  errc why_ = errc::ok;
  std::string detail_;
  std::unique_ptr<transports::link> link_;

  // Sending.
  bool send_order_held_ = false;    // a message is being begun
  bool closing_ = false;            // close() was called: nothing new is begun
  bool bye_left_ = false;           // and was not answered yet
  errc marked_failure_ = errc::ok;  // why it is to fail at the next pass
  waiters turns_;                   // turn_waiters
  waiters write_waiters_;           // for room in the link, or for credit
  waiters numbers_;         // for a number in replies_: the message that is being begun, or none
  bool link_full_ = false;  // it refused the last frame, and will say when it has room
  id_table<rendezvous_send_state> replies_;
  control_queue controls_;
  bool unsent_noted_ = false;  // unsent(), and the messenger knows

  // Receiving.
  inbound_message* current_ = nullptr;  // the message that `more` frames continue
  sender_numbers numbered_;             // messages that the peer awaits an answer to
  id_table<inbound_message> asked_;     // messages whose rest was asked for
  id_table<inbound_message> reads_;     // messages whose rest the link is reading
  inbound_message* to_ask_ =
      nullptr;  // matched, to be asked for or read when the link can; the first
  inbound_message* last_to_ask_ = nullptr;
  flow_control flow_;
  std::uint32_t signals_ = 0;  // messages not matched yet that hold no credit

  multi_rail_link* multi_rail_link_ =
      nullptr;                // of several links, once the first was offered in either direction
  std::unique_ptr<rma> rma_;  // to memory, once there was any in either direction
};

/// State of the protocols with one peer: the link, whose turn it is to begin a message, credit in
/// both directions, and what is in flight. Owned by the messenger and by endpoints; progress lock
/// held only unless it says otherwise. When only the messenger owns it, and it has gone, it
/// becomes another peer: requests and operations may still hold its address (detail::peer_name).
class peer final : public transports::frame_sink,
                   public std::enable_shared_from_this<peer>,
                   private connection_state {
  friend class rma;

 public:
  using connection_state::state;

  /// \throws std::bad_alloc
  peer(messenger& owner, peer_id id);
  ~peer();

  messenger& owner() const noexcept { return owner_; }  ///< any thread
  peer_id id() const noexcept { return id_; }           ///< any thread that owns it
  state now() const noexcept { return state_; }
  bool gone() const noexcept { return state_ >= state::closed; }
  /// A link is wanted, and neither side has had one to the other.
  bool unmet() const noexcept {
    return state_ == state::connecting && flow_.window() == 0 && !closing_;
  }
  /// Closed by the peer, which has not been told yet that its good-bye has come.
  bool owes_answer() const noexcept { return state_ == state::closed && !controls_.empty(); }
  /// Gone, or about to: the peer has been told that nothing will follow.
  bool parting() const noexcept { return gone() || bye_left_; }
  errc why() const noexcept { return why_; }
  const std::string& detail() const noexcept { return detail_; }
  transports::link* link() const noexcept { return link_.get(); }

  /// Whether the books show that something has come from it.
  bool has_sent() const noexcept {
    return flow_.in_use() != 0 || flow_.to_return() != 0 || signals_ != 0 || current_ ||
           !asked_.none() || !reads_.none();
  }

  /// Bytes that try_send_inline takes; 0: there is no link yet.
  std::size_t small_limit() const noexcept { return small_limit_; }
  /// A small send may go at once, past all queues.
  bool free_to_send() const noexcept { return state_ == state::open && !send_order_held_; }

  /// Gone, and no message of its is left.
  bool finished() const noexcept {
    return gone() && flow_.in_use() == 0 && signals_ == 0 && !link_ && !unreported && !to_sweep;
  }
  /// Gives back memory, once finished.
  void shrink() noexcept;
  /// Another one from now on; finished, and without another owner. \throws std::bad_alloc
  void recycle_as(peer_id id);

  // --- what the context tells -----------------------------------------------------------------

  /// Whether `opened` would take a link, or drop it.
  bool takes_link() const noexcept {
    return state_ < state::open || (state_ == state::closed && !controls_.empty());
  }
  /// Opens the link, as the first message does; nothing if that was asked for before.
  void want_link() noexcept;
  /// The link that was asked for is ready. \param credit units that the peer granted to begin with
  void opened(std::unique_ptr<transports::link> link, std::uint32_t credit);
  /// How many units this side grants a peer that connects. The same again if it connects again (by
  /// another transport, when the first one did not work); none once it is gone.
  std::uint32_t grant_first_credit() noexcept;
  /// Ends everything with this peer. Later operations end the same way at once. Unless it is
  /// closed, its process is told that this side has given it up.
  void fail(errc why, std::string_view detail) noexcept;
  /// The same where its process knows, or there is none any more.
  void lose(errc why, std::string_view detail) noexcept;
  /// Something could not be kept for want of memory (or is more than is kept for a peer), so that
  /// this peer cannot be served any more. It fails at the next pass: the caller may be in the
  /// middle of things.
  void mark_failed(errc why = errc::out_of_memory) noexcept;
  errc marked_failure() const noexcept { return marked_failure_; }
  /// Frees the link, after fail.
  void drop_link() noexcept {
    link_.reset();
    note_unsent();
  }
  /// The peer's process said good-bye or this side closes.
  void close() noexcept;

  // --- sending (send.cpp) ---------------------------------------------------------------------

  /// \return true if it has ended, with op.status set
  bool start(detail::send_operation& op) noexcept;
  void cancel(detail::send_operation& op) noexcept;

  /// A message of one frame that lies together, with nothing in its way: no operation is needed.
  /// \param to whom it is for: this may be another peer by now
  /// \return false: nothing has happened
  bool try_send_inline(peer_id to, std::uint64_t tag, const_buffer data,
                       std::uint64_t immediate) noexcept;

  // --- access to memory (rma.hpp) ----------------------------------------------------------

  /// \return true if it has ended, with op.status set
  bool start(detail::rma_operation& op) noexcept;
  void cancel(detail::rma_operation& op) noexcept;

  // --- receiving (receive.cpp, receive_matched.cpp) -------------------------------------------

  /// A receive takes a message that was unexpected so far. \return true if it is complete
  bool deliver(inbound_message& m, detail::recv_operation& op) noexcept;
  /// Lets go of messages that will never be whole, of a peer that has gone; so many at most.
  /// \return whether that were all
  bool sweep(std::size_t most) noexcept;
  peer* next_to_sweep = nullptr;  ///< for the messenger
  bool to_sweep = false;          ///< it is in its list

  /// Unexpected messages of its.
  unexpected_of_peer unexpected;

  /// As if a receive without memory took a claimed message.
  void discard(inbound_message& m) noexcept;
  /// Ends the receive of a matched message with errc::stopped, at once. What is still to come of
  /// the message is dropped, and its sender told that it need not come.
  void give_up(inbound_message& m) noexcept;

  // --- several links (multi_rail_link.hpp)
  // -------------------------------------------------------------

  /// Messages of this peer come in fragments from now on, and `arrived` frames are for that
  /// multi-rail link. Null: it has ended.
  void use(multi_rail_link* b) noexcept { multi_rail_link_ = b; }
  multi_rail_link* several() const noexcept { return multi_rail_link_; }
  /// As place and on_frame, for a fragment that is new. It may come before others of its message.
  mutable_buffer place_fragment(const frame_header& header, const frame_extension& extension,
                                std::uint32_t already) noexcept;
  bool on_fragment(const frame_header& header, const frame_extension& extension,
                   const std::byte* payload) noexcept;
  /// Tells the other side's multi-rail link that so many frames have come by that link.
  void tell_arrived(std::uint64_t link, std::uint64_t frames) noexcept;

  // frame sink
  mutable_buffer place(const frame_header& header, const frame_extension* extension,
                       std::uint32_t already) noexcept override;
  bool on_frame(const frame_header& header, const frame_extension* extension,
                const std::byte* payload) noexcept override;
  std::uint64_t under_way() const noexcept override;
  void on_transferred(std::uint64_t cookie, bool well) noexcept override;
  void on_chained(std::uint64_t cookie) noexcept override;
  void on_writable() noexcept override;
  void on_broken(errc why) noexcept override;

  /// The books about credit in both directions, for tools and tests. Units.
  struct balance {
    std::int64_t credit;          ///< this side may still send so much
    std::uint32_t window;         ///< the peer was granted so much in all
    std::uint32_t held;           ///< of these, in messages not matched yet
    std::uint32_t owed;           ///< of these, free again and not told to the peer yet
    std::size_t waiting_credits;  ///< frames that return credit and wait for room in the link
    std::size_t waiting;          ///< control frames of any kind that do
  };
  balance credit_state() const noexcept;

  /// Something that the peer waits for waits for room in the link; or its multi-rail link, which
  /// may not be its link yet, owes what a lane that broke has not brought over.
  bool unsent() const noexcept;
  /// That has changed, or may have.
  void note_unsent() noexcept;

  /// Operations that wait for the end, for whatever reason.
  std::vector<operation*> closings;

  bool unreported = false;  ///< the messenger's: it was given up, and there was no memory to say so

 private:
  struct send_order_waiter : waiter {
    peer& at;
    detail::send_operation* op;
    send_order_waiter(peer& p, detail::send_operation* o) noexcept : at(p), op(o) {}
    bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> h) noexcept;
    bool await_resume() const noexcept { return granted; }
  };
  struct queue_waiter : waiter {
    waiters& queue;
    explicit queue_waiter(waiters& q) noexcept : queue(q) {}
    void await_suspend(std::coroutine_handle<> h) noexcept {
      self = h;
      queue.add(*this);
    }
  };
  struct reply_waiter {
    rendezvous_send_state& slot;
    bool await_ready() const noexcept { return slot.kind != frame_kind{}; }
    void await_suspend(std::coroutine_handle<> h) noexcept { slot.waiting = h; }
    frame_kind await_resume() const noexcept { return slot.kind; }
  };
  struct put_waiter {
    rendezvous_send_state& slot;
    bool await_ready() const noexcept { return !slot.putting; }
    void await_suspend(std::coroutine_handle<> h) noexcept { slot.waiting = h; }
    bool await_resume() const noexcept { return slot.written; }
  };
  static constexpr frame_kind reply_lost{0xff};  // for protocols that will get no answer

  send_order_waiter turn(detail::send_operation* op) noexcept { return {*this, op}; }
  queue_waiter room() noexcept { return queue_waiter(write_waiters_); }
  queue_waiter number() noexcept { return queue_waiter(numbers_); }
  void release_send_order() noexcept;
  void resume_writers() noexcept;

  // Sending.
  bool plan(detail::send_operation& op) noexcept;
  transports::post push_eager(detail::send_operation& op) noexcept;
  void begin_message(detail::send_operation& op, bool has_turn) noexcept;
  protocol_coroutine send_message(detail::send_operation& op, bool has_turn) noexcept;
  protocol_coroutine send_signal(detail::send_operation& op) noexcept;
  protocol_coroutine say_bye() noexcept;
  void finish_send(detail::send_operation& op, errc status) noexcept;

  void note(std::string_view detail) noexcept;
  bool add_control(const control_queue::entry& c) noexcept;
  void send_control(frame_kind kind, std::uint64_t a, std::uint64_t b = 0,
                    std::uint64_t third = 0) noexcept;
  bool flush_controls() noexcept;
  void wake_peer() noexcept;
  transports::post post_frame(frame_header header, const frame_extension* extension,
                              transports::gather& data, std::uint64_t left = 0) noexcept;

  // Receiving.
  void on_credit(std::uint16_t units) noexcept;
  detail::recv_operation* take_receive(const received& what) noexcept;
  bool whole_message(const frame_header& h, const frame_extension* x) const noexcept;
  template <class Copy>
  bool on_awaited(const frame_header& h, const frame_extension* x, const std::byte* data,
                  Copy copy) noexcept;
  bool on_long_frame(const frame_header& h, const frame_extension* x,
                     const std::byte* data) noexcept;
  bool on_any_frame(const frame_header& h, const frame_extension* x,
                    const std::byte* data) noexcept;
  void fill_small(const frame_header& h, const frame_extension* x,
                  detail::recv_operation& op) noexcept;
  bool settle_credit(std::uint16_t returned) noexcept;
  bool on_message(const frame_header& h, const frame_extension* x, const std::byte* data) noexcept;
  bool on_signal(const frame_header& h, const frame_extension& x) noexcept;
  bool on_more(const frame_header& h, const std::byte* data) noexcept;
  bool on_data(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;
  bool on_reply(frame_kind kind, const frame_extension& x) noexcept;
  bool on_fin(const frame_extension& x) noexcept;
  bool on_arrived(const frame_extension& x) noexcept;
  bool on_cancel(const frame_extension& x) noexcept;
  void on_stop_data(const frame_extension& x) noexcept;
  bool on_bye(bool answer) noexcept;
  inbound_message* take_incoming(local_id number) noexcept;
  bool keep_unexpected(inbound_message& m) noexcept;
  void on_matched(inbound_message& m) noexcept;
  void continue_receive(inbound_message& m) noexcept;
  void request_payload(inbound_message& m) noexcept;
  void ask_later(inbound_message& m) noexcept;
  void ask_again() noexcept;
  void fill_in(inbound_message& m) noexcept;
  void grow_window() noexcept;
  void finish_receive(inbound_message& m) noexcept;
  void stop(inbound_message& m) noexcept;
  void release(inbound_message& m) noexcept;
  void add_credit_to_return(std::uint32_t units) noexcept;
  void return_credit() noexcept;

  // Access to memory.
  rma* rma_state() noexcept;
  bool on_access(frame_kind kind, const frame_header& h, const frame_extension& x,
                 const std::byte* data) noexcept;

  // One-sided copies of messages (one_sided.cpp).
  void expose(const detail::send_operation& op, rendezvous_send_state& answer) noexcept;
  transports::post put_payload(detail::send_operation& op, rendezvous_send_state& answer) noexcept;
  void on_put_ended(rendezvous_send_state& slot, bool well) noexcept;
  void chain(std::uint64_t cookie, frame_kind kind, std::uint64_t whose) noexcept;
  payload_scheme choose_payload_scheme(const inbound_message& m) const noexcept;
  bool get_payload(inbound_message& m) noexcept;
  void has_read(inbound_message& m) noexcept;
  std::uint64_t expect(inbound_message& m) noexcept;
  void expect_no_more(inbound_message& m) noexcept;

  messenger& owner_;
};

}  // namespace weft::proto
