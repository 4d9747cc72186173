// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proto/select.hpp"

namespace weft::proto {

messenger::messenger(runtime::engine& e, messenger_settings s)
    : engine_(e),
      settings_(s),
      budget_(static_cast<std::int64_t>(
          std::min<std::size_t>(s.unexpected_budget / credit_unit, 1u << 30))),
      budget_left_(budget_),
      table_(s.hashed_tag_bits, s.secret()),
      regions_(s.secret) {}

messenger::~messenger() {
  const runtime::engine::holder hold(engine_);
  close_all();
}

/// What a receive or probe that finds no message ends with, instead of waiting for ever; ok: it may
/// wait.
inline errc messenger::no_message(const peer* from) const noexcept {
  if (from) return from->gone() ? from->why() : errc::ok;
  return over_ ? errc::closed : errc::ok;
}

bool messenger::start(detail::send_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  return op.request.to.peer->start(op);
}

void messenger::cancel(detail::send_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  op.request.to.peer->cancel(op);
}

/// What receives and probes have in common. `match` is called with a message that is there already.
template <class Match>
inline bool messenger::start_match(detail::match_operation& op, Match match) noexcept {
  if (op.cancel_requested) {
    op.status = errc::stopped;
    return true;
  }
  if (op.from && op.from->id() != op.from_id) {
    op.status = why_gone(op.from_id);
    return true;
  }
  if (inbound_message* m = table_.find(op.from, op.tag)) return match(*m);
  if (const errc why = no_message(op.from); why != errc::ok) {
    op.status = why;
    return true;
  }
  table_.post(op);
  engine_.pending(op);
  return false;
}

bool messenger::start(detail::recv_operation& op) noexcept {
  // Most receives are posted by the thread that leads, before their message comes, to a peer that
  // lives. Nothing is called here, so that no register needs saving.
  if (engine_.try_enter_leading()) [[likely]] {
    const bool plain = op.from && op.from->id() == op.from_id && !op.from->gone() &&
                       !op.cancel_requested && table_.none_arrived() && !op.on &&
                       engine_.expects_pending(op);
    if (plain) [[likely]] {
      table_.post(op);
      engine_.pending_expected();
    }
    engine_.leave_leading();
    if (plain) [[likely]]
      return false;
  }
  const runtime::engine::holder hold(engine_);
  return start_held(op);
}

[[gnu::noinline]] bool messenger::start_held(detail::recv_operation& op) noexcept {
  return start_match(op, [&op](inbound_message& m) { return m.from->deliver(m, op); });
}

bool messenger::start(detail::probe_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  return start_held(op);
}

bool messenger::start_held(detail::probe_operation& op) noexcept {
  return start_match(op, [&op](const inbound_message& m) {
    op.got = m.about();
    return true;
  });
}

void messenger::cancel(detail::match_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  op.cancel_requested = true;
  if (op.queued) {
    table_.withdraw(op);
    engine_.end(op, errc::stopped);
  } else if (!op.probe) {
    if (inbound_message* m = static_cast<detail::recv_operation&>(op).message) m->from->give_up(*m);
  }
}

bool messenger::withdraw(detail::match_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  if (!op.queued) return false;
  table_.withdraw(op);
  engine_.end(op, errc::stopped);
  return true;
}

std::optional<received> messenger::try_probe(peer* from, tag_mask tag) noexcept {
  const runtime::engine::holder hold(engine_);
  const inbound_message* m = table_.find(from, tag);
  if (!m) return {};
  return m->about();
}

std::optional<claimed_message> messenger::try_claim(peer* from, tag_mask tag) noexcept {
  const runtime::engine::holder hold(engine_);
  inbound_message* const m = table_.find(from, tag);
  if (!m) return {};
  table_.remove(*m);
  m->claimed = true;
  return claimed_message(*m, m->from, m->about());
}

bool messenger::start_held(detail::claimed_operation& op, inbound_message*& claimed) noexcept {
  inbound_message* const m = std::exchange(claimed, nullptr);
  if (m && !op.cancel_requested) return m->from->deliver(*m, op);
  if (m) m->from->discard(*m);
  op.status = m ? errc::stopped : errc::invalid_argument;
  return true;
}

void messenger::discard(inbound_message& claimed) noexcept {
  const runtime::engine::holder hold(engine_);
  claimed.from->discard(claimed);
}

metrics messenger::snapshot() const {
  const runtime::engine::holder hold(engine_);
  metrics now = counts_;
  const runtime::engine_counters& e = engine_.counters();
  now.sleeps = e.sleeps.load();
  now.nanoseconds_asleep = e.nanoseconds_asleep.load();
  now.wake_ups = e.wake_ups.load();
  now.empty_wake_ups = e.empty_wake_ups.load();
  now.progress_iterations = e.progress_iterations.load();
  now.doorbells_rung = engine_.bells_rung();
  return now;
}

bool messenger::unsent() const noexcept {
  const runtime::engine::holder hold(engine_);
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& p) { return p.second->unsent(); });
}

