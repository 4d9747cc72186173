// SPDX-License-Identifier: Apache-2.0
// A NIC: a context of weft, moved by calls, and everything that was made from it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/coro/detail/blocking_task.hpp>
#include <weft/external_loop.hpp>
#include <weft/weft.hpp>

#include "bindings/vipl/base/memory.hpp"
#include "bindings/vipl/base/ring.hpp"
#include "bindings/vipl/base/wire.hpp"
#include "bindings/vipl/nic/completion_queue.hpp"
#include "bindings/vipl/nic/service.hpp"

namespace weft::vipl {

class incoming_request;
class vi;

using time_point = std::chrono::steady_clock::time_point;
template <class T>
using blocking = detail::blocking_task<T>;

inline constexpr VIP_ULONG most_vis = 0xffff;
inline constexpr VIP_ULONG longest_transfer = VIP_ULONG{1} << 30;

/// When a call with that time-out gives up.
time_point deadline_of(VIP_ULONG timeout) noexcept;

/// What a program has made from a NIC, until it ends it, or the NIC ends.
template <class T>
class belongings {
 public:
  /// \throws std::bad_alloc; `one` is the caller's then
  void add(std::unique_ptr<T>&& one) { all_.push_back(std::move(one)); }
  /// The caller's from now on.
  std::unique_ptr<T> take(const T& one) noexcept {
    const auto at = std::find_if(all_.begin(), all_.end(),
                                 [&one](const std::unique_ptr<T>& p) { return p.get() == &one; });
    std::unique_ptr<T> taken = std::move(*at);
    *at = std::move(all_.back());
    all_.pop_back();
    return taken;
  }
  void clear() noexcept { all_.clear(); }

 private:
  std::vector<std::unique_ptr<T>> all_;
};

class nic final : public object_of<object::kind::nic> {
 public:
  explicit nic(std::string name);
  ~nic();

  /// Held by a thread that uses the members marked so. Takes weft's progress lock: one thread must
  /// not hold two, and must not call weft except as a holder of a progress_guard may.
  class locked {
   public:
    explicit locked(nic& n) noexcept : nic_(n), hold_(std::in_place, n.loop_), before_(n.events_) {}
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() {
      nic_.settle_now();
      const bool tell = nic_.leads_ && nic_.events_ != before_;
      hold_.reset();
      if (tell) nic_.wake_leader();
    }
    /// Makes progress. Ends of operations and messages of peers are handled inside.
    void poll() noexcept {
      nic_.polls_ = true;
      hold_->poll();
      nic_.settle_now();
      nic_.polls_ = false;
    }

   private:
    nic& nic_;
    std::optional<external_loop::progress_guard> hold_;
    const std::uint64_t before_;
  };

  /// Makes progress until `over()`, which is called with the NIC locked. \return false: too late
  template <class Over>
  bool wait(time_point until, Over over) {
    // Most answers come soon: then no mutex is needed, and no other thread has to know.
    for (unsigned turn = 0; turn != quick_turns; ++turn) {
      locked lock(*this);
      if (over()) return true;
      if (leads_) break;
      for (unsigned i = 0; i != polls_of_turn; ++i) {
        lock.poll();
        if (over()) return true;
      }
    }
    return wait_for(
        until, [](void* f) { return (*static_cast<Over*>(f))(); }, &over);
  }
  void back_off() noexcept { loop_.back_off(); }

  // --- locked -----------------------------------------------------------------------------------

  /// What a waiting thread may wait for has happened.
  void note_event() noexcept {
    ++events_;
    if (followers_.load(std::memory_order_relaxed) != 0) wake_followers();
  }
  /// The VI has something to do that the handler of messages may not: vi::settle.
  void settle_soon(vi& v) noexcept;
  /// Sends a message at once. Not in the handler of messages. \throws std::bad_alloc
  void send_now(const endpoint& to, const header& h, std::span<const std::byte> body = {});
  /// Calls the error handler, on the service's thread. Without memory one report is kept room for,
  /// and others are lost.
  void raise(const VIP_ERROR_DESCRIPTOR& e) noexcept;
  /// Whether the handler keeps up: a peer can cause reports without end.
  bool may_report() const noexcept { return reports_.load() < most_reports; }
  /// Runs it on the service's thread, not locked.
  void run_soon(std::unique_ptr<service::job> job) noexcept;
  /// The peer is watched from now on: its loss breaks the connections of its VIs.
  void watch(const endpoint& to);

