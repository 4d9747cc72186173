// SPDX-License-Identifier: Apache-2.0
// Calls of a context: its handlers, the calls that wait for one, and those that run.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <weft/coro/detail/scheduled_continuation.hpp>
#include <weft/detail/call_code.hpp>

#include "proto/frames/call_wire.hpp"
#include "proto/frames/inbound_message.hpp"
#include "proto/frames/sender_numbers.hpp"
#include "proto/match/unexpected_queue.hpp"
#include "proto/services/services.hpp"
#include "proto/support/id_table.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

class peer_registry;
class served_call;

/// Messages of calls that wait, in order: for a handler, or for the reader of a stream of values.
struct call_line : linked<inbound_message, &inbound_message::earlier, &inbound_message::later> {};

/// What is known of a call that is served.
struct call_facts {
  call_tag tag;
  std::uint64_t size = 0;
  std::uint32_t fingerprint = 0;  // of its types; 0: it has bytes
  detail::time_point deadline = detail::time_point::max();
};

/// A registered handler. Shared by its `handler`, the table, and the calls that run. It counts as a
/// pending operation: a thread polls for its calls while the application computes. Progress lock
/// held, except where a function says otherwise.
class call_handler final : public operation, public std::enable_shared_from_this<call_handler> {
 public:
  call_handler(am n, std::unique_ptr<detail::call_code> code, executor* where) noexcept
      : operation(&all_ended), number(n), is_inline(code->is_inline()), code_(std::move(code)) {
    on = where;
  }

  const am number;
  const bool is_inline;
  detail::call_code& code() noexcept { return *code_; }
  /// Whether a call with these types is one of this handler. \param fingerprint 0: it has bytes
  bool takes(call_kind kind, std::uint32_t fingerprint) const noexcept {
    if (fingerprint == 0 || !signature_) return true;
    const auto& name = kind == call_kind::post ? signature_->arguments : signature_->whole;
    return name.fingerprint() == fingerprint;
  }
  const detail::call_signature* signature() const noexcept { return signature_; }

  // For the table.
  bool is_registered = false;
  std::size_t running = 0;

  // --- any thread -------------------------------------------------------------------------------

  /// Takes no more calls.
  void close() noexcept;
  /// Asks the calls that run to stop.
  void stop() noexcept;
  /// Whether this is a process that fork() made since.
  bool is_inherited() const noexcept { return engine_ && engine_->is_inherited(); }
  /// After close, once: waits for the calls that run, as a thread.
  void wait() noexcept;
  /// After close: opens when no call runs.
  detail::one_shot_event& ended() noexcept { return ended_; }

 private:
  friend class call_table;
  static void all_ended(operation& op) noexcept;
  void report_end(runtime::engine& e) noexcept;
  void context_ended() noexcept;

  const std::unique_ptr<detail::call_code> code_;
  const detail::call_signature* const signature_ = code_->signature();
  call_table* table_ = nullptr;
  runtime::engine* engine_ = nullptr;   // from the registration to the context's end
  std::shared_ptr<call_handler> self_;  // while the end is in the completion queue
  bool closed_ = false;
  std::atomic<bool> done_{false};
  detail::one_shot_event ended_;
};

/// What the calls with one peer need, in both directions. Part of a peer, made for its first call.
struct calls_of_peer {
  /// In place of a call whose operation was stopped.
  struct no_call final : detail::call_operation {
    no_call() noexcept : call_operation(nullptr, {}, nullptr) {}
    detail::buffer_list<const_buffer> arguments() const noexcept override { return const_buffer(); }
    room place(std::uint64_t, const_buffer) noexcept override { return {}; }
  };

  explicit calls_of_peer(peer& p) noexcept : whose(&p) {}

  peer* const whose;
  // This side calls. Each number waits for a reply.
  id_table<detail::call_operation> made;
  no_call abandoned;
  // The peer calls: messages that no handler has, in order. The numbers of those that the
  // caller has stopped before they had one.
  call_line waiting;
  std::unique_ptr<std::bitset<65536>> stopped;
  // Calls that have been dispatched, until they have been answered and freed; of these, those of
  // handlers that run. By number those that can still be stopped.
  std::uint32_t served = 0;
  std::uint32_t running = 0;
  // Of these, calls of inline handlers whose bytes are still fetched: later ones come after them.
  std::uint32_t fetching = 0;
  sender_numbers<served_call> numbered;
  calls_of_peer* before = nullptr;  // among peers whose calls wait
  calls_of_peer* after = nullptr;
};

/// Hands calls to handlers, and replies to calls. Owned by the messenger; progress lock held only.
class call_table {
 public:
  /// Who waits for the coroutines of handlers at a context's end.
  class host {
   public:
    virtual void call_began() noexcept = 0;
    /// The caller does not use the context any more. Without the progress lock.
    virtual void call_ended() noexcept = 0;
    /// A call of weft's own came, and has no handler: it may register those. On the thread inside
    /// run(), without the progress lock.
    virtual void serve_own_calls() noexcept {}

   protected:
    ~host() = default;
  };

  /// \param peers knows of peers that have ended how they ended; used after the constructor
  /// \param at_once how many calls may run
  call_table(const protocol_services& s, const peer_registry& peers, unsigned at_once) noexcept
      : services_(s), peers_known_(peers), most_running_(at_once) {}

  void attach(host& h) noexcept { host_ = &h; }

  // --- handlers ---------------------------------------------------------------------------------

  /// \throws weft::error (invalid_argument, closed), std::bad_alloc
  void add(const std::shared_ptr<call_handler>& h);
  void remove(call_handler& h) noexcept;
  void stop_calls_of(const call_handler& h) noexcept;
  call_handler* find(std::uint32_t number) const noexcept;
  /// The text for a number without a handler.
  std::string no_handler(std::uint32_t number) const;
  /// There was one: a service that ends is a loss for its callers, and no mistake of theirs.
  bool has_ended(std::uint32_t number) const { return ended_.contains(number); }

