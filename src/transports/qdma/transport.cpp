// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/transport.hpp"

#include <algorithm>

namespace weft::transports::qdma {

namespace {

// Frames in one pass: enough to amortise it, few enough that other transports have their turn.
constexpr unsigned frames_per_pass = 64;
constexpr unsigned vain_until_publish = 8;
constexpr std::uint32_t publish_every = slot_count / 4;
constexpr std::uint64_t publish_every_staged = stage_bytes / 8;
// A producer that holds the queue up does so for longer than that.
constexpr std::uint32_t passes_until_care = 256;
// Address space for memory that peers can map.
constexpr std::size_t arena_bytes = std::size_t{64} << 20;

template <class T>
void drop(std::vector<T*>& from, T* what) noexcept {
  from.erase(std::remove(from.begin(), from.end(), what), from.end());
}

}  // namespace

qdma_transport::qdma_transport(runtime::own_services& e, copy_completion ends)
    : engine_(e),
      segment_(arena_bytes),
      reader_(segment_.queue(0), segment_.regions().progress_of(0)),
      ends_(ends, segment_.queue(0), segment_.regions().progress_of(0), e.completion_thread()),
      copies_(ends_) {
  held_.reserve(region_count);
}

qdma_transport::~qdma_transport() = default;

const transports::traits& qdma_transport::traits() const noexcept {
  static constexpr transports::traits qdma{.name = "qdma",
                                           .max_payload = qdma::max_payload,
                                           .fragment = 16 * 1024,
                                           .shares_memory = true};
  return qdma;
}

std::string qdma_transport::reach(bool is_self) const {
  return is_self ? "a process reaches itself by `self`" : "";
}

void qdma_transport::add_listener(wireup_message& p) const {
  p.fds.push_back(runtime::duplicate(engine_.own_doorbell().page_fd()));
}

vpid qdma_transport::admit(pair& p, pid_t pid) {
  const vpid given = senders_.add(p, pid);
  segment_.regions().stage_of(index_of(given)).read.store(0, std::memory_order_relaxed);
  return given;
}

void qdma_transport::dismiss(vpid v) noexcept {
  senders_.remove(v);
  reader_.forget_wish(v);
}

pair& qdma_transport::pair_of(frame_sink& peer, const counterpart& who) {
  auto known = pairs_.find(&peer);
  if (known == pairs_.end())
    known = pairs_.emplace(&peer, std::make_unique<pair>(*this, peer, who)).first;
  return *known->second;
}

std::unique_ptr<link> qdma_transport::open(frame_sink& from, const counterpart& who,
                                           wireup_message& offer) {
  pair& p = pair_of(from, who);
  unconsumed_.reserve(pairs_.size());
  blocked_.reserve(pairs_.size());
  return p.open(offer);
}

std::string qdma_transport::accept(frame_sink& to, const counterpart& who, wireup_message offer,
                                   wireup_message& answer) {
  pair& p = pair_of(to, who);
  staged_.reserve(pairs_.size());  // inside poll nothing may throw
  return p.accept(std::move(offer), answer);
}

void qdma_transport::forget(frame_sink& from) noexcept {
  const auto it = pairs_.find(&from);
  if (it == pairs_.end()) return;
  pair& p = *it->second;
  if (p.outgoing()) ends_.tell_all_of(*p.outgoing());
  if (p.sender() != 0) {
    // What the peer wrote before it died is still delivered.
    reader_.take_all_of(
        p.sender(), [&p](const queue_reader::view& v) { p.broken = p.broken || !p.deliver(v); });
    dismiss(p.sender());
    drop(staged_, &p);
    p.lose_incoming();
  }
  if (!p.outgoing()) pairs_.erase(it);
}

void qdma_transport::link_ended(queue_link& l) noexcept {
  blocked_.remove(l);
  drop(unconsumed_, &l);
  pair& p = l.owner();
  p.lose_outgoing();
  if (p.sender() == 0) pairs_.erase(&p.frame_sink());
}

std::string qdma_transport::describe() const { return "qdma (receive queues of 2 KB slots)"; }

std::string qdma_transport::describe(const frame_sink& peer) const {
  const auto it = pairs_.find(&peer);
  return it == pairs_.end() ? "qdma" : "qdma, " + it->second->describe();
}

/// \return false: the pair is not read any more, and its frame sink must be told
bool qdma_transport::deliver(pair& p, const queue_reader::view& message) noexcept {
  if (p.broken) return true;
  p.broken = !p.deliver(message);
  if (p.unpublished() != 0) {
    if (p.unpublished() >= publish_every_staged) {
      p.publish();
      notify_writable();
    } else if (!p.listed_staged) {
      p.listed_staged = true;
      staged_.push_back(&p);
    }
  }
  return !p.broken;
}

unsigned qdma_transport::take_frames() noexcept {
  unsigned frames = 0;
  for (; frames != frames_per_pass; ++frames) {
    const auto message = reader_.peek();
    if (!message) break;
    pair* const from = senders_.find(message->from);
    // Messages of a sender that was never admitted, or was dismissed, are dropped.
    const bool good = !from || deliver(*from, *message);
    reader_.pop();
    if (!ends_.empty()) [[unlikely]]
      ends_.seen(reader_.head());
    if (reader_.unpublished() >= publish_every) publish();
    if (!good) [[unlikely]] {
      from->frame_sink().on_broken(errc::protocol_error);
      return frames + 1;
    }
  }
  return frames;
}

void qdma_transport::publish() noexcept {
  vain_ = 0;
  reader_.publish();
  for (pair* p : staged_) {
    p->listed_staged = false;
    p->publish();
  }
  staged_.clear();
  notify_writable();
}

void qdma_transport::notify_writable() noexcept {
  reader_.notify_writable([this](std::uint32_t index) {
    pair* const p = senders_.at(index);
    if (!p) return;
    p->peer_doorbell().ring_if_asleep();
    p->peer_doorbell().ring_if_computing();
  });
}

unsigned qdma_transport::poll() noexcept {
  ++passes_;
  unsigned events = 0;
  if (ends_.passes_report()) [[unlikely]] {
    ends_.post_late();
    events += ends_.take();
  }
  events += take_frames();
  // Also past slots that hold no message any more.
  if (ends_.passes_report()) [[unlikely]]
    events += ends_.seen(reader_.head());
  if (events != 0)
    vain_ = 0;
  else if ((reader_.unpublished() != 0 || !staged_.empty()) && ++vain_ > vain_until_publish)
    publish();
  if (!blocked_.empty()) [[unlikely]]
    events += blocked_.poll();
  if (busy) {
    events += copies_.run();
    ends_.wake_thread();
    busy = !copies_.empty() || ends_.passes_report();
  }
  if (passes_ % passes_until_care == 0) [[unlikely]] {
    reader_.look_after(senders_, queue_reader::clock::now());
    if (!held_.empty()) retire_held();
  }
  return events;
}

bool qdma_transport::has_work() noexcept {
  if (!copies_.empty() || ends_.passes_report() || reader_.peek() || reader_.held_up()) return true;
  if (reader_.unpublished() != 0 || !staged_.empty()) publish();
  return blocked_.any_writable();
}

bool qdma_transport::begin(const transfer& t) noexcept {
  if (!copies_.add(t)) return false;
  busy = true;
  engine_.look_after();  // another thread begins it, while the thread that makes passes sleeps or
                         // computes
  return true;
}

std::uint64_t qdma_transport::bells_rung() const noexcept {
  std::uint64_t all = 0;
  for (const auto& [peer, p] : pairs_) all += p->bells_rung();
  return all;
}

/// Room that was made for a peer counts as unconsumed, too.
bool qdma_transport::has_unconsumed() const noexcept {
  return !unconsumed_.empty() || reader_.is_wished();
}

void qdma_transport::wake_peer() noexcept {
  if (reader_.is_wished()) notify_writable();
  for (std::size_t i = 0; i < unconsumed_.size();) {
    if (unconsumed_[i]->unconsumed()) {
      unconsumed_[i++]->wake_peer();
    } else {
      unconsumed_[i]->all_seen();
      unconsumed_[i] = unconsumed_.back();
      unconsumed_.pop_back();
    }
  }
}

}  // namespace weft::transports::qdma
