// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/transport.hpp"

#include <algorithm>
#include <string>

namespace weft::transports::shm {

namespace {

template <class T>
void drop(std::vector<T*>& from, T* what) noexcept {
  from.erase(std::remove(from.begin(), from.end(), what), from.end());
}

}  // namespace

shm_transport::shm_transport(runtime::doorbell& own_bell, copy_method way,
                             std::uint64_t probe_value, services* looks_after,
                             std::size_t streamed_from)
    : doorbell_(own_bell),
      looks_after_(looks_after),
      way_(way),
      streamed_from_(streamed_from),
      probe_word_(probe_value) {}

shm_transport::~shm_transport() = default;

const transports::traits& shm_transport::traits() const noexcept {
  static constexpr transports::traits shm{.name = "shm",
                                          .max_payload = shm::max_payload,
                                          .fragment = 16 * 1024,
                                          .eager_limit = std::size_t{48} << 10,
                                          .shares_memory = true,
                                          .measures_payloads = true};
  return shm;
}

std::string shm_transport::reach(bool is_self) const {
  return is_self ? "a process reaches itself by `self`" : "";
}

void shm_transport::add_listener(wireup_message& p) const {
  p.fds.push_back(runtime::duplicate(doorbell_.page_fd()));
}

pair& shm_transport::pair_of(frame_sink& peer, const counterpart& who) {
  auto known = pairs_.find(&peer);
  if (known == pairs_.end())
    known = pairs_.emplace(&peer, std::make_unique<pair>(*this, peer, who)).first;
  return *known->second;
}

std::unique_ptr<link> shm_transport::open(frame_sink& from, const counterpart& who,
                                          wireup_message& offer) {
  unconsumed_.reserve(pairs_.size() + 1);
  blocked_.reserve(pairs_.size() + 1);
  return pair_of(from, who).open(offer);
}

std::string shm_transport::accept(frame_sink& to, const counterpart& who, wireup_message offer,
                                  wireup_message& answer) {
  pair& p = pair_of(to, who);
  // The pair moves between the two lists inside poll, where nothing may throw.
  active_.reserve(pairs_.size());
  idle_.reserve(pairs_.size());
  std::string refusal = p.accept(std::move(offer), answer);
  if (refusal.empty()) {
    p.active = true;
    active_.push_back(&p);
  }
  return refusal;
}

void shm_transport::note(frame_sink& from, wireup_message p) {
  if (const auto it = pairs_.find(&from); it != pairs_.end()) it->second->note(std::move(p));
}

void shm_transport::forget(frame_sink& from) noexcept {
  const auto it = pairs_.find(&from);
  if (it == pairs_.end()) return;
  pair& p = *it->second;
  // What the peer wrote before it died is still delivered: one ring full at most, however much more
  // the peer writes.
  if (ring_receiver* in = p.incoming())
    for (unsigned left = slot_count / frames_per_pass; left != 0 && !in->broken(); --left)
      if (in->poll(frames_per_pass) == 0) break;
  copies_.end_all_of(p);
  stop_polling(p);
  p.lose_incoming();
  if (!p.outgoing()) pairs_.erase(it);
}

void shm_transport::link_ended(ring_link& l) noexcept {
  blocked_.remove(l);
  drop(unconsumed_, &l);
  drop(exposing_, &l);
  pair& p = l.owner();
  copies_.end_all_of(p);
  p.lose_outgoing();
  if (!p.incoming()) pairs_.erase(&p.frame_sink());
}

std::string shm_transport::describe() const {
  const char* ways[] = {"auto", "pipeline", "cma", "direct"};
  const bool streams = streamed_from_ != never_streamed;
  return std::string("shm (large messages: ") + ways[static_cast<int>(way_)] +
         (streams ? ", streaming stores from " + std::to_string(streamed_from_) + " bytes)" : ")");
}

std::string shm_transport::describe(const frame_sink& peer) const {
  const auto it = pairs_.find(&peer);
  return it == pairs_.end() ? "shm" : "shm, " + it->second->describe();
}

void shm_transport::report_broken(pair& p) noexcept {
  stop_polling(p);
  p.frame_sink().on_broken(errc::protocol_error);
}

void shm_transport::stop_polling(pair& p) noexcept {
  p.active = false;
  drop(active_, &p);
  std::erase_if(idle_, [&](const idle_ring& r) { return r.of == &p; });
}

void shm_transport::deactivate(std::size_t index) noexcept {
  pair* p = active_[index];
  p->active = false;
  idle_.push_back({p->incoming()->next(), p});
  active_[index] = active_.back();
  active_.pop_back();
}

void shm_transport::activate(std::size_t idle_index) noexcept {
  pair* p = idle_[idle_index].of;
  idle_[idle_index] = idle_.back();
  idle_.pop_back();
  p->active = true;
  p->empty_polls = 0;
  active_.push_back(p);
}

unsigned shm_transport::poll_idle() noexcept {
  if (++next_idle_ >= idle_.size()) next_idle_ = 0;
  if (!idle_[next_idle_].next.is_there()) return 0;
  activate(next_idle_);
  return 1;
}

unsigned shm_transport::poll() noexcept {
  return pass([](pair& p) noexcept { return p.incoming()->poll(frames_per_pass); });
}

/// A chunk for each peer that copies out of this process's memory.
unsigned shm_transport::write_for_peers() noexcept {
  unsigned written = 0;
  for (ring_link* l : exposing_) written += l->help();
  chunks_written_ += written;
  return written;
}

void shm_transport::exposes_nothing(ring_link& l) noexcept { drop(exposing_, &l); }

bool shm_transport::in_pass() const noexcept { return !looks_after_ || looks_after_->in_pass(); }

bool shm_transport::begin(const transfer& t) noexcept {
  if (!copies_.add(t)) return false;
  busy = true;
  if (looks_after_) looks_after_->look_after();
  return true;
}

/// Here and at the peers.
void shm_transport::deallocate(std::span<std::byte> memory) noexcept {
  const std::uint64_t place = regions_.free(memory);
  for (const auto& [peer, p] : pairs_) p->hide(place);
}

bool shm_transport::has_work() noexcept {
  if (busy) return true;
  for (pair* p : active_) {
    if (p->incoming()->ready()) return true;
    p->incoming()->publish_rest();
  }
  for (std::size_t i = 0; i != idle_.size(); ++i)
    if (idle_[i].next.is_there()) {
      activate(i);  // do not make it wait for its turn
      return true;
    }
  if (std::any_of(exposing_.begin(), exposing_.end(), [](ring_link* l) { return l->can_help(); }))
    return true;
  return blocked_.any_writable();
}

std::uint64_t shm_transport::bells_rung() const noexcept {
  std::uint64_t all = 0;
  for (const auto& [peer, p] : pairs_) all += p->bells_rung();
  return all;
}

/// Room that was made for a peer counts as unconsumed, too. A ring that its sender has just filled
/// is active.
bool shm_transport::has_unconsumed() const noexcept {
  return !unconsumed_.empty() || std::any_of(active_.begin(), active_.end(),
                                             [](pair* p) { return p->incoming()->room_wanted(); });
}

void shm_transport::wake_peer() noexcept {
  for (pair* p : active_) p->incoming()->notify_writable();
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

}  // namespace weft::transports::shm
