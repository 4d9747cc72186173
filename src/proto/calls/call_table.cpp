// SPDX-License-Identifier: Apache-2.0
// The side that is called: from a message to its handler. The caller's side is call_operation.cpp.
#include "proto/calls/call_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "proto/calls/served_call.hpp"
#include "proto/calls/value_stream.hpp"
#include "proto/messenger/message_errors.hpp"
#include "proto/peer/peer.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

namespace {
/// How many waiting calls begin in one go, however many may.
constexpr int calls_in_turn = 64;
/// How many calls of a peer may have been answered by weft itself, or at their handlers' end, while
/// the answers have not left. The peer's further calls wait: it reads too little.
constexpr std::uint32_t most_last_answers = 64;
}  // namespace

// --- handlers ----------------------------------------------------------------------------------

void call_table::add(const std::shared_ptr<call_handler>& h) {
  if (closed_) throw error(errc::closed, context_ended);
  if (h->is_inline && room_.empty()) {
    taken_.resize(longest_inline);
    room_.resize(longest_inline);
  }
  if (!handlers_.try_emplace(h->number.number, h).second)
    throw error(
        errc::invalid_argument,
        fmt::format("handler {} is registered already; end that one, or take another number",
                    h->number.number));
  ended_.erase(h->number.number);
  h->is_registered = true;
  h->engine_ = &services_.engine;
  h->table_ = this;
  services_.engine.pending(*h);
  ever_served_ = ever_served_ || !is_own(h->number.number);
  begin_waiting();
}

void call_table::remove(call_handler& h) noexcept {
  services_.engine.withdraw(h);
  h.is_registered = false;
  h.on = nullptr;  // its end is reported to the thread inside run()
  if (recent_ == &h) recent_ = nullptr;
  const auto at = handlers_.find(h.number.number);
  if (at == handlers_.end() || at->second.get() != &h) return;
  handlers_.erase(at);
  try {
    ended_.insert(h.number.number);
  } catch (const std::bad_alloc&) {
    // Its callers are refused, then.
  }
}

void call_table::stop_calls_of(const call_handler& h) noexcept {
  for (served_call* c = first_; c; c = c->after)
    if (c->handler() == &h) c->end_with_handler();
}

call_handler* call_table::find(std::uint32_t number) const noexcept {
  if (recent_ && recent_->number.number == number) return recent_;
  const auto at = handlers_.find(number);
  recent_ = at == handlers_.end() ? nullptr : at->second.get();
  return recent_;
}

