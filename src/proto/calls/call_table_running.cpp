// SPDX-License-Identifier: Apache-2.0
// The calls that a call_table serves at the moment: their number, and which of them a frame names.
#include <new>
#include <utility>

#include "proto/calls/call_table.hpp"
#include "proto/calls/served_call.hpp"
#include "proto/peer/peer.hpp"

namespace weft::proto {

void call_table::began(served_call& c) noexcept {
  ++served_;
  ++c.from()->calls->served;
  c.after = first_;
  if (first_) first_->before = &c;
  first_ = &c;
  if (c.handler()) ++c.handler()->running;
  if (host_) host_->call_began();
}

/// The caller uses a number again when it has the reply; a call before with that number has been
/// answered, or the caller lies, and has itself to blame.
bool call_table::runs(served_call& c) noexcept {
  calls_of_peer& of = *c.from()->calls;
  c.runs = true;
  ++running_;
  ++of.running;
  const local_id id = c.about().tag.id;
  if (id == 0) return true;
  if (of.numbered.find(id)) of.numbered.erase(id);
  try {
    of.numbered.add(id, c);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void call_table::runs_no_more(served_call& c) noexcept {
  if (!std::exchange(c.runs, false)) return;
  --running_;
  --c.from()->calls->running;
  if (std::exchange(c.fetches_for_inline, false)) --c.from()->calls->fetching;
  begin_waiting();
}

void call_table::ended(served_call& c) noexcept {
  calls_of_peer& of = *c.from()->calls;
  const local_id id = c.about().tag.id;
  if (of.numbered.find(id) == &c) of.numbered.erase(id);
  --served_;
  --of.served;
  (c.before ? c.before->after : first_) = c.after;
  if (c.after) c.after->before = c.before;
  begin_waiting();
}

void call_table::release(call_handler& h) noexcept {
  if (--h.running == 0 && h.closed_) h.report_end(services_.engine);
}

/// When the reply has begun to leave, the caller may give the number to another call.
served_call* call_table::find_unanswered(const peer& from, std::uint64_t id) noexcept {
  served_call* const c = from.calls ? from.calls->numbered.find(id) : nullptr;
  return c && !c->is_answered() ? c : nullptr;
}

/// The handler may have ended meanwhile.
bool call_table::on_more(peer& from, std::uint64_t id) noexcept {
  if (id == 0 || id > 0xffff) return false;
  served_call* const c = find_unanswered(from, id);
  return !c || c->allow_items();
}

bool call_table::on_stop(peer& from, std::uint64_t id) noexcept {
  if (id == 0 || id > 0xffff) return false;
  if (served_call* const c = find_unanswered(from, id)) {
    c->stop();
    return true;
  }
  if (!from.calls) return true;
  // It waits, or is on its way still, or has its reply by now.
  auto& stopped = from.calls->stopped;
  if (!stopped) stopped.reset(new (std::nothrow) std::bitset<65536>());
  if (stopped) stopped->set(id);
  return true;
}

}  // namespace weft::proto
