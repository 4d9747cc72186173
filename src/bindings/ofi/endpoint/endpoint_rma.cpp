// SPDX-License-Identifier: Apache-2.0
// An endpoint's access to memory of peers, and remote CQ data for its own memory. fi_rma(3).
#include <algorithm>
#include <array>
#include <cstring>

#include "bindings/ofi/endpoint/posting.hpp"
#include "bindings/ofi/objects/memory_region.hpp"

namespace weft::ofi {

using detail::rma_refusal;

namespace {

// Each cut ends a piece in this process or a place at the peer.
constexpr std::size_t most_parts = 2 * most_pieces;

record about(const access_call& c, endpoint& of, record::kind what) noexcept {
  record r;
  r.owner = &of;
  r.context = c.context;
  r.what = what;
  r.flags = FI_RMA | (what == record::kind::read ? FI_READ : FI_WRITE);
  if (!c.pieces.empty()) r.buffer = c.pieces.front().iov_base;
  r.size = r.room = size_of(c.pieces);
  return r;
}

transfer_request transfer(const weft::endpoint& with, record::kind what, std::byte* here,
                          const remote_region& there) noexcept {
  return what == record::kind::read ? with.get({here, there.size}, there)
                                    : with.put({here, there.size}, there);
}

/// Makes transfers that each have one piece in this process and one place at the peer. Both lists
/// have the same size.
/// \return how many; one if there is nothing to move
std::size_t cut(const access_call& c, record::kind what, const weft::endpoint& with,
                std::array<std::optional<transfer_request>, most_parts>& into) noexcept {
  std::size_t n = 0, piece = 0, used = 0;
  for (const fi_rma_iov& place : c.places) {
    for (std::size_t done = 0; done != place.len; ++n) {
      for (; used == c.pieces[piece].iov_len; ++piece) used = 0;
      const std::size_t size = std::min(place.len - done, c.pieces[piece].iov_len - used);
      into[n].emplace(transfer(with, what, static_cast<std::byte*>(c.pieces[piece].iov_base) + used,
                               {weft_key(place.key), place.addr + done, size}));
      used += size;
      done += size;
    }
  }
  if (n != 0) return n;
  const fi_rma_iov& nowhere = c.places.front();
  into[0].emplace(transfer(with, what, nullptr, {weft_key(nowhere.key), nowhere.addr, 0}));
  return 1;
}

}  // namespace

int error_of(errc status, rma_refusal why) noexcept {
  switch (why) {
    case rma_refusal::none:
      return errno_of(status);
    case rma_refusal::no_region:
      return FI_EKEYREJECTED;
    case rma_refusal::misaligned:
      return FI_EINVAL;
    case rma_refusal::unheard:
      return FI_EOVERRUN;
    default:
      return FI_EACCES;
  }
}

ssize_t endpoint::access(const access_call& c, record::kind what) noexcept {
  if ((caps_ & FI_RMA) == 0) return -FI_EOPNOTSUPP;
  const weft::endpoint* const with = peers_ ? peers_->find(c.peer) : nullptr;
  const bool injected = (c.flags & FI_INJECT) != 0 && what == record::kind::write;
  record its = about(c, *this, what);
  if (!with || c.pieces.size() > most_pieces || c.places.empty() || c.places.size() > most_pieces ||
      its.size != size_of(c.places) || (injected && its.size > inject_size))
    return -FI_EINVAL;
  its.tells = !c.silent && bound_.of(its).wants_entry(c.flags);

  external_loop::progress_guard hold(*external_loop_);
  slot* const memory = take_slot();
  if (!memory) return -FI_ENOMEM;
  access_call now = c;
  iovec copied{memory->copied.data(), 0};
  if (injected) {
    for (const iovec& p : c.pieces) {
      if (p.iov_len != 0)
        std::memcpy(memory->copied.data() + copied.iov_len, p.iov_base, p.iov_len);
      copied.iov_len += p.iov_len;
    }
    now.pieces = {&copied, 1};
  }
  std::array<std::optional<transfer_request>, most_parts> parts;
  const std::size_t n = cut(now, what, *with, parts);
  if (n == 1) {
    parts[0]->order.then = c.then;
    post<transfer_record>(hold, *memory, its, *parts[0]);
    return 0;
  }
  scattered whole(its);
  if (c.then) whole.then = with->signal(parts[n - 1]->order.where, *c.then);
  return scatter({parts.data(), n}, whole, *memory);
}

/// \return 0; -FI_ENOMEM: no transfer has begun
ssize_t endpoint::scatter(std::span<const std::optional<transfer_request>> parts,
                          const scattered& its, slot& head) noexcept {
  std::array<slot*, most_parts> memory{};
  for (std::size_t i = 0; i != parts.size(); ++i) {
    memory[i] = take_slot();
    if (memory[i]) continue;
    while (i != 0) slots_.give_back(*memory[--i]);
    slots_.give_back(head);
    return -FI_ENOMEM;
  }
  scattered& whole = *::new (static_cast<void*>(head.memory.data())) scattered(its);
  whole.left = whole.undone = static_cast<std::uint32_t>(parts.size());
  ++sending_;
  for (std::size_t i = 0; i != parts.size(); ++i) start(*memory[i], whole, *parts[i]);
  return 0;
}

void endpoint::start(slot& memory, scattered& whole, const transfer_request& r) noexcept {
  part& p = *::new (static_cast<void*>(memory.memory.data())) part(whole, r);
  if (p.start_held()) note_end(p);
}

/// The memory's owner gets its notification when all parts are there, since parts may overtake each
/// other. By the thread that makes progress, with the progress lock held.
bool part::tell_owner(detail::rma_operation& done) noexcept {
  auto& last = static_cast<part&>(done);
  scattered& whole = last.of;
  if (--whole.undone != 0 || !whole.then) return false;
  last.order = std::exchange(whole.then, {})->order;
  whole.undone = 1;
  return true;
}

// --- ends, with the external loop held ------------------------------------------------------

void part::has_ended(operation& o) noexcept {
  auto& self = static_cast<part&>(o);
  self.of.owner->note_end(self);
}

void endpoint::note_end(part& p) noexcept {
  scattered& whole = p.of;
  slot& memory = slot::around(p);
  if (p.status != errc::ok && whole.error == 0) {
    whole.record::status = p.status;
    whole.error = error_of(p);
  }
  slots_.give_back(memory);
  if (--whole.left != 0) return;
  whole.ended = true;
  note_end(static_cast<record&>(whole));
}

// --- memory of this side -----------------------------------------------------------------------

region endpoint::show(std::span<std::byte> memory, rights permissions, region_name name) {
  region shown(*context_, memory, permissions, name);
  if (permissions != rights::read) {
    const external_loop::progress_guard hold(*external_loop_);
    listen(shown.notified());
  }
  return shown;
}

/// Waits for remote CQ data until the memory is shown no more.
void endpoint::listen(const notified_request& at) noexcept {
  record its;
  its.owner = this;
  its.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
  for (;;) {
    slot* const memory = take_slot();
    if (!memory) return warn("no memory to hear of more remote CQ data for a memory region");
    auto& next = *::new (static_cast<void*>(memory->memory.data())) arrival_record(its, at);
    if (!next.start_held()) return;
    next.settle();
    if (!tell_arrival(next)) return;
  }
}

void endpoint::note_end(arrival_record& r) noexcept {
  const notified_request at{r.messenger, r.key};
  if (tell_arrival(r)) listen(at);
}

/// \return whether more can come
bool endpoint::tell_arrival(arrival_record& r) noexcept {
  const bool came = r.error == 0;
  if (came && bound_.receives.queue)
    bound_.receives.ended->waiting.push(r);
  else
    recycle(r);
  return came;
}

}  // namespace weft::ofi