bool messenger::streams_linger() const noexcept {
  const runtime::engine::holder hold(engine_);
  return streams_.lingering != 0;
}

std::string messenger::describe(const peer& p) const {
  const runtime::engine::holder hold(engine_);
  return describer ? describer(p) : std::string();
}

bool messenger::closed_operation::start() noexcept {
  const runtime::engine::holder hold(whom_->owner().engine());
  if (cancel_requested_) status = errc::stopped;
  const peer::state now = whom_->now();
  if (cancel_requested_ || now == peer::state::closed || now == peer::state::lost) return true;
  try {
    whom_->closings.push_back(this);
  } catch (const std::bad_alloc&) {
    status = errc::out_of_memory;
    return true;
  }
  waiting_ = true;
  whom_->owner().engine().pending(*this);
  return false;
}

void messenger::closed_operation::cancel() noexcept {
  const runtime::engine::holder hold(whom_->owner().engine());
  cancel_requested_ = true;
  if (waiting_ && std::erase(whom_->closings, this) != 0)
    whom_->owner().engine().end(*this, errc::stopped);
}

void messenger::close_all() noexcept {
  over_ = true;
  for (auto& [id, p] : peers_) p->fail(errc::closed, the_end);
  for (detail::match_operation *m = table_.take_posted(nullptr), *next = nullptr; m; m = next) {
    next = m->after;
    engine_.end(*m, errc::closed);
  }
  for (auto& [key, r] : regions_.all()) end_notified(r);
  while (to_sweep_) swept();
  update_busy();
  while (inbound_message* m = table_.any_unexpected(nullptr)) {
    table_.remove(*m);
    m->from->discard(*m);
  }
}

unsigned messenger::poll() noexcept {
  worth_polling = false;
  if (has_marked_peers_) [[unlikely]]
    fail_marked_peers();
  if (has_unreported_) [[unlikely]]
    report_failures();
  const bool sweeps = to_sweep_ != nullptr;
  if (sweeps) [[unlikely]]
    sweep();
  if (yielded_.empty()) return sweeps ? 1 : 0;
  yielded_.resume_all(true);
  return 1;
}

/// A slice for each pass, however much those that have gone had sent.
void messenger::sweep() noexcept {
  if (to_sweep_->sweep(messages_per_pass)) swept();
  worth_polling = worth_polling || to_sweep_ != nullptr;
  update_busy();
}

void messenger::fail_marked_peers() noexcept {
  has_marked_peers_ = false;
  update_busy();
  for (auto& [id, p] : peers_)
    if (const errc why = p->marked_failure(); why != errc::ok)
      p->fail(why, why == errc::out_of_memory ? "no memory for what it must be told"
                                              : "it made this side say more than it reads");
}

/// There was no memory for the word: the peer's end may have given some back meanwhile.
void messenger::given_up(peer& p) noexcept {
  if (!on_given_up) return;
  try {
    on_given_up(p);
    p.unreported = false;
  } catch (const std::bad_alloc&) {
    p.unreported = has_unreported_ = true;
    owe_pass();
  }
}

void messenger::report_failures() noexcept {
  has_unreported_ = false;
  update_busy();
  for (auto& [id, p] : peers_)
    if (p->unreported) given_up(*p);
}

void messenger::fail_unconnected() noexcept {
  for (auto& [id, p] : peers_)
    if (p->now() == peer::state::connecting)
      p->fail(errc::out_of_memory, "no memory for a connection to it");
}

bool messenger::store(inbound_message& m) noexcept {
  ++counts_.unexpected_messages;
  engine_.trace().instant(runtime::trace::kind::unexpected, m.from->id(), m.total);
  m.charged = sizeof m;
  if (m.stored_size > inbound_message::short_size) {
    m.allocated.reset(static_cast<std::byte*>(std::malloc(m.stored_size)));
    if (!m.allocated) {
      m.charged = 0;
      return false;
    }
    m.charged += m.stored_size;
  }
  if (m.stored_size != 0) m.stored = m.allocated ? m.allocated.get() : m.brief.data();
  counts_.unexpected_bytes_now += m.charged;
  counts_.unexpected_bytes_peak =
      std::max(counts_.unexpected_bytes_peak, counts_.unexpected_bytes_now);
  return true;
}

/// No more comes of it without being asked for: what it has no bytes for goes back.
void messenger::trim(inbound_message& m) noexcept {
  if (!m.allocated || m.arrived == m.stored_size) return;
  std::byte* shorter = nullptr;
  if (m.arrived != 0) {
    shorter = static_cast<std::byte*>(std::realloc(m.allocated.get(), m.arrived));
    if (!shorter) return;
    static_cast<void>(m.allocated.release());
  }
  m.allocated.reset(shorter);
  m.stored = shorter;
  const std::uint64_t less = m.stored_size - m.arrived;
  counts_.unexpected_bytes_now -= less;
  m.charged -= less;
  m.stored_size = m.arrived;
}

void messenger::unstore(inbound_message& m) noexcept {
  counts_.unexpected_bytes_now -= std::exchange(m.charged, 0);
}

