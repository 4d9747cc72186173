// SPDX-License-Identifier: Apache-2.0
// The transport between processes of one host by messages into receive queues.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "runtime/progress/own_services.hpp"
#include "transports/blocked_links.hpp"
#include "transports/qdma/pair.hpp"
#include "transports/qdma/senders.hpp"
#include "transports/qdma/shared_segment.hpp"
#include "transports/qdma/transfers.hpp"

namespace weft::transports::qdma {

/// One queue takes the frames of all peers, so a pass costs the same however many there are, and a
/// context has room for as many frames as a queue has slots, however many peers send
/// (docs/adr/0017-qdma-transport.md). Peers without any traffic have no state here.
class qdma_transport final : public pollable, public transport {
 public:
  explicit qdma_transport(runtime::own_services& e, copy_completion ends = copy_completion::direct);
  ~qdma_transport() override;

  pollable* poll_hook() noexcept override { return this; }
  const transports::traits& traits() const noexcept override;
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void forget(frame_sink& from) noexcept override;
  std::string describe() const override;
  std::string describe(const frame_sink& peer) const override;
  std::string explain_frames(std::size_t size) const override;
  std::vector<explained_way> explain_rest(const rest_question& q) const override;

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  void wake_peer() noexcept override;
  bool has_unconsumed() const noexcept override;
  std::uint64_t bells_rung() const noexcept override;

  // For pairs and links:
  runtime::wakeup_sender& rings_peers() noexcept { return engine_.own_doorbell().to_peers(); }
  bool fences_for_itself() const noexcept { return !engine_.own_doorbell().fences_senders(); }
  shared_segment& segment() noexcept { return segment_; }
  void add_listener(wireup_message& p) const;  ///< \throws weft::error when descriptors run out
  vpid admit(pair& p, pid_t pid);              ///< \throws weft::error (out_of_memory)
  void dismiss(vpid v) noexcept;
  void wants_room(queue_link& l) { blocked_.add(l); }
  void has_unconsumed(queue_link& l) { unconsumed_.push_back(&l); }
  void link_ended(queue_link& l) noexcept;
  transfers& copies() noexcept { return copies_; }
  bool begin(const transfer& t) noexcept;  ///< \return false: no memory for it
  /// When this returns, no process writes to that region any more, and a process that has read from
  /// it afterwards knows that it was too late.
  void take_back(std::uint64_t key) noexcept;
  /// Counts passes, so that a link recognizes a burst: frames posted without a pass in between.
  const std::uint32_t& passes() const noexcept { return passes_; }

 private:
  pair& pair_of(frame_sink& peer, const counterpart& who);
  unsigned take_frames() noexcept;
  bool deliver(pair& p, const queue_reader::view& message) noexcept;
  void publish() noexcept;
  void notify_writable() noexcept;
  void retire_held() noexcept;

  runtime::own_services& engine_;
  shared_segment segment_;
  queue_reader reader_;
  senders senders_;
  completions ends_;
  transfers copies_;
  std::map<const frame_sink*, std::unique_ptr<pair>> pairs_;
  blocked_links<queue_link> blocked_;
  std::vector<queue_link*>
      unconsumed_;  // links that sent something since their peer was last found to have read all
  std::vector<pair*> staged_;  // pairs with read and unpublished bytes in their stages
  std::vector<std::uint64_t>
      held_;  // keys of regions that were taken back while a process held them
  std::uint32_t passes_ = 0;
  unsigned vain_ = 0;  // passes without a frame
};

}  // namespace weft::transports::qdma
