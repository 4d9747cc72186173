// SPDX-License-Identifier: Apache-2.0
// The device's execution: chains under way, in fair slices.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "transports/qdma/device/device.hpp"

namespace weft::transports::qdma {

using weft::qdma::descriptor;
using what = weft::qdma::descriptor::what;
using weft::qdma::rights;

namespace {

// Visits in one pass: enough to amortise it, few enough that other pollables have their turn.
constexpr unsigned visits_per_pass = 16;
// Steps of one chain before others have their turn.
constexpr unsigned steps_per_visit = 8;
constexpr std::uint64_t most_together = 4096;  // bytes copied after which a visit ends

}  // namespace

void device::start(chain_steps steps) noexcept {
  if (closed_ || steps->empty()) return;
  run r;
  r.steps = std::move(steps);
  if (runs_.any_ready() || visit(r) == visit_end::again) add(std::move(r));
  if (runs_.any_ready()) engine_.look_after();
}

void device::add(run r) noexcept {
  try {
    if (runs_.add(std::move(r))) return;
    fail(r, errc::out_of_memory,
         fmt::format("{} chains are under way; begin fewer at once", run_queue::most));
  } catch (const std::bad_alloc&) {
    fail(r, errc::out_of_memory, "no memory for a chain");
  }
  // The chain's events of this process are told. For signals to other processes there is no memory
  // to wait in, nor for the chains that those events would start: those are dropped, or a cycle
  // would recurse here without end.
  if (std::exchange(refusing_, true)) return;
  for (; r.next != r.steps->size(); ++r.next)
    if (const descriptor& d = (*r.steps)[r.next]; d.kind == what::signal) send_signal(r, d);
  refusing_ = false;
}

/// Goes on with a chain. `parked`: a copy of it was queued to wait for room.
device::visit_end device::visit(run& r) noexcept {
  for (unsigned left = steps_per_visit; left != 0; --left) {
    if (r.next == r.steps->size()) return visit_end::over;
    const descriptor& d = (*r.steps)[r.next];
    if (r.failed == errc::ok && r.hops >= most_hops)
      fail(r, errc::invalid_argument,
           fmt::format("{} descriptors have led to each other without the application: a cycle? "
                       "Begin each round of it from the application",
                       most_hops));
    // A failure goes round the cycle once more, so that every event of the cycle is told of it.
    if (r.hops >= 2 * most_hops) return visit_end::over;
    if (r.failed == errc::ok || d.kind == what::signal) {
      const outcome o = step(r, d);
      if (o == outcome::later) {
        if (d.kind == what::write || d.kind == what::read) return visit_end::again;
        const std::uint32_t queue = d.kind == what::signal ? 0 : d.queue;
        if (park(r, {static_cast<vpid>(d.to), queue})) return visit_end::parked;
        continue;  // it has failed
      }
      if (o == outcome::done && r.copied != 0 && r.copied < d.size) return visit_end::again;
    }
    const bool long_one = r.copied > most_together;
    ++r.next;
    ++r.hops;
    r.copied = 0;
    if (long_one) break;
  }
  return r.next == r.steps->size() ? visit_end::over : visit_end::again;
}

outcome device::fail(run& r, errc kind, std::string why) noexcept {
  ++failures_;
  if (r.failed == errc::ok) {
    r.failed = kind;
    r.why = std::move(why);
    try {
      last_failure_ = r.why;
    } catch (const std::bad_alloc&) {
      // The count tells of it.
    }
  }
  return outcome::failed;
}

outcome device::fail_unknown(run& r, vpid to) noexcept {
  if (!peers_.was_lost(to) && table_.lives(to))
    return fail(r, errc::invalid_argument,
                fmt::format("process {:#x} was not met; co_await device::meet first", to));
  return fail(r, errc::peer_lost, fmt::format("process {:#x} has ended", to));
}

outcome device::step(run& r, const descriptor& d) noexcept {
  switch (d.kind) {
    case what::signal:
      return send_signal(r, d);
    case what::post:
      return post(r, static_cast<vpid>(d.to), d.queue, d.payload);
    case what::write:
    case what::read:
      return copy(r, d);
  }
  return fail(r, errc::invalid_argument, "a descriptor of no kind that there is");
}

outcome device::send_signal(run& r, const descriptor& d) noexcept {
  if (static_cast<vpid>(d.to) == self_) {
    count(d.event, r.hops, r.failed, r.why);
    return outcome::done;
  }
  const signal_body body{d.event, r.hops, static_cast<std::uint32_t>(r.failed)};
  return post(r, static_cast<vpid>(d.to), 0, std::as_bytes(std::span(&body, 1)));
}

outcome device::post(run& r, vpid to, std::uint32_t queue,
                     std::span<const std::byte> bytes) noexcept {
  if (queue >= queue_count || bytes.size() > slot_bytes)
    return fail(r, errc::invalid_argument, "there is no such queue, or the message is too long");
  if (runs_.is_behind({to, queue}, r)) return outcome::later;
  if (to == self_) return queues_.post_to_self(queue, bytes) ? outcome::done : outcome::later;
  peer* const p = peers_.find(to);
  return p ? p->post(queue, bytes) : fail_unknown(r, to);
}

outcome device::copy(run& r, const descriptor& d) noexcept {
  const std::uint64_t n = std::min<std::uint64_t>(d.size - std::min(r.copied, d.size), slice);
  const bool write = d.kind == what::write;
  const char* why = nullptr;
  // Both are checked as a whole, so that no part is copied of a copy that could not be finished.
  std::byte* here = regions().find(d.local_key, d.local_offset, d.size, why);
  if (!here) return fail(r, errc::invalid_argument, fmt::format("region of this process: {}", why));
  here += r.copied;
  outcome o = outcome::done;
  if (static_cast<vpid>(d.to) == self_) {
    region_view v;
    why = find_region(regions().catalog(), d.remote_key, d.remote_offset, d.size,
                      write ? rights::write : rights::read, v);
    std::byte* there =
        why ? nullptr : regions().find(d.remote_key, d.remote_offset + r.copied, n, why);
    if (there) std::memmove(write ? there : here, write ? here : there, n);
    if (!there) o = outcome::failed;
  } else {
    peer* const p = peers_.find(static_cast<vpid>(d.to));
    if (!p) return fail_unknown(r, static_cast<vpid>(d.to));
    // The slice that is copied now ends within the whole, which was checked with the first slice.
    if (r.copied == 0 && d.remote_offset + d.size < d.remote_offset)
      return fail(r, errc::invalid_argument, "beyond the end of the region");
    if (r.copied == 0) why = p->check(write, d.remote_key, d.remote_offset, d.size);
    o = why ? outcome::failed
            : p->copy(write, d.remote_key, d.remote_offset + r.copied, here, n, why);
  }
  if (o == outcome::failed || o == outcome::lost) {
    const auto to = static_cast<vpid>(d.to);
    const bool gone = o == outcome::lost || (to != self_ && !table_.lives(to));
    return fail(r, gone ? errc::peer_lost : errc::invalid_argument,
                fmt::format("region of process {:#x}: {}", static_cast<vpid>(d.to), why));
  }
  if (o == outcome::done) r.copied += n;
  return o;
}

/// Puts the chain behind those that have waited longer. False: it has failed for want of memory.
bool device::park(run& r, destination where) noexcept {
  try {
    if (runs_.park(where, r)) return true;
  } catch (const std::bad_alloc&) {
    // As if there were too many.
  }
  fail(r, errc::out_of_memory, "no memory for what waits for room in a queue");
  ++r.next;
  return false;
}

unsigned device::run_some() noexcept {
  unsigned events = 0;
  // Only the chains that are ready now; chains that they start have their turn in the next pass.
  for (std::size_t left = std::min<std::size_t>(runs_.ready(), visits_per_pass); left != 0;
       --left) {
    run r = runs_.take();
    ++events;
    if (visit(r) == visit_end::again) add(std::move(r));
  }
  return events;
}

/// The first of each line tries again; the others follow when it has gone.
unsigned device::retry_parked() noexcept {
  unsigned events = 0;
  visit_end end = visit_end::over;
  runs_.retry(
      [&](run& first, const destination& where) {
        end = visit(first);
        if (end != visit_end::parked || !first.steps) return true;
        // It may have gone on to a step that waits elsewhere, where a copy of it is now.
        const descriptor& d = (*first.steps)[first.next];
        return destination{static_cast<vpid>(d.to), d.kind == what::signal ? 0 : d.queue} != where;
      },
      [&](run r) {
        ++events;
        if (end == visit_end::again) add(std::move(r));
      });
  return events;
}

}  // namespace weft::transports::qdma
