// SPDX-License-Identifier: Apache-2.0
// The transport for InfiniBand and RoCE, between processes of any hosts.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/transport/services.hpp>

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "transports/verbs/completions.hpp"
#include "transports/verbs/factory.hpp"
#include "transports/verbs/pair.hpp"

namespace weft::transports::verbs {

/// All pairs of a context, on one completion queue. A polling thread polls it, which is a memory
/// load. Before a thread sleeps the completion channel is armed. The channel is in an epoll set of
/// the transport, with the device's events and a timer; the engine's wait sets watch the set's one
/// descriptor. No memory is registered before the first peer.
class verbs_transport final : public pollable, public transport {
 public:
  /// \throws weft::error when descriptors run out
  verbs_transport(services& e, settings s, std::unique_ptr<verbs::device> d);
  ~verbs_transport() override;

  pollable* poll_hook() noexcept override { return this; }
  const transports::traits& traits() const noexcept override;
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void note(frame_sink& from, wireup_message p) override;
  bool drain_peer(frame_sink& from) noexcept override;
  void forget(frame_sink& from) noexcept override;
  void invalidate_registrations(std::span<const std::byte> memory) noexcept override {
    cache_.forget(memory);
  }
  void add_to(metrics& m) const noexcept override { cache_.add_to(m); }
  std::string explain_frames(std::size_t size) const override;
  std::vector<explained_way> explain_rest(const rest_question& q) const override;
  std::string describe() const override;
  std::string describe(const frame_sink& peer) const override;

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  int handle() const noexcept override { return descriptors_->descriptor(); }
  void on_ready() noexcept override;
  void arm() noexcept override;

  // For pairs and links:
  verbs::device& device() noexcept { return *device_; }
  slots& pool() noexcept { return *pool_; }
  registration_cache& cache() noexcept { return cache_; }
  /// Memory for the frames of one peer, if peers write them. \throws weft::error: none can be had
  inbox make_inbox();
  std::chrono::seconds peer_timeout() const noexcept { return settings_.peer_timeout; }
  void wants_room(pair& p) noexcept;
  void owes(pair& p) noexcept;
  /// Handles the completions of that pair alone; the others are left for the next pass.
  /// \param deliver true: also its receives
  /// \return whether there was a completion for it
  bool look_for(pair& p, bool deliver) noexcept;
  completions& completed() noexcept { return completions_; }
  void forget_if_idle(pair& p) noexcept;
  /// Has pairs ticked, soon and for as long as one of them wants it.
  void want_ticks() noexcept;
  void complain(const std::string& what) noexcept;  ///< for people, once

 private:
  /// Calls the handler of one of the descriptors.
  struct watcher final : runtime::fd_watcher {
    verbs_transport* in = nullptr;
    void (verbs_transport::*what)() noexcept = nullptr;
    void on_ready(std::uint32_t) noexcept override { (in->*what)(); }
  };

  bool has_inboxes() const noexcept { return settings_.eager == eager_operation::write; }
  pair& pair_of(frame_sink& peer, const counterpart& who);
  void make_memory();
  void watch(watcher& w, int fd, void (verbs_transport::*what)() noexcept);
  void take(const completion& c) noexcept;
  std::span<const std::byte> frame_of(const completion& c) const noexcept;
  unsigned take_some() noexcept;
  void settle() noexcept;
  void on_channel() noexcept;
  void on_device_event() noexcept;
  void on_port() noexcept;
  bool port_given_up() noexcept;
  void on_tick() noexcept;
  void on_bell() noexcept { bell_.drain(); }

  services& engine_;
  const settings settings_;
  const std::unique_ptr<verbs::device> device_;
  regions regions_;
  registration_cache cache_;
  const std::unique_ptr<runtime::wait_set> descriptors_;
  runtime::event_fd bell_;  // rings for completions from before the channel was armed
  unique_fd clock_;
  watcher on_channel_, on_event_, on_clock_, on_bell_;
  std::unique_ptr<slots> pool_;
  std::unique_ptr<receives> receives_;
  std::unordered_map<const frame_sink*, std::unique_ptr<pair>> pairs_;
  completions completions_;
  std::vector<pair*> waiting_;  // for room
  std::vector<pair*> owing_;
  std::optional<std::chrono::steady_clock::time_point> down_since_;  // the port
  std::uint32_t next_number_ = 1;                                    // of a pair
  bool ready_ = false;                                               // events wait in descriptors_
  bool armed_ = false;  // the channel is armed and has not become readable
  bool ticking_ = false;
  bool complained_ = false;
};

}  // namespace weft::transports::verbs
