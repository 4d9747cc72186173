// SPDX-License-Identifier: Apache-2.0
// The shared-memory transport between processes of one host.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <weft/transport/services.hpp>

#include "runtime/sleep/doorbell.hpp"
#include "transports/blocked_links.hpp"
#include "transports/shm/pair.hpp"
#include "transports/shm/regions.hpp"
#include "transports/shm/select.hpp"
#include "transports/shm/stores.hpp"
#include "transports/shm/transfers.hpp"

namespace weft::transports::shm {

/// All pairs of a context. Active rings are polled in every pass; the idle ones in turn, one in
/// each pass, so that a pass costs the same however many peers are connected (docs/adr/0002).
/// Peers without any traffic have no state here. A poll takes the frames in a ring, up to
/// `frames_per_pass`; read_policy_transport reads otherwise.
class alignas(line) shm_transport : public pollable, public transport {
 public:
  /// \param looks_after told when there is something to copy; null (tests): a thread polls all the
  ///   time
  /// \param stores how its links write into their rings
  shm_transport(runtime::doorbell& own_bell, copy_method way, std::uint64_t probe_value,
                services* looks_after = nullptr, std::size_t streamed_from = never_streamed);
  ~shm_transport() override;

  pollable* poll_hook() noexcept override { return this; }
  const transports::traits& traits() const noexcept override;
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void note(frame_sink& from, wireup_message p) override;
  void forget(frame_sink& from) noexcept override;
  void add_to(metrics& m) const noexcept override { m.shared_copy_chunks += chunks_written_; }
  std::span<std::byte> allocate(std::size_t size) override { return regions_.allocate(size); }
  void deallocate(std::span<std::byte> memory) noexcept override;
  std::string explain_frames(std::size_t size) const override;
  std::vector<explained_way> explain_rest(const rest_question& q) const override;
  std::string describe() const override;
  std::string describe(const frame_sink& peer) const override;

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  void wake_peer() noexcept override;
  bool has_unconsumed() const noexcept override;
  std::uint64_t bells_rung() const noexcept override;

  // For pairs and links:
  const std::uint64_t& probe_word() const noexcept { return probe_word_; }
  runtime::wakeup_sender& rings_peers() noexcept { return doorbell_.to_peers(); }
  bool fences_for_itself() const noexcept { return !doorbell_.fences_senders(); }
  copy_method shm_copy() const noexcept { return way_; }
  /// Payloads of this size and longer ones go past the cache into the ring.
  std::size_t streamed_from() const noexcept { return streamed_from_; }
  /// No core is idle: whatever the other side copies, a process that shares its core copies later.
  bool crowded() const noexcept { return looks_after_ && looks_after_->is_crowded(); }
  own_regions& regions() noexcept { return regions_; }
  void add_listener(wireup_message& p) const;  ///< \throws weft::error when descriptors run out
  void wants_room(ring_link& l) { blocked_.add(l); }
  void has_unconsumed(ring_link& l) { unconsumed_.push_back(&l); }
  void link_ended(ring_link& l) noexcept;
  /// The link has memory that its peer may read, and helps it to copy.
  void exposes(ring_link& l) { exposing_.push_back(&l); }
  void exposes_nothing(ring_link& l) noexcept;
  transfers& copies() noexcept { return copies_; }
  bool begin(const transfer& t) noexcept;
  /// Whether the thread that runs the engine looks after new copies at once.
  bool in_pass() const noexcept;
  /// Counts passes, so that a link recognizes a burst: frames posted without a pass in between.
  const std::uint32_t& passes() const noexcept { return passes_; }

 protected:
  // Frames from one peer in one pass: enough to amortise the pass, few enough to be fair.
  static constexpr unsigned frames_per_pass = 64;

  /// One pass. `look` takes frames out of the ring of an active pair and returns how many.
  template <class Look>
  unsigned pass(Look look) noexcept {
    ++passes_;
    unsigned events = poll_active(look);
    if (!blocked_.empty()) [[unlikely]]
      events += blocked_.poll();
    if (!idle_.empty()) [[unlikely]]
      events += poll_idle();
    if (!exposing_.empty()) [[unlikely]]
      events += write_for_peers();
    if (busy) [[unlikely]] {
      events += copies_.run();
      busy = !copies_.empty();
    }
    return events;
  }
  const std::vector<pair*>& active() const noexcept { return active_; }

 private:
  // A ring that was empty in this many polls becomes idle, if more than a few are active.
  static constexpr std::uint32_t polls_until_idle = 2000;
  static constexpr std::size_t always_active = 2;
  /// All that a pass reads of it lies side by side; the pair is touched when a frame is there.
  struct idle_ring {
    ring_receiver::awaited_frame next;
    pair* of;
  };

  pair& pair_of(frame_sink& peer, const counterpart& who);
  template <class Look>
  unsigned poll_active(Look look) noexcept;
  unsigned poll_idle() noexcept;
  unsigned write_for_peers() noexcept;
  void activate(std::size_t idle_index) noexcept;
  void deactivate(std::size_t index) noexcept;
  void stop_polling(pair& p) noexcept;
  void report_broken(pair& p) noexcept;

  runtime::doorbell& doorbell_;
  services* const looks_after_;
  const copy_method way_;
  const std::size_t streamed_from_;
  const std::uint64_t probe_word_;
  own_regions regions_;
  transfers copies_;
  std::map<const frame_sink*, std::unique_ptr<pair>> pairs_;
  std::vector<pair*> active_;
  std::vector<idle_ring> idle_;
  blocked_links<ring_link> blocked_;
  std::vector<ring_link*>
      unconsumed_;  // links that sent something since their peer was last found to have read all
  std::size_t next_idle_ = 0;
  std::uint32_t passes_ = 0;
  std::vector<ring_link*> exposing_;  // links that may have to write for their peers
  std::uint64_t chunks_written_ = 0;  // for them
};

template <class Look>
unsigned shm_transport::poll_active(Look look) noexcept {
  unsigned events = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    pair& p = *active_[i];
    const unsigned frames = look(p);
    events += frames;
    if (frames != 0) [[unlikely]] {
      p.empty_polls = 0;
      if (p.incoming()->broken()) {
        report_broken(p);
        return events;
      }
    } else if (++p.empty_polls > polls_until_idle && active_.size() > always_active) [[unlikely]] {
      p.empty_polls = 0;
      deactivate(i--);
    }
  }
  return events;
}

}  // namespace weft::transports::shm
