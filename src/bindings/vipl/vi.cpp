// SPDX-License-Identifier: Apache-2.0
// A VI's life and the states of its connection.
#include "bindings/vipl/vi.hpp"

#include <optional>
#include <utility>

namespace weft::vipl {

// --- landing places -----------------------------------------------------------------------------

void landing_place::show(nic& of, VIP_MEM_HANDLE handle, std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (ended_ || regions_.contains(handle)) return;
  const region_name name{region_key(secret, access::landing, 0, handle),
                         reinterpret_cast<std::uintptr_t>(bytes.data())};
  regions_.emplace(handle, region(of.context(), bytes, rights::write, name));
}

void landing_place::forget(VIP_MEM_HANDLE handle) {
  std::unique_lock lock(mutex_);
  const auto ends = regions_.extract(handle);
  lock.unlock();
}

void landing_place::end() {
  std::map<VIP_MEM_HANDLE, region> all;
  const std::lock_guard lock(mutex_);  // a second caller waits for the end
  ended_ = true;
  all.swap(regions_);
  all.clear();
}

// --- life ---------------------------------------------------------------------------------------

vi::vi(nic& of, const VIP_VI_ATTRIBUTES& a, completion_queue* send_queue,
       completion_queue* receive_queue)
    : object(its_kind), owner(of), attributes(a) {
  sends.queue = send_queue;
  receives.queue = receive_queue;
  renew_landing_place();
}

vi::~vi() {
  {
    const nic::locked lock(owner);
    owner.remove(*this);
    for (completed* c : {&sends, &receives}) {
      if (!c->queue) continue;
      c->queue->forget(*this);
      --c->queue->users;
    }
    --object::at<protection_tag>(attributes.Ptag)->users;
  }
  if (!sends.notified.empty()) owner.its_service().attend(-static_cast<int>(sends.notified.size()));
  if (!receives.notified.empty())
    owner.its_service().attend(-static_cast<int>(receives.notified.size()));
}

void vi::renew_landing_place() {
  landing_ = std::make_shared<landing_place>(
      scramble(owner.secret() ^ scramble(reinterpret_cast<std::uintptr_t>(this) + ++connections_)));
  shown_.clear();
}

std::uint32_t vi::tag() const noexcept {
  return object::at<protection_tag>(attributes.Ptag)->number;
}

// --- connections --------------------------------------------------------------------------------

introduction vi::introduce() const noexcept {
  introduction i{};
  i.magic = wire_magic;
  i.vi = number;
  i.epoch = epoch_;
  i.reliability = attributes.ReliabilityLevel;
  i.rdma_write = attributes.EnableRdmaWrite ? 1 : 0;
  i.rdma_read = attributes.EnableRdmaRead ? 1 : 0;
  i.tag = tag();
  i.max_transfer = attributes.MaxTransferSize;
  i.secret = owner.secret();
  i.landing = landing_->secret;
  return i;
}

void vi::begin_connecting(side s) noexcept {
  side_ = s;
  state = VIP_STATE_CONNECT_PENDING;
  epoch_ = owner.next_epoch();
  heard = answer::none;
  peer_id_ = no_peer;
  arrived_ = taken_ = told_ = next_label_ = confirmed_ = dropped_there_ = 0;
  peer_places_ = asked_ = tells_drop_ = answered_ = false;
  known_.clear();
}

void vi::stop_connecting() noexcept {
  state = VIP_STATE_IDLE;
  epoch_ = owner.next_epoch();
  peer_ = {};
  peer_id_ = no_peer;
}

void vi::set_peer(const endpoint& to, const introduction& who) {
  peer_ = to;
  peer_id_ = to.id();
  remote = who;
  owner.watch(to);
}

bool vi::expect_answer_of(const endpoint& to) {
  owner.watch(to);
  if (peer_id_ == no_peer) peer_id_ = to.id();
  return peer_id_ == to.id();
}

void vi::say(message what, std::span<const std::byte> body) {
  owner.send_now(peer_, header_of(what), body);
}

header vi::header_of(message what) const noexcept {
  return {remote.vi, remote.epoch, what, 0, 0, 0};
}

void vi::connection_lost() noexcept {
  if (state == VIP_STATE_CONNECT_PENDING) {
    heard = answer::no;
    owner.note_event();
  }
  fail(VIP_ERROR_CONN_LOST, nullptr, false);
}

void vi::fail(VIP_ERROR_CODE code, VIP_DESCRIPTOR* d, bool tell) noexcept {
  if (state != VIP_STATE_CONNECTED) return;
  state = VIP_STATE_ERROR;
  try {
    if (tell && peer_) owner.send_soon(peer_, header_of(message::broken));
    owner.raise({owner.handle(), handle(), nullptr, d, d ? d->CS.Control : VIP_ULONG{0},
                 d ? VIP_RESOURCE_DESCRIPTOR : VIP_RESOURCE_VI, code});
    if (!shown_.empty()) {
      // The peer may be placing bytes: buffers are given back after that.
      owner.run_soon([&of = owner, its = number, place = landing_] {
        place->end();
        const nic::locked lock(of);
        vi* const v = of.find(its);
        if (v && v->landing_ == place && v->state == VIP_STATE_ERROR) v->flush_receives();
      });
    } else {
      flush_receives();
    }
  } catch (const std::exception&) {
    // No memory: the receives are flushed by the disconnect.
  }
  abandon(VIP_STATUS_TRANSPORT_ERROR);
  advance();
  owner.note_event();
}

void vi::disconnect() {
  {
    const nic::locked lock(owner);
    if (attempt) attempt->thread.request_stop();
    if (state == VIP_STATE_CONNECT_PENDING) heard = answer::no;
    owner.note_event();
    if (state == VIP_STATE_CONNECTED) {
      state = VIP_STATE_ERROR;
      say(message::left);
      abandon(VIP_STATUS_DESC_FLUSHED_ERROR);
      advance();
    }
  }
  std::optional<peer_attempt> over;
  owner.wait(time_point::max(), [&] {
    if (attempt && !attempt->over) return false;
    over = take_attempt();
    return true;
  });
  over.reset();  // joins its thread
  std::shared_ptr<landing_place> landing;
  {
    const nic::locked lock(owner);
    landing = landing_;
  }
  landing->end();
  owner.wait(time_point::max(), [this] { return !in_flight(); });
  const nic::locked lock(owner);
  if (state == VIP_STATE_IDLE)
    return flush_receives();  // posted before a connection that never came
  state = VIP_STATE_ERROR;
  advance();
  flush_receives();
  renew_landing_place();
  stop_connecting();
  owner.note_event();
}

std::optional<peer_attempt> vi::take_attempt() noexcept {
  return std::exchange(attempt, std::nullopt);
}

bool vi::in_flight() const noexcept {
  for (const work* w : works_)
    if (w->now == work::stage::moving || w->now == work::stage::committing) return true;
  return false;
}

}  // namespace weft::vipl
