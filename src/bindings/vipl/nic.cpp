// SPDX-License-Identifier: Apache-2.0
// A NIC's life, its threads, and the messages between NICs. Its calls are in nic_calls.cpp.
#include "bindings/vipl/nic.hpp"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "bindings/vipl/host_names.hpp"
#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

namespace {

/// Tags of messages that are never sent.
constexpr tag watch_tag{0x5649504c00000001};
constexpr tag wake_tag{0x5649504c00000002};

options options_of_nic() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

std::uint64_t draw_secret() {
  std::uint64_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret)
    throw error(errc::system, "getrandom gave no bytes for the keys of registered memory");
  return secret;
}

}  // namespace

time_point deadline_of(VIP_ULONG timeout) noexcept {
  if (timeout >= VIP_INFINITE) return time_point::max();
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
}

/// A message on its way, in memory of its own.
class nic::outgoing final {
 public:
  outgoing(const endpoint& to, const header& h, std::span<const std::byte> body)
      : bytes_(sizeof h + body.size()) {
    std::memcpy(bytes_.data(), &h, sizeof h);
    if (!body.empty()) std::memcpy(bytes_.data() + sizeof h, body.data(), body.size());
    sends_.emplace(*this, to.post_bytes(am{handler_number}, bytes_));
  }
  /// Frees itself when it has left.
  void start() noexcept {
    if (sends_->start_held()) delete this;
  }

 private:
  struct sending final : detail::send_operation {
    sending(outgoing& o, const detail::send_request& r) noexcept
        : send_operation(r, [](operation& op) noexcept { delete &static_cast<sending&>(op).of; }),
          of(o) {}
    outgoing& of;
  };
  std::vector<std::byte> bytes_;
  std::optional<sending> sends_;
};

/// A peer with which VIs were connected. Its receive ends when the peer does.
struct nic::remote_nic final : detail::recv_operation {
  remote_nic(nic& n, const endpoint& to)
      : recv_operation(to.recv(mutable_buffer{}, watch_tag),
                       [](operation& op) noexcept {
                         auto& self = static_cast<remote_nic&>(op);
                         self.owner.lost(self.peer.id());
                       }),
        owner(n),
        peer(to) {}
  nic& owner;
  const endpoint peer;
};

nic::nic(std::string name)
    : object(its_kind),
      name_(std::move(name)),
      address_(address_of_this_host()),
      secret_(draw_secret()),
      context_(std::in_place, options_of_nic()),
      loop_(*context_) {
  inbound_ =
      context_->on_inline(am{handler_number}, [this](const inline_call& c) { on_message(c); });
  service_.emplace([this] { wait(time_point::max(), [this] { return service_->wanted(); }); });
}

nic::~nic() {
  {
    const locked lock(*this);
    error_handler_ = nullptr;
  }
  while (!vis_.empty()) {
    vi* last = nullptr;
    {
      const locked lock(*this);
      while (!vis_.empty() && !vis_.back()) vis_.pop_back();
      if (!vis_.empty()) last = vis_.back();
    }
    if (!last) break;
    last->disconnect();
    delete last;
  }
  service_.reset();
  listeners_.clear();
  inbound_ = {};
  memory.release_regions();
}

// --- locked -------------------------------------------------------------------------------------

nic::locked::~locked() {
  nic_.do_now();
  const bool tell = nic_.leads_ && nic_.events_ != before_;
  hold_.reset();
  if (tell) nic_.wake_leader();
}

void nic::note_event() noexcept {
  ++events_;
  if (followers_.load() == 0) return;
  const std::lock_guard lock(turn_);
  ++generation_;
  turned_.notify_all();
}

/// The thread that holds the lock does it before it releases the lock; where that is a thread of
/// weft, the service does.
void nic::do_later() noexcept {
  if (!leads_ && !polls_) service_->add([this] { const locked lock(*this); });
}

void nic::send_soon(const endpoint& to, const header& h) noexcept {
  if (!to_send_.empty() && h.what == message::arrived) {
    header& last = to_send_.back().what;  // confirms earlier messages as well
    if (last.what == h.what && last.vi == h.vi && last.epoch == h.epoch) {
      last.length = h.length;
      return;
    }
  }
  to_send_.push_back({to, h});
  do_later();
}

void nic::settle_soon(const vi& v) noexcept {
  to_settle_.push_back(v.number);
  do_later();
}

void nic::do_now() noexcept {
  if (to_send_.empty() && to_settle_.empty()) return;
  std::vector<waiting_message> messages;
  messages.swap(to_send_);
  for (const waiting_message& m : messages) try {
      send_now(m.to, m.what);
    } catch (const std::exception&) {
      // No memory: the peer learns of it when the context ends.
    }
  std::vector<std::uint32_t> vis;
  vis.swap(to_settle_);
  for (const std::uint32_t number : vis)
    if (vi* const v = find(number)) v->settle();
}

void nic::send_now(const endpoint& to, const header& h, std::span<const std::byte> body) {
  (new outgoing(to, h, body))->start();
}

void nic::raise(const VIP_ERROR_DESCRIPTOR& e) {
  if (!error_handler_) return;
  service_->add([e, call = error_handler_, context = error_context_] {
    VIP_ERROR_DESCRIPTOR shown = e;
    call(context, &shown);
  });
}

void nic::watch(const endpoint& to) {
  std::unique_ptr<remote_nic>& known = remotes_[to.id()];
  if (known) return;
  known = std::make_unique<remote_nic>(*this, to);
  if (known->start_held()) lost(to.id());
}