std::string call_table::no_handler(std::uint32_t number) const {
  std::vector<std::uint32_t> all;
  all.reserve(handlers_.size());
  for (const auto& [n, h] : handlers_)
    if (!is_own(n)) all.push_back(n);
  std::sort(all.begin(), all.end());
  constexpr std::size_t shown = 16;
  std::string text;
  for (std::size_t i = 0; i != std::min(all.size(), shown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", all[i]);
  if (all.size() > shown) text += fmt::format(" and {} more", all.size() - shown);
  return fmt::format("there is no handler {}; registered are {}", number,
                     text.empty() ? "none now" : text);
}

// --- what comes --------------------------------------------------------------------------------

calls_of_peer* call_table::parts_of(peer& p) noexcept {
  if (!p.calls) p.calls.reset(new (std::nothrow) calls_of_peer(p));
  return p.calls.get();
}

/// The bytes may be in memory that the peer can still write to, and an inline handler may look at
/// them twice: it gets a copy.
call_table::verdict call_table::on_whole(peer& from, call_tag t, std::uint64_t immediate,
                                         const_buffer data) noexcept {
  if (!is_valid(t, immediate)) return verdict::invalid;
  if (is_answer(t)) {
    detail::call_operation* const op = from.calls ? from.calls->made.find(t.id) : nullptr;
    if (!op) return verdict::invalid;
    from.calls->made.erase(t.id);
    if (op != &from.calls->abandoned) answered(*op, t, data);
    return verdict::taken;
  }
  if (t.kind == call_kind::item) return verdict::keep;
  call_handler* const h = find(t.number);
  // In order: not before calls of this peer that wait.
  if (!h || t.kind == call_kind::stream_request || !h->is_inline || !may_begin(from, t.number) ||
      !h->takes(t.kind, fingerprint_in(immediate)) || (from.calls && from.calls->waiting.first) ||
      data.size() > longest_inline)
    return verdict::keep;
  std::copy(data.begin(), data.end(), taken_.begin());
  answer_inline(*h, from, t, const_buffer(taken_).first(data.size()));
  return verdict::taken;
}

bool call_table::on_item(peer& from, call_tag t, bool& unwanted) noexcept {
  detail::call_operation* const op = from.calls ? from.calls->made.find(t.id) : nullptr;
  if (!op) return false;
  unwanted = op == &from.calls->abandoned;
  return unwanted || (op->stream() && op->stream()->expect_item());
}

/// A stop that came before was for the number's former call.
bool call_table::on_begun(peer& from, call_tag t) noexcept {
  calls_of_peer* const parts = parts_of(from);
  if (t.kind == call_kind::item) return true;
  if (parts && parts->stopped) parts->stopped->reset(t.id);
  return parts != nullptr;
}

void call_table::on_stored(inbound_message& m) noexcept {
  if (const call_tag t = unpack_call(m.tag); t.kind == call_kind::item) {
    detail::call_operation* const op = m.from->calls->made.find(t.id);
    value_stream* const reader = op ? op->stream() : nullptr;
    return reader ? reader->on_item(m) : m.from->receiver().discard(m);
  }
  calls_of_peer& of = *m.from->calls;
  // Weft's own do not wait for the application's handlers.
  const std::uint32_t number = unpack_call(m.tag).number;
  if (may_begin(*m.from, number) && (!of.waiting.first || is_own(number)))
    begin(m);
  else
    queue(of, m);
}

void call_table::queue(calls_of_peer& of, inbound_message& m) noexcept {
  if (!of.waiting.first) peers_.add(of);
  of.waiting.add(m);
  m.waits_in = &of.waiting;
}

void call_table::unqueue(calls_of_peer& of, inbound_message& m) noexcept {
  of.waiting.remove(m);
  m.waits_in = nullptr;
  if (!of.waiting.first) peers_.remove(of);
}

void call_table::take_back(inbound_message& m) noexcept {
  if (m.waits_in == &m.from->calls->waiting) return unqueue(*m.from->calls, m);
  std::exchange(m.waits_in, nullptr)->remove(m);
}

void call_table::on_cut_off(inbound_message& m) noexcept {
  if (unpack_call(m.tag).kind == call_kind::item)
    m.from->receiver().discard(m);
  else
    queue(*m.from->calls, m);
}

/// What one peer does not give back must not stop the calls of others. The more calls of others
/// run, the fewer of this peer may, and no peer with calls that run gets the last place.
bool call_table::is_busy_for(const peer& from) const noexcept {
  if (running_ >= most_running_) return true;
  if (!from.calls) return false;
  const std::uint64_t left = most_running_ - running_ - 1;
  const calls_of_peer& of = *from.calls;
  return of.served - of.running >= most_last_answers || (of.running != 0 && of.running >= 3 * left);
}

bool call_table::may_begin(const peer& from, std::uint32_t number) const noexcept {
  if ((!ever_served_ && !is_own(number)) || is_busy_for(from)) return false;
  if (!from.calls || from.calls->fetching == 0) return true;
  const call_handler* const h = find(number);
  return !h || !h->is_inline;
}

/// Peers take turns, so that a peer with many calls does not keep others waiting. Ends when all
/// places are taken, or no peer may begin a call.
void call_table::begin_waiting() noexcept {
  const calls_of_peer* first_busy = nullptr;  // since the last call that began
  for (int n = 0; peers_.first && peers_.first != first_busy && running_ < most_running_;) {
    calls_of_peer& of = *peers_.first;
    peers_.remove(of);
    peers_.add(of);
    if (!may_begin(*of.whose, unpack_call(of.waiting.first->tag).number)) {
      if (!first_busy) first_busy = &of;
      continue;
    }
    if (++n > calls_in_turn) {
      if (!later_) later_ = begin_later().started;
      return;
    }
    first_busy = nullptr;
    inbound_message& m = *of.waiting.first;
    unqueue(of, m);
    begin(m);
  }
}

protocol_coroutine call_table::begin_later() noexcept {
  co_await services_.upkeep.yield();
  later_ = false;
  begin_waiting();
}

served_call* call_table::make(peer& from, call_handler* h, inbound_message* m,
                              const call_facts& what) noexcept {
  try {
    if (parts_of(from))
      return new served_call(services_, *this, from, h ? h->shared_from_this() : nullptr, m, what);
  } catch (const std::bad_alloc&) {
    // As below.
  }
  if (m) from.receiver().discard(*m);
  from.connection().mark_failed();
  return nullptr;
}

void call_table::begin(inbound_message& m) noexcept {
  peer& from = *m.from;
  const call_tag t = unpack_call(m.tag);
  call_handler* const h = find(t.number);
  const bool stopped = from.calls->stopped && from.calls->stopped->test(t.id);
  call_facts what{t, m.total, fingerprint_in(m.immediate)};
  if (const std::uint32_t left = remaining_in(m.immediate); left != 0)
    what.deadline = unpack_remaining(left, services_.engine.now());
  if (stopped) {
    from.calls->stopped->reset(t.id);
    from.receiver().discard(m);
    if (served_call* const c = make(from, nullptr, nullptr, what))
      c->answer(call_status::stopped, {});
  } else if (h && !h->takes(t.kind, what.fingerprint)) {
    from.receiver().discard(m);
    refuse(from, what, std::string(h->signature()->whole.text()), call_status::types);
  } else if (h && h->is_inline && t.kind == call_kind::stream_request) {
    from.receiver().discard(m);
    refuse(from, what,
           fmt::format("handler {} is inline, and gives no stream of values", t.number));
  } else if (h && h->is_inline && m.complete() && m.total <= longest_inline) {
    answer_inline(*h, from, t, {m.stored, m.total});
    from.receiver().discard(m, true);
  } else if (h && h->is_inline && m.total > longest_inline) {
    from.receiver().discard(m);
    refuse(from, what,
           fmt::format("a call of {} bytes, and handler {} is inline and takes at most {}", m.total,
                       t.number, longest_inline));
  } else if (served_call* const c = make(from, h, &m, what)) {
    if (h && h->is_inline) {
      c->fetches_for_inline = true;
      ++from.calls->fetching;
    }
    if (!runs(*c)) from.connection().mark_failed();
    c->begin();
  }
}

void call_table::refuse(peer& from, const call_facts& what, std::string why,
                        call_status how) noexcept {
  if (what.tag.kind == call_kind::post) {
    ++services_.counts.posts_dropped;
    return;
  }
  ++services_.counts.calls_refused;
  if (served_call* const c = make(from, nullptr, nullptr, what)) c->answer(how, std::move(why));
}

// --- inline handlers ---------------------------------------------------------------------------

/// \return nothing: refused, and `why` is set
std::optional<std::size_t> call_table::run_inline(call_handler& h, const peer& from,
                                                  const_buffer data, std::string& why) noexcept {
  try {
    try {
      const std::size_t n = h.code().answer({from.id(), data, room_});
      if (n <= room_.size()) return n;
      why = fmt::format("handler {} gave a reply of {} bytes, and has room for {}", h.number.number,
                        n, room_.size());
    } catch (const std::exception& e) {
      why = e.what();
    } catch (...) {
      why = "the handler threw something that is no std::exception";
    }
  } catch (const std::bad_alloc&) {
    // The reason goes without words.
  }
  return std::nullopt;
}

void call_table::answer_inline(call_handler& h, peer& from, call_tag t,
                               const_buffer data) noexcept {
  ++from.connection().traffic().calls_served;
  std::string why;
  const std::optional<std::size_t> n = run_inline(h, from, data, why);
  if (!n) return refuse(from, {t}, std::move(why));
  if (t.kind == call_kind::post) return;
  const call_tag back{call_kind::reply, t.id, 0};
  if (from.try_send_inline(from.id(), back.packed(), {room_.data(), *n}, 0)) return;
  try {
    std::string reply(reinterpret_cast<const char*>(room_.data()), *n);
    if (served_call* const c = make(from, nullptr, nullptr, {t}))
      c->answer(call_status::ok, std::move(reply));
  } catch (const std::bad_alloc&) {
    from.connection().mark_failed();
  }
}

// --- ends --------------------------------------------------------------------------------------

/// Posts that have come as a whole are served, as messages can still be received.
void call_table::fail(peer& p) noexcept {
  if (p.calls) {
    calls_of_peer& of = *p.calls;
    for (inbound_message *m = of.waiting.first, *next = nullptr; m; m = next) {
      next = m->later;
      if (!closed_ && m->complete() && unpack_call(m->tag).kind == call_kind::post) continue;
      unqueue(of, *m);
      p.receiver().discard(*m);
    }
    fail_calls(of);
  }
  for (served_call* c = first_; c; c = c->after)
    if (c->from().get() == &p) c->stop();
}

void call_table::close() noexcept {
  closed_ = true;
  while (calls_of_peer* const of = peers_.first)
    while (inbound_message* const m = of->waiting.first) {
      unqueue(*of, *m);
      of->whose->receiver().discard(*m);
    }
  while (!handlers_.empty()) {
    const std::shared_ptr<call_handler> h = handlers_.begin()->second;
    remove(*h);
    h->context_ended();
  }
}

}  // namespace weft::proto