  memory_table memory;
  belongings<protection_tag> tags;
  belongings<completion_queue> queues;
  belongings<incoming_request> requests;  ///< they end without the lock
  std::uint32_t add(vi& v);  ///< \return its number; 0: there is none left. \throws std::bad_alloc
  void remove(vi& v) noexcept;
  /// Where a message is put together that leaves within the call.
  std::span<std::byte> message_room() noexcept { return message_room_; }
  vi* find(std::uint32_t number) const noexcept;
  /// Whether a descriptor that is posted uses that memory.
  bool uses(const registration& r, VIP_MEM_HANDLE handle) const noexcept;

  // --- any thread -------------------------------------------------------------------------------

  weft::context& context() noexcept { return *context_; }
  external_loop& loop() noexcept { return loop_; }
  service& its_service() noexcept { return service_; }
  std::uint64_t secret() const noexcept { return secret_; }
  const std::string& name() const noexcept { return name_; }
  std::span<const std::uint8_t> address() const noexcept { return address_; }
  std::uint32_t next_tag() noexcept { return ++last_tag_; }
  std::uint16_t next_epoch() noexcept { return ++last_epoch_; }
  /// The listener of a discriminator, made when it is first asked for.
  std::shared_ptr<listener> listener_at(const std::string& where);
  /// Registrations are made and ended, and their regions, in turns: by who holds this.
  std::mutex& memory_turn() noexcept { return memory_turn_; }
  /// A VI has no protection tag: its peer may use all memory for RDMA, as far as that allows it,
  /// also memory that is registered later. \throws weft::error
  void open_memory();
  /// Makes the regions of a registration that has none. With `memory_turn`, not locked.
  /// \throws weft::error
  void show(registration& r, VIP_MEM_HANDLE handle);
  /// No VI shows that memory to its peer any more.
  void forget_memory(VIP_MEM_HANDLE handle);
  /// The memory has another protection tag: posted receives of VIs that may not use it any more
  /// complete with an error, and their peers do not see it.
  void withdraw_memory(const registration& r, VIP_MEM_HANDLE handle);
  void set_error_handler(VIP_ERROR_HANDLER handler, VIP_PVOID context) noexcept;

  std::atomic<bool> names_open{false};

 private:
  friend class locked;
  class outgoing;
  struct remote_nic;

  class report;

  static constexpr unsigned quick_turns = 8, polls_of_turn = 8;
  static constexpr unsigned most_reports = 64;

  bool wait_for(time_point until, bool (*over)(void*), void* argument);
  std::optional<bool> follow(std::unique_lock<std::mutex>& lock, time_point until,
                             bool (*over)(void*), void* argument);
  void wake_leader() noexcept;
  void wake_followers() noexcept;
  // Locked:
  void settle_now() noexcept {
    if (!to_settle_.empty()) [[unlikely]]
      settle_all();
  }
  void settle_all() noexcept;
  void visit() noexcept;  // not locked: what a handler has left to the service
  void on_message(const inline_call& c);
  void take(peer_id from, const header& h, std::span<const std::byte> rest);
  void refuse_connection(peer_id from, std::span<const std::byte> rest);
  void lost(peer_id who);

  const std::string name_;
  std::array<std::uint8_t, 4> address_{};
  std::uint64_t secret_ = 0;
  std::atomic<std::uint32_t> last_tag_{0};
  std::atomic<std::uint16_t> last_epoch_{0};

  // Locked. Before the context: operations end until it is gone.
  std::vector<vi*> vis_;
  std::vector<std::uint16_t> uses_;
  std::map<peer_id, std::unique_ptr<remote_nic>> remotes_;
  ring<vi*> to_settle_;  // with room for every VI, each once
  bool polls_ = false;   // inside locked::poll
  std::array<std::byte, longest_message> message_room_;
  std::uint64_t events_ = 0;
  bool leads_ = false;  // a thread is inside external_loop::wait: leader_
  std::thread::id leader_{};
  VIP_ERROR_HANDLER error_handler_ = nullptr;
  VIP_PVOID error_context_ = nullptr;
  std::unique_ptr<service::job> last_report_;  // for the time without memory
  std::atomic<unsigned> reports_{0};           // that the handler has not returned from

  // One of the threads that wait makes progress; the others follow it.
  std::mutex turn_;
  std::condition_variable turned_;
  bool led_ = false;
  bool led_by_service_ = false;
  std::uint64_t generation_ = 0;
  std::atomic<unsigned> followers_{0};

  std::mutex memory_turn_;
  bool memory_open_ = false;  // of all tags; with memory_turn_

  std::mutex listeners_mutex_;
  std::map<std::string, std::shared_ptr<listener>> listeners_;

  std::optional<weft::context> context_;
  external_loop loop_;
  handler inbound_;
  service service_;
};

}  // namespace weft::vipl