  // --- what comes -------------------------------------------------------------------------------

  enum class verdict : std::uint8_t {
    taken,   ///< the message is done with, and its credit is to be returned
    keep,    ///< it is to be stored
    invalid  ///< no correct peer sends it
  };
  /// A message that is whole in its first frame. \param data its bytes, gone after the call
  verdict on_whole(peer& from, call_tag t, std::uint64_t immediate, const_buffer data) noexcept;
  /// Another reply begins to arrive. \param beginning the bytes that have come
  /// \param receive set: where it goes, pending; null: to drop it
  /// \return false: no correct peer sends it
  bool on_long_reply(peer& from, call_tag t, std::uint64_t size, const_buffer beginning,
                     recv_operation*& receive) noexcept;
  /// A value of a stream begins to arrive. \param unwanted its reader has left
  /// \return false: no correct peer sends it
  bool on_item(peer& from, call_tag t, bool& unwanted) noexcept;
  /// A call begins to arrive that will be stored. \return false: there is no memory for it
  bool on_begun(peer& from, call_tag t) noexcept;
  /// A stored call has arrived, as a whole or, if it is a rendezvous, its beginning.
  void on_stored(inbound_message& m) noexcept;
  /// The caller takes a message back that waits for a handler.
  void take_back(inbound_message& m) noexcept;
  /// The connection has ended in the middle of a stored call. `fail` follows.
  void on_cut_off(inbound_message& m) noexcept;
  /// Frame call_more.
  bool on_more(peer& from, std::uint64_t id) noexcept;
  /// Frame call_stop.
  bool on_stop(peer& from, std::uint64_t id) noexcept;

  // --- calls of this side -----------------------------------------------------------------------

  bool start(detail::call_operation& op) noexcept;
  void cancel(detail::call_operation& op) noexcept;
  /// The request of the call has ended, or (`sent` false) its reply. \return whether the call has
  bool part_ended(detail::call_operation& op, bool sent) noexcept;

  // --- ends -------------------------------------------------------------------------------------

  /// The connection has ended.
  void fail(peer& p) noexcept;
  /// The context ends.
  void close() noexcept;

  // --- for served calls -------------------------------------------------------------------------

  void began(served_call& c) noexcept;
  /// A call runs from now on: the caller's number names it, unless there is no memory for that.
  /// \return false: there is none
  bool runs(served_call& c) noexcept;
  /// It does not run any more: another call may begin.
  void runs_no_more(served_call& c) noexcept;
  void ended(served_call& c) noexcept;
  /// A call has ended the handler's code.
  void release(call_handler& h) noexcept;
  host* its_host() const noexcept { return host_; }
  /// Calls whose handlers run, or may have to run.
  std::uint32_t running() const noexcept { return running_; }
  /// These, and those whose last answers are on their way.
  std::uint32_t served() const noexcept { return served_; }
  /// Whether another call of that peer would have to wait.
  bool is_busy_for(const peer& from) const noexcept;
  /// \return bytes in `room`; nothing: refused, and `why` is set
  std::optional<std::size_t> run_inline(call_handler& h, const peer& from, const_buffer data,
                                        std::string& why) noexcept;
  const std::byte* room() const noexcept { return room_.data(); }

 private:
  calls_of_peer* parts_of(peer& p) noexcept;
  static served_call* find_unanswered(const peer& from, std::uint64_t id) noexcept;
  static bool is_own(std::uint32_t number) noexcept { return number >= first_reserved_am; }
  bool may_begin(const peer& from, std::uint32_t number) const noexcept;
  void begin(inbound_message& m) noexcept;
  served_call* make(peer& from, call_handler* h, inbound_message* m,
                    const call_facts& what) noexcept;
  void refuse(peer& from, const call_facts& what, std::string why,
              call_status how = call_status::refused) noexcept;
  void answer_inline(call_handler& h, peer& from, call_tag t, const_buffer data) noexcept;
  void queue(calls_of_peer& of, inbound_message& m) noexcept;
  void unqueue(calls_of_peer& of, inbound_message& m) noexcept;
  void begin_waiting() noexcept;
  protocol_coroutine begin_later() noexcept;
  void fail_calls(calls_of_peer& of) noexcept;
  void answered(detail::call_operation& op, call_tag t, const_buffer data) noexcept;
  detail::buffer_list<mutable_buffer> room_for(detail::call_operation& op, call_tag t,
                                               std::uint64_t size, const_buffer beginning) noexcept;
  static bool has_ended(const detail::call_operation& op) noexcept;
  void end_if_done(detail::call_operation& op) noexcept;

  const protocol_services& services_;
  const peer_registry& peers_known_;
  const std::uint32_t most_running_;
  host* host_ = nullptr;
  std::unordered_map<std::uint32_t, std::shared_ptr<call_handler>> handlers_;
  mutable call_handler* recent_ = nullptr;   // of handlers_, found last: most programs call one
  std::unordered_set<std::uint32_t> ended_;  // numbers of handlers that there were
  bool ever_served_ = false;  // the application registered a handler: calls without are refused
  bool closed_ = false;
  bool later_ = false;  // begin_later is under way
  std::uint32_t running_ = 0;
  std::uint32_t served_ = 0;
  linked<calls_of_peer, &calls_of_peer::before, &calls_of_peer::after>
      peers_;                     // that wait, in turn
  served_call* first_ = nullptr;  // all that are served
  // Once there is an inline handler: of its replies, and of arguments, for the time of a function.
  std::vector<std::byte> room_, taken_;
};

}  // namespace weft::proto
