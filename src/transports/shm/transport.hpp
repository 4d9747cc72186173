// SPDX-License-Identifier: Apache-2.0
// Shared memory between processes of one host.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "runtime/doorbell.hpp"
#include "runtime/engine.hpp"
#include "transports/shm/pair.hpp"
#include "transports/shm/regions.hpp"
#include "transports/shm/select.hpp"
#include "transports/shm/transfers.hpp"

namespace weft::transports::shm {

/// All pairs of a context. Rings that carry traffic ("hot") are looked at in every pass; the
/// others in turn, one every few passes, so that a pass costs the same however many peers are
/// connected (docs/adr/0002). Nothing exists for peers never spoken to. Takes what is in a ring, up
/// to `frames_per_pass`; shiba_transport reads otherwise.
class shm_transport : public transport {
 public:
  /// \param looks_after told when there is something to copy; null (tests): somebody polls anyway
  shm_transport(runtime::doorbell& door, large_way way, std::uint64_t probe_value,
                runtime::engine* looks_after = nullptr);
  ~shm_transport() override;

  const transports::traits& traits() const noexcept override;
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(inlet& from, const counterpart& who, parcel& offer) override;
  std::string accept(inlet& to, const counterpart& who, parcel offer, parcel& answer) override;
  void note(inlet& from, parcel p) override;
  void forget(inlet& from) noexcept override;
  std::string describe() const override;
  std::string describe(const inlet& peer) const override;

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  void nudge() noexcept override;
  bool has_unseen() const noexcept override;
  std::uint64_t bells_rung() const noexcept override;

  // For pairs and links:
  const std::uint64_t& probe_word() const noexcept { return probe_word_; }
  bool fences_for_itself() const noexcept { return !door_.fences_senders(); }
  large_way large_messages() const noexcept { return way_; }
  own_regions& regions() noexcept { return regions_; }
  void add_door(parcel& p) const;  ///< \throws weft::error when descriptors run out
  void wants_room(ring_link& l) { waiting_.push_back(&l); }
  void has_unseen(ring_link& l) { unseen_.push_back(&l); }
  void link_ended(ring_link& l) noexcept;
  transfers& copies() noexcept { return copies_; }
  bool begin(const transfer& t) noexcept;
  /// Frees memory that `regions` allocated, here and at the peers.
  void free_region(std::span<std::byte> memory) noexcept;
  /// Counts passes, so that a link knows a burst: frames posted without a look in between.
  const std::uint32_t& passes() const noexcept { return passes_; }

 protected:
  // Frames from one peer in one pass: enough to amortise the pass, few enough to be fair.
  static constexpr unsigned frames_per_pass = 64;

  /// A pass. `look` takes frames out of the ring of a hot pair and says how many.
  template <class Look>
  unsigned pass(Look look) noexcept {
    ++passes_;
    unsigned events = poll_hot(look);
    if (!waiting_.empty()) [[unlikely]]
      events += poll_waiting();
    if (!quiet_.empty() && passes_ % passes_between_quiet_looks == 0) [[unlikely]]
      events += poll_quiet();
    if (busy) [[unlikely]] {
      events += copies_.run();
      busy = !copies_.empty();
    }
    return events;
  }
  const std::vector<pair*>& hot() const noexcept { return hot_; }

 private:
  // A ring that brought nothing in this many looks goes to the quiet ones, if more than a few are
  // hot.
  static constexpr std::uint32_t looks_until_quiet = 2000;
  static constexpr std::size_t always_hot = 2;
  static constexpr std::uint32_t passes_between_quiet_looks = 4;

  pair& pair_of(inlet& peer, const counterpart& who);
  template <class Look>
  unsigned poll_hot(Look look) noexcept;
  unsigned poll_quiet() noexcept;
  unsigned poll_waiting() noexcept;
  void cool(std::size_t index) noexcept;
  void report_broken(pair& p) noexcept;

  runtime::doorbell& door_;
  runtime::engine* const looks_after_;
  const large_way way_;
  const std::uint64_t probe_word_;
  own_regions regions_;
  transfers copies_;
  std::map<const inlet*, std::unique_ptr<pair>> pairs_;
  std::vector<pair*> hot_;
  std::vector<pair*> quiet_;
  std::vector<ring_link*> waiting_;  // refused a frame for want of room
  std::vector<ring_link*>
      unseen_;  // sent something since their peer was last seen to be up to date
  std::size_t next_quiet_ = 0;
  std::uint32_t passes_ = 0;
};

template <class Look>
unsigned shm_transport::poll_hot(Look look) noexcept {
  unsigned events = 0;
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    pair& p = *hot_[i];
    const unsigned frames = look(p);
    events += frames;
    if (frames != 0) [[unlikely]] {
      p.vain_looks = 0;
      if (p.incoming()->broken()) {
        report_broken(p);
        return events;
      }
    } else if (++p.vain_looks > looks_until_quiet && hot_.size() > always_hot) [[unlikely]] {
      p.vain_looks = 0;
      cool(i--);
    }
  }
  return events;
}

}  // namespace weft::transports::shm