std::uint32_t messenger::take_budget(std::uint32_t units) noexcept {
  const auto taken = static_cast<std::uint32_t>(std::clamp<std::int64_t>(budget_left_, 0, units));
  budget_left_ -= taken;
  return taken;
}

std::uint32_t messenger::first_budget() noexcept {
  const std::uint32_t taken = first_grant(budget_, budget_left_);
  budget_left_ -= taken;
  return taken;
}

std::string messenger::detail_of(detail::peer_name gone) {
  const runtime::engine::holder hold(engine_);
  return gone.peer->id() == gone.id ? gone.peer->detail()
                                    : make_error_code(why_gone(gone.id)).message();
}

const char* messenger::names_nobody(std::uint64_t tag) noexcept {
  return tag < first_reserved_tag
             ? "this endpoint names nobody; they come from a context, a group or a listener"
             : "tags with the top byte 0xfe or 0xff are weft's own; take another one";
}

tag_mask messenger::checked(tag_mask t) {
  if (t.value >= first_reserved_tag) throw error(errc::invalid_argument, names_nobody(t.value));
  return t;
}

std::string messenger::explain(errc status, detail::peer_name with, const received* got,
                               std::size_t room) {
  const std::string who = with.peer ? fmt::format("peer {}", with.id) : std::string("any peer");
  switch (status) {
    case errc::truncated:
      return fmt::format(
          "a message of {} bytes from peer {} did not fit into {}; receive into more, "
          "or probe first",
          got->size, got->source, room);
    case errc::stopped:
      if (got && got->source != no_peer)
        return fmt::format(
            "stopped on request while a message of {} bytes from peer {} arrived, which is lost",
            got->size, got->source);
      return fmt::format("stopped on request, with {}", who);
    case errc::invalid_argument:
      return fmt::format("a message can have at most {} bytes", max_message);
    default:
      break;
  }
  if (!with.peer) return status == errc::closed ? the_end : who;
  const std::string detail = with.peer->owner().detail_of(with);
  return detail.empty() ? who : fmt::format("{}: {}", who, detail);
}

}  // namespace weft::proto

namespace weft::detail {

peer_name::peer_name(proto::peer* p) noexcept : peer(p), id(p ? p->id() : no_peer) {}

namespace {

/// Null: it names no peer.
proto::messenger* messenger_of(const send_operation& op) noexcept {
  return op.request.to.peer ? &op.request.to.peer->owner() : nullptr;
}
proto::messenger* messenger_of(const match_operation& op) noexcept {
  return op.from ? &op.from->owner() : op.messenger;
}

/// Starts it by `begin`, unless it names no peer.
template <class Operation, class Begin>
bool start_with(Operation& op, Begin begin) noexcept {
  proto::messenger* const at = messenger_of(op);
  if (at) [[likely]]
    return begin(*at);
  op.status = errc::invalid_argument;
  return true;
}

template <class Operation>
void cancel_it(Operation& op) noexcept {
  if (proto::messenger* const at = messenger_of(op)) at->cancel(op);
}

std::string explain_match(const match_operation& op, std::size_t room) {
  if (!messenger_of(op)) return proto::messenger::names_nobody(op.tag.value);
  return proto::messenger::explain(op.status, {op.from, op.from_id}, &op.got, room);
}

}  // namespace

bool send_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start(*this); });
}
bool send_operation::start_held() noexcept {
  return start_with(*this, [this](proto::messenger&) { return request.to.peer->start(*this); });
}
void send_operation::cancel() noexcept { cancel_it(*this); }
std::string send_operation::explain() const {
  if (!messenger_of(*this)) return proto::messenger::names_nobody(request.tag.value);
  return proto::messenger::explain(status, request.to, nullptr, 0);
}

bool match_operation::withdraw() noexcept {
  proto::messenger* const of = messenger_of(*this);
  return of && of->withdraw(*this);
}

bool recv_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start(*this); });
}
bool recv_operation::start_held() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start_held(*this); });
}
void recv_operation::cancel() noexcept { cancel_it(*this); }
std::string recv_operation::explain() const { return explain_match(*this, into.size()); }

bool claimed_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) {
    const runtime::engine::holder hold(m.engine());
    return start_held();
  });
}
bool claimed_operation::start_held() noexcept {
  return start_with(
      *this, [this](proto::messenger&) { return proto::messenger::start_held(*this, *claimed_); });
}
std::string claimed_operation::explain() const {
  if (status == errc::invalid_argument) return "there is no message: it was received or discarded";
  return recv_operation::explain();
}

bool probe_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start(*this); });
}
bool probe_operation::start_held() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start_held(*this); });
}
void probe_operation::cancel() noexcept { cancel_it(*this); }
std::string probe_operation::explain() const { return explain_match(*this, 0); }

}  // namespace weft::detail

weft::claimed_message::~claimed_message() {
  if (message_ && !from_.peer->owner().engine().is_inherited()) discard();
}

void weft::claimed_message::discard() noexcept {
  if (proto::inbound_message* const m = std::exchange(message_, nullptr))
    from_.peer->owner().discard(*m);
}