void nic::lost(peer_id who) {
  remotes_.erase(who);
  for (vi* v : vis_)
    if (v && v->peer_id_of_connection() == who) v->connection_lost();
}

std::uint32_t nic::add(vi& v) {
  std::size_t slot = 0;
  while (slot != vis_.size() && vis_[slot]) ++slot;
  if (slot == most_vis) return 0;
  if (slot == vis_.size()) {
    vis_.push_back(nullptr);
    uses_.resize(vis_.size());
  }
  vis_[slot] = &v;
  return std::uint32_t{++uses_[slot]} << 16 | static_cast<std::uint32_t>(slot + 1);
}

void nic::remove(vi& v) noexcept {
  std::replace(vis_.begin(), vis_.end(), &v, static_cast<vi*>(nullptr));
}

vi* nic::find(std::uint32_t number) const noexcept {
  const std::size_t slot = (number & 0xffff) - std::size_t{1};
  if (slot >= vis_.size() || uses_[slot] != number >> 16) return nullptr;
  return vis_[slot];
}

/// With the progress lock held, on any thread that makes progress; calls no function of weft.
void nic::on_message(const inline_call& c) {
  reader in(c.data);
  const std::optional<header> h = in.take<header>();
  if (!h) return;
  vi* const v = find(h->vi);
  if (v && v->epoch() == h->epoch)
    v->on_message(*h, c.from, in.rest());
  else if (h->what == message::connected)
    refuse_connection(c.from, in.rest());
}

/// The requester does not wait any more.
void nic::refuse_connection(peer_id from, std::span<const std::byte> rest) {
  const std::optional<introduction> who = reader(rest).take<introduction>();
  if (!who) return;
  service_->add([this, from, h = header{who->vi, who->epoch, message::gone, 0, 0, 0}] {
    guarded([&] {
      const endpoint to = context_->peer(from);
      const locked lock(*this);
      send_now(to, h);
      return VIP_SUCCESS;
    });
  });
}

void nic::set_error_handler(VIP_ERROR_HANDLER handler, VIP_PVOID context) noexcept {
  int change = 0;
  {
    const locked lock(*this);
    change = (handler != nullptr) - (error_handler_ != nullptr);
    error_handler_ = handler;
    error_context_ = context;
  }
  if (change != 0) service_->attend(change);
}

void nic::forget_memory(VIP_MEM_HANDLE handle) {
  std::vector<std::shared_ptr<landing_place>> all;
  {
    const locked lock(*this);
    for (vi* v : vis_)
      if (v) all.push_back(v->hide(handle));
  }
  for (const auto& place : all) place->forget(handle);
}

std::shared_ptr<listener> nic::listener_at(const std::string& where) {
  const std::lock_guard lock(listeners_mutex_);
  std::shared_ptr<listener>& known = listeners_[where];
  if (!known) {
    try {
      known = std::make_shared<listener>(
          blocking<listener>().run(context_->listen(where), time_point::max()));
    } catch (...) {
      listeners_.erase(where);
      throw;
    }
  }
  return known;
}

// --- waiting ------------------------------------------------------------------------------------

bool nic::wait_for(time_point until, bool (*over)(void*), void* argument) {
  const bool for_application = !service_ || !service_->runs_here();
  if (for_application) service_->application_waits(1);
  std::unique_lock lock(turn_);
  std::optional<bool> result;
  while (led_ && !result) result = follow(lock, until, over, argument);
  if (!result) {
    led_ = true;
    led_by_service_ = !for_application;
    lock.unlock();
    struct leading {
      nic& owner;
      bool (*over)(void*);
      void* argument;
    } asked{*this, over, argument};
    result = loop_.wait(
        until,
        [](void* a) {
          auto& it = *static_cast<leading*>(a);
          it.owner.leads_ = true;
          it.owner.do_now();
          return it.over(it.argument);
        },
        &asked);
    {
      const locked no_more(*this);
      leads_ = false;
    }
    lock.lock();
    led_ = led_by_service_ = false;
    if (followers_ != 0) turned_.notify_all();
  }
  lock.unlock();
  if (for_application) service_->application_waits(-1);
  return *result;
}

/// Waits for an event, or for the leader's place. \return nothing: look again
std::optional<bool> nic::follow(std::unique_lock<std::mutex>& lock, time_point until,
                                bool (*over)(void*), void* argument) {
  ++followers_;
  const std::uint64_t seen = generation_;
  const bool ask = led_by_service_;
  lock.unlock();
  if (ask) wake_leader();
  const auto look = [&] {
    const locked at(*this);
    return over(argument);
  };
  std::optional<bool> result;
  if (look()) result = true;
  lock.lock();
  if (!result) {
    const auto changed = [&] { return !led_ || generation_ != seen; };
    if (until == time_point::max())
      turned_.wait(lock, changed);
    else if (!turned_.wait_until(lock, until, changed))
      result = false;
  }
  --followers_;
  return result;
}

/// An operation that ends wakes the thread that sleeps; a message to the handler does not.
void nic::wake_leader() noexcept {
  struct bell final : detail::recv_operation {
    explicit bell(const detail::recv_request& r) noexcept
        : recv_operation(r, [](operation& op) noexcept { static_cast<bell&>(op).rung = true; }) {}
    bool rung = false;
  } once(context_->recv(mutable_buffer{}, wake_tag));
  if (loop_.start(once)) return;
  loop_.cancel(once);
  for (bool rung = false; !rung;) {
    external_loop::progress_guard hold(loop_);
    hold.poll();
    rung = once.rung;
  }
}

}  // namespace weft::vipl
