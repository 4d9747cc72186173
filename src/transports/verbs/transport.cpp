// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/transport.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/os/errno_hint.hpp"
#include "transports/verbs/work.hpp"

namespace weft::transports::verbs {

namespace {

constexpr std::uint32_t slots_to_send = 256;
// Completions that one pass takes, so that other transports have their turn.
constexpr std::size_t completions_per_pass = 64;
constexpr std::chrono::milliseconds tick_time{250};

constexpr const char* port_is_down = "its port is down";

template <class T>
void drop(std::vector<T*>& from, T* what) noexcept {
  from.erase(std::remove(from.begin(), from.end(), what), from.end());
}

}  // namespace

verbs_transport::verbs_transport(services& e, settings s, std::unique_ptr<verbs::device> d)
    : engine_(e),
      settings_(std::move(s)),
      device_(std::move(d)),
      regions_(*device_),
      cache_(regions_, settings_.regions),
      descriptors_(runtime::make_epoll_wait_set()),
      clock_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      completions_(*device_) {
  if (!clock_)
    throw error(errc::system, fmt::format("timerfd_create failed: {}; {}", std::strerror(errno),
                                          runtime::errno_hint(errno)));
  watch(on_channel_, device_->channel(), &verbs_transport::on_channel);
  watch(on_event_, device_->events(), &verbs_transport::on_device_event);
  watch(on_clock_, clock_.get(), &verbs_transport::on_tick);
  watch(on_bell_, bell_.fd(), &verbs_transport::on_bell);
  worth_polling = false;
}

verbs_transport::~verbs_transport() {
  pairs_.clear();
  for (const int fd : {device_->channel(), device_->events(), clock_.get(), bell_.fd()})
    descriptors_->remove(fd);
}

void verbs_transport::watch(watcher& w, int fd, void (verbs_transport::*what)() noexcept) {
  w.in = this;
  w.what = what;
  descriptors_->add(fd, EPOLLIN, w);
}

const transports::traits& verbs_transport::traits() const noexcept {
  static constexpr transports::traits verbs{
      .name = "verbs", .max_payload = max_payload, .fragment = max_payload, .fails_in_order = true};
  return verbs;
}

std::string verbs_transport::reach(bool is_self) const {
  return is_self ? "a process reaches itself by `self`" : "";
}

// --- peers ---------------------------------------------------------------------------------------

void verbs_transport::make_memory() {
  if (receives_) return;
  auto pool = std::make_unique<slots>(*device_, slots_to_send);
  auto receiving = std::make_unique<receives>(*device_, sizes{}.receives);
  if (!receiving->post_free())
    throw error(errc::system, "the device takes no receives: " + device_->describe());
  pool_ = std::move(pool);
  receives_ = std::move(receiving);
}

inbox verbs_transport::make_inbox() { return has_inboxes() ? inbox(*device_) : inbox(); }

pair& verbs_transport::pair_of(frame_sink& peer, const counterpart& who) {
  if (const auto known = pairs_.find(&peer); known != pairs_.end()) return *known->second;
  if (port_given_up()) throw error(errc::unreachable, port_is_down);
  make_memory();
  // Every pair can be put into the lists where nothing may throw.
  waiting_.reserve(pairs_.size() + 1);
  owing_.reserve(pairs_.size() + 1);
  auto made = std::make_unique<pair>(*this, peer, who, next_number_++);
  pair& p = *made;
  pairs_.emplace(&peer, std::move(made));
  worth_watching = worth_polling = true;
  if (down_since_) want_ticks();
  engine_.look_after();  // a sleeping thread does not watch this transport yet
  return p;
}

std::unique_ptr<link> verbs_transport::open(frame_sink& from, const counterpart& who,
                                            wireup_message& offer) {
  pair& p = pair_of(from, who);
  try {
    return p.open(offer);
  } catch (...) {
    forget_if_idle(p);
    throw;
  }
}

std::string verbs_transport::accept(frame_sink& to, const counterpart& who, wireup_message offer,
                                    wireup_message& answer) {
  pair& p = pair_of(to, who);
  std::string refusal = p.accept(offer, answer);
  if (!refusal.empty()) forget_if_idle(p);
  return refusal;
}

bool verbs_transport::drain_peer(frame_sink& from) noexcept {
  const auto it = pairs_.find(&from);
  return it == pairs_.end() || it->second->drain_peer();
}

void verbs_transport::forget(frame_sink& from) noexcept {
  const auto it = pairs_.find(&from);
  if (it == pairs_.end()) return;
  it->second->forget();
  forget_if_idle(*it->second);
}

void verbs_transport::note(frame_sink& from, wireup_message) {
  if (const auto it = pairs_.find(&from); it != pairs_.end()) it->second->hung_up();
}

void verbs_transport::forget_if_idle(pair& p) noexcept {
  if (!p.idle()) return;
  p.shut();
  drop(waiting_, &p);
  drop(owing_, &p);
  pairs_.erase(&p.frame_sink());
  worth_watching = !pairs_.empty();
}

void verbs_transport::wants_room(pair& p) noexcept {
  if (!std::exchange(p.waits_for_room, true)) waiting_.push_back(&p);
}

void verbs_transport::owes(pair& p) noexcept {
  if (!std::exchange(p.owes, true)) owing_.push_back(&p);
}

void verbs_transport::complain(const std::string& what) noexcept {
  if (std::exchange(complained_, true)) return;
  engine_.report(log_level::warning,
                 fmt::format("a connection over {} broke: {}", device_->describe(), what));
}

std::string verbs_transport::describe() const {
  const std::string& frames = regions_.trouble();
  return fmt::format("verbs ({}; {} s of silence end a connection{}{}{})", device_->describe(),
                     settings_.peer_timeout.count(),
                     has_inboxes() ? "; peers write their frames" : "",
                     frames.empty() ? "" : "; some long messages are copied, since ", frames);
}

std::string verbs_transport::describe(const frame_sink& peer) const {
  const auto it = pairs_.find(&peer);
  return it == pairs_.end() ? "verbs" : "verbs, " + it->second->describe();
}

// --- completions ---------------------------------------------------------------------------------

/// A write with immediate data uses up a receive, and nothing is in that. Where the peer has
/// written is not known: if elsewhere, the frame makes no sense, or is an older one of its own.
/// \return empty: no frame, which a pair refuses
std::span<const std::byte> verbs_transport::frame_of(const completion& c) const noexcept {
  const bool written = c.what.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  const std::byte* const at =
      written ? c.of->written() : receives_->at(work_id::of(c.what.wr_id).number());
  const bool is_frame = at && (c.what.wc_flags & IBV_WC_WITH_IMM) != 0;
  // A device receives no more than a receive has place for, but a peer may write more.
  if (!is_frame || c.what.byte_len > slot_bytes) return {};
  return {at, c.what.byte_len};
}

void verbs_transport::take(const completion& c) noexcept {
  const work_id id = work_id::of(c.what.wr_id);
  const bool well = c.what.status == IBV_WC_SUCCESS;
  if (!id.is_receive()) {
    if (!c.of) return;
    if (well)
      c.of->sent(id.number());
    else
      c.of->failed(id.number(), ibv_wc_status_str(c.what.status));
    return;
  }
  // Whatever status a receive has, its memory belongs to this side again.
  if (c.of && well) c.of->received(frame_of(c), ntohl(c.what.imm_data));
  receives_->release(id.number());
}

bool verbs_transport::look_for(pair& p, bool deliver) noexcept {
  completions_.fetch();
  bool any = false;
  while (const auto c = completions_.next_of(p, !deliver)) {
    take(*c);
    any = true;
  }
  receives_->refill();
  if (completions_.any()) worth_polling = true;
  return any;
}

unsigned verbs_transport::take_some() noexcept {
  unsigned events = 0;
  // The device is polled once: polling until it has no more would delay the fetched completions.
  if (!completions_.any() && !completions_.fetch()) return 0;
  for (; completions_.any() && events != completions_per_pass; ++events) take(completions_.next());
  return events;
}

/// After completions: posts receives again, tells peers what was read, and tells waiting links that
/// there is room.
void verbs_transport::settle() noexcept {
  receives_->refill();
  std::erase_if(owing_, [](pair* p) {
    if (!p->pay()) return false;
    p->owes = false;
    return true;
  });
  for (std::size_t left = waiting_.size(); left != 0; --left) {
    pair* const p = waiting_.front();
    waiting_.erase(waiting_.begin());
    p->waits_for_room = false;
    if (!p->notify_writable()) wants_room(*p);
  }
}

unsigned verbs_transport::poll() noexcept {
  unsigned events = 0;
  if (std::exchange(ready_, false)) events += descriptors_->poll();
  if (receives_) {
    const unsigned completed = take_some();
    if (completed != 0 || !owing_.empty()) settle();
    events += completed;
  }
  worth_polling = ready_ || !pairs_.empty() || completions_.any();
  return events;
}

bool verbs_transport::has_work() noexcept { return ready_ || (receives_ && completions_.fetch()); }

// --- sleeping ------------------------------------------------------------------------------------

void verbs_transport::on_ready() noexcept { ready_ = worth_polling = true; }

/// Completions from before the channel was armed are looked for afterwards, and ring the bell.
void verbs_transport::arm() noexcept {
  if (!armed_) armed_ = device_->arm();
  if (!armed_ || completions_.fetch()) bell_.ring();
}

void verbs_transport::on_channel() noexcept {
  device_->drain_channel();
  armed_ = false;
}

void verbs_transport::on_device_event() noexcept {
  try {
    while (const auto event = device_->next_event()) {
      if (event->port) on_port();
      for (const auto& [peer, p] : pairs_)
        if (event->fatal || event->on == p->queue_pair_number()) p->broke(event->what);
    }
  } catch (const std::bad_alloc&) {
    // No memory: a later post on a broken connection finds it broken.
  }
}

/// A device may wait without limit for the answer to what it sent before its port went down.
void verbs_transport::on_port() noexcept {
  if (device_->port_is_up()) return down_since_.reset();
  if (!down_since_) down_since_ = std::chrono::steady_clock::now();
  want_ticks();
}

/// Queries the port: the event of its return may not have been read yet.
bool verbs_transport::port_given_up() noexcept {
  if (down_since_ && device_->port_is_up()) down_since_.reset();
  return down_since_ && std::chrono::steady_clock::now() - *down_since_ > settings_.peer_timeout;
}

void verbs_transport::want_ticks() noexcept {
  if (ticking_) return;
  itimerspec when{};
  when.it_value.tv_nsec = std::chrono::nanoseconds(tick_time).count();
  ticking_ = ::timerfd_settime(clock_.get(), 0, &when, nullptr) == 0;
}

void verbs_transport::on_tick() noexcept {
  std::uint64_t times = 0;
  if (::read(clock_.get(), &times, sizeof times) != sizeof times) return;
  ticking_ = false;
  bool again = false;
  const auto now = std::chrono::steady_clock::now();
  const bool given_up = port_given_up();
  for (const auto& [peer, p] : pairs_) {
    if (given_up) p->give_up(port_is_down);
    again = p->tick(now) || again;
  }
  if (again || (down_since_ && !pairs_.empty())) want_ticks();
}

std::string verbs_transport::explain_frames(std::size_t size) const {
  if (size > traits().max_payload) return {};
  return "header and payload are one send, which the device takes from the caller's cache line if "
         "they are short, else from memory that it knows";
}

std::vector<explained_way> verbs_transport::explain_rest(const rest_question& q) const {
  if (q.wanted != rendezvous_scheme::automatic) return {};
  if (q.size < transfers::least)
    return {{{},
             "by the RDMA device, in frames",
             "copying it costs less than registering so little memory"}};
  return {{{},
           "written by the sender's RDMA device into the receiver's memory; in frames where memory "
           "cannot be registered, or a receive is of several pieces",
           "no processor copies it, and the news of its end goes right behind it"}};
}

}  // namespace weft::transports::verbs
