// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/transport.hpp"

#include <algorithm>

namespace weft::transports::shm {

namespace {

template <class T>
void drop(std::vector<T*>& from, T* what) noexcept {
  from.erase(std::remove(from.begin(), from.end(), what), from.end());
}

}  // namespace

shm_transport::shm_transport(runtime::doorbell& door, large_way way, std::uint64_t probe_value,
                             runtime::engine* looks_after)
    : door_(door), looks_after_(looks_after), way_(way), probe_word_(probe_value) {}

shm_transport::~shm_transport() = default;

const transports::traits& shm_transport::traits() const noexcept {
  static constexpr transports::traits shm{
      .name = "shm", .max_payload = shm::max_payload, .fragment = 16 * 1024, .shares_memory = true};
  return shm;
}

std::string shm_transport::reach(bool is_self) const {
  return is_self ? "a process reaches itself by `self`" : "";
}

void shm_transport::add_door(parcel& p) const {
  p.fds.push_back(runtime::duplicate(door_.page_fd()));
}

pair& shm_transport::pair_of(inlet& peer, const counterpart& who) {
  auto known = pairs_.find(&peer);
  if (known == pairs_.end())
    known = pairs_.emplace(&peer, std::make_unique<pair>(*this, peer, who)).first;
  return *known->second;
}

std::unique_ptr<link> shm_transport::open(inlet& from, const counterpart& who, parcel& offer) {
  unseen_.reserve(pairs_.size() + 1);
  waiting_.reserve(pairs_.size() + 1);
  return pair_of(from, who).open(offer);
}

std::string shm_transport::accept(inlet& to, const counterpart& who, parcel offer, parcel& answer) {
  pair& p = pair_of(to, who);
  // It will move between the two inside poll, where nothing may throw.
  hot_.reserve(pairs_.size());
  quiet_.reserve(pairs_.size());
  std::string refusal = p.accept(std::move(offer), answer);
  if (refusal.empty()) {
    p.hot = true;
    hot_.push_back(&p);
  }
  return refusal;
}

void shm_transport::note(inlet& from, parcel p) {
  if (const auto it = pairs_.find(&from); it != pairs_.end()) it->second->note(std::move(p));
}

void shm_transport::forget(inlet& from) noexcept {
  const auto it = pairs_.find(&from);
  if (it == pairs_.end()) return;
  pair& p = *it->second;
  // What the peer wrote before it went is still delivered: a ring full, however long it goes on.
  if (port* in = p.incoming())
    for (unsigned left = slot_count / frames_per_pass; left != 0 && !in->broken(); --left)
      if (in->poll(frames_per_pass) == 0) break;
  copies_.end_all_of(p);
  drop(hot_, &p);
  drop(quiet_, &p);
  next_quiet_ = 0;
  p.lose_incoming();
  if (!p.outgoing()) pairs_.erase(it);
}

void shm_transport::link_ended(ring_link& l) noexcept {
  drop(waiting_, &l);
  drop(unseen_, &l);
  pair& p = l.owner();
  copies_.end_all_of(p);
  p.lose_outgoing();
  if (!p.incoming()) pairs_.erase(&p.peer());
}

std::string shm_transport::describe() const {
  const char* ways[] = {"auto", "pipeline", "cma", "direct"};
  return std::string("shm (large messages: ") + ways[static_cast<int>(way_)] + ")";
}

std::string shm_transport::describe(const inlet& peer) const {
  const auto it = pairs_.find(&peer);
  return it == pairs_.end() ? "shm" : "shm, " + it->second->describe();
}

void shm_transport::report_broken(pair& p) noexcept {
  drop(hot_, &p);
  drop(quiet_, &p);
  p.hot = false;
  next_quiet_ = 0;
  p.peer().on_broken(errc::protocol_error);
}

void shm_transport::cool(std::size_t index) noexcept {
  pair* p = hot_[index];
  p->hot = false;
  quiet_.push_back(p);
  hot_[index] = hot_.back();
  hot_.pop_back();
}

unsigned shm_transport::poll_quiet() noexcept {
  if (++next_quiet_ >= quiet_.size()) next_quiet_ = 0;
  pair& p = *quiet_[next_quiet_];
  if (!p.incoming()->ready()) return 0;
  quiet_[next_quiet_] = quiet_.back();
  quiet_.pop_back();
  p.hot = true;
  p.vain_looks = 0;
  hot_.push_back(&p);
  return 1;
}

unsigned shm_transport::poll_waiting() noexcept {
  unsigned events = 0;
  for (std::size_t i = 0; i < waiting_.size();) {
    ring_link& l = *waiting_[i];
    if (!l.has_room_again()) {
      ++i;
      continue;
    }
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
    ++events;
    inlet& peer = l.owner().peer();
    if (l.broken())
      peer.on_broken(errc::protocol_error);
    else
      peer.on_room();
  }
  return events;
}

unsigned shm_transport::poll() noexcept {
  return pass([](pair& p) noexcept { return p.incoming()->poll(frames_per_pass); });
}

bool shm_transport::begin(const transfer& t) noexcept {
  if (!copies_.add(t)) return false;
  busy = true;
  if (looks_after_) looks_after_->look_after();
  return true;
}

void shm_transport::free_region(std::span<std::byte> memory) noexcept {
  const std::uint64_t place = regions_.free(memory);
  for (const auto& [peer, p] : pairs_) p->hide(place);
}

bool shm_transport::has_work() noexcept {
  if (busy) return true;
  for (const auto* list : {&hot_, &quiet_})
    for (pair* p : *list) {
      if (p->incoming()->ready()) {
        if (!p->hot) {  // do not make it wait for its turn
          drop(quiet_, p);
          p->hot = true;
          hot_.push_back(p);
        }
        return true;
      }
      p->incoming()->publish_rest();
    }
  for (ring_link* l : waiting_)
    if (l->would_have_room()) return true;
  return false;
}

std::uint64_t shm_transport::bells_rung() const noexcept {
  std::uint64_t all = 0;
  for (const auto& [peer, p] : pairs_) all += p->bells_rung();
  return all;
}

/// Room that was made for a peer is something to be seen, too. Who has just filled a ring is hot.
bool shm_transport::has_unseen() const noexcept {
  return !unseen_.empty() || std::any_of(hot_.begin(), hot_.end(),
                                         [](pair* p) { return p->incoming()->room_wanted(); });
}

void shm_transport::nudge() noexcept {
  for (pair* p : hot_) p->incoming()->tell_of_room();
  for (std::size_t i = 0; i < unseen_.size();) {
    if (unseen_[i]->unseen()) {
      unseen_[i++]->nudge();
    } else {
      unseen_[i]->all_seen();
      unseen_[i] = unseen_.back();
      unseen_.pop_back();
    }
  }
}

}  // namespace weft::transports::shm
