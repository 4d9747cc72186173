// SPDX-License-Identifier: Apache-2.0
// Access to memory: the target.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "proto/rma/region_table.hpp"
#include "proto/rma/rma.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

using detail::rma_refusal;
using transports::gather;
using transports::post;

namespace {

std::uint16_t id_of(const frame_extension& x) noexcept {
  return static_cast<std::uint16_t>(x.a >> 48);
}

/// \return false: the memory is not aligned for a Word
template <class Word>
bool store_word(std::byte* to, const std::byte* from) noexcept {
  using at = std::atomic_ref<Word>;
  if (reinterpret_cast<std::uintptr_t>(to) % at::required_alignment != 0) return false;
  Word value;
  std::memcpy(&value, from, sizeof value);
  at(*reinterpret_cast<Word*>(to)).store(value, std::memory_order_release);
  return true;
}

/// One store for a word, because the application may poll it, and write it as soon as it changes.
/// memcpy may store a word twice, and the second store would undo what the application wrote.
void store(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size == 8 && store_word<std::uint64_t>(to, from)) return;
  if (size == 4 && store_word<std::uint32_t>(to, from)) return;
  if (size == 2 && store_word<std::uint16_t>(to, from)) return;
  std::memcpy(to, from, size);
}

}  // namespace

/// Counts an access. Each unanswered access is a read, a grant, or an answer that waits for space.
/// \return false: the peer has begun more than a correct peer does
bool rma_target::admit() noexcept {
  ++connection_->traffic().rma_served;
  return writer_->serving() + grants_.size() + writer_->controls().access_answers() <
         most_outstanding_rma;
}

void rma_target::answer(std::uint16_t id, rma_refusal why, std::uint64_t word) noexcept {
  writer_->send_control(frame_kind::accessed,
                        id | std::uint64_t{static_cast<std::uint8_t>(why)} << 16, word);
}

/// The memory for the bytes of this frame and of the later ones. A put that begins before the
/// region may end in it.
mutable_buffer rma_target::place_of_put(const frame_header& h, const frame_extension& x,
                                        rma_refusal& why) const noexcept {
  const mutable_buffer there =
      regions_->allow({h.tag, rights::write, x.a & size_mask, h.size + (x.b & size_mask)}, why);
  if (why == rma_refusal::none && goes_on_refused(h, id_of(x))) why = rma_refusal::out_of_bounds;
  return there;
}

bool rma_target::goes_on_refused(const frame_header& h, std::uint16_t id) const noexcept {
  return (h.flags & access_continues) != 0 && refused_.contains(id);
}

/// \return false: the peer has named nonexistent regions so often that it is guessing
bool rma_target::may_err(rma_refusal why) noexcept {
  return why != rma_refusal::no_region || ++wrong_keys_ <= most_wrong_keys;
}

/// If one frame of a put is refused, all later ones are.
/// \return false: no memory to remember it, or more puts than a correct peer has begun
bool rma_target::note_refusal(const frame_header& h, std::uint16_t id, rma_refusal why) noexcept {
  const bool ends = (h.flags & (access_ends | access_asks)) != 0;
  if (why == rma_refusal::none || ends) {
    if (!refused_.empty()) refused_.erase(id);
    return true;
  }
  if (refused_.size() == most_outstanding_rma && !refused_.contains(id)) return false;
  try {
    refused_.insert(id);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool rma_target::on_put(const frame_header& h, const frame_extension& x,
                        const std::byte* data) noexcept {
  const std::uint16_t id = id_of(x);
  const bool asks = (h.flags & access_asks) != 0;
  const bool ends = (h.flags & access_ends) != 0;
  if (id == 0 || (asks && (ends || h.size != 0))) return false;
  rma_refusal why = rma_refusal::none;
  const mutable_buffer there = place_of_put(h, x, why);
  if (data && h.size != 0 && why == rma_refusal::none) store(there.data(), data, h.size);
  if (why == rma_refusal::none) connection_->traffic().bytes_put_here += h.size;
  if (!goes_on_refused(h, id) && !may_err(why)) return false;
  if (!note_refusal(h, id, why)) return false;
  if (!asks && !ends) return true;
  std::uint64_t granted = 0;
  const withdrawn before = withdraw(id, &granted);
  if (before == withdrawn::untold || (before == withdrawn::nothing && !admit())) return false;
  // After a grant bytes come in frames only where the link could not copy them.
  if (!asks && h.size == 0) connection_->traffic().bytes_put_here += granted;
  if (asks) {
    if (before == withdrawn::well) return false;
    if (why != rma_refusal::none)
      answer(id, why);
    else if (!connection_->is_open() ||
             !grants(id, h.tag, there.size(), connection_->link()->expect(there)))
      refuse_grant(id);
    return true;
  }
  if (why == rma_refusal::none && (h.flags & access_notifies) != 0 &&
      !regions_->notify(*regions_->find(h.tag), {connection_->id(), x.immediate}))
    why = rma_refusal::unheard;
  answer(id, why);
  return true;
}

bool rma_target::on_get(const frame_header& h, const frame_extension& x) noexcept {
  const std::uint16_t id = id_of(x);
  if (id == 0 || h.size != 0) return false;
  const withdrawn before = withdraw(id);
  if (before == withdrawn::untold || (before == withdrawn::nothing && !admit())) return false;
  rma_refusal why = rma_refusal::none;
  const std::uint64_t offset = x.a & size_mask;
  const mutable_buffer there = regions_->allow({h.tag, rights::read, offset, x.b}, why);
  if (!may_err(why)) return false;
  if (why != rma_refusal::none || x.b == 0) {
    answer(id, why);
    return true;
  }
  if ((h.flags & access_asks) != 0 && connection_->is_open() &&
      grants(id, h.tag, x.b, connection_->link()->expose(there)))
    return true;
  reading r{h.tag, offset, x.b, 0, id};
  const bool at_once = writer_->is_writable() && writer_->controls().empty();
  if (at_once && send_got(r) == post::done) return true;
  if (!serve(r).started) connection_->mark_failed();
  return true;
}

bool rma_target::on_update(const frame_header& h, const frame_extension& x) noexcept {
  using word = std::atomic_ref<std::uint64_t>;
  static_assert(word::is_always_lock_free);
  const std::uint16_t id = id_of(x);
  if (id == 0 || h.size != 0 || !admit()) return false;
  rma_refusal why = rma_refusal::none;
  const mutable_buffer there =
      regions_->allow({h.tag, rights::read_write, x.a & size_mask, sizeof(std::uint64_t)}, why);
  if (!may_err(why)) return false;
  std::uint64_t before = 0;
  if (why == rma_refusal::none &&
      reinterpret_cast<std::uintptr_t>(there.data()) % word::required_alignment != 0)
    why = rma_refusal::misaligned;
  if (why == rma_refusal::none) {
    const word at(*reinterpret_cast<std::uint64_t*>(there.data()));
    if ((h.flags & access_swaps) != 0) {
      before = x.immediate;
      at.compare_exchange_strong(before, x.b);
    } else {
      before = at.fetch_add(x.b);
    }
  }
  answer(id, why, before);
  return true;
}

// --- what the peer's link may do by itself --------------------------------------------------

/// \return false: nothing was granted
bool rma_target::grants(std::uint16_t id, std::uint64_t key, std::uint64_t bytes,
                        std::optional<remote_address> where) noexcept {
  if (!where) return false;
  bool kept = where->packed() != 0;
  try {
    if (kept) grants_[id] = {*where, key, bytes, writer_->controls().added()};
  } catch (const std::bad_alloc&) {
    kept = false;
  }
  if (!kept) {
    connection_->link()->withdraw(*where);
    return false;
  }
  ++regions_->find(key)->granted;
  writer_->send_control(frame_kind::granted, id, where->packed());
  return true;
}

/// The bytes will come in frames, which have an answer of their own.
void rma_target::refuse_grant(std::uint16_t id) noexcept {
  --connection_->traffic().rma_served;
  writer_->send_control(frame_kind::granted, id, 0);
}

/// \param bytes set to those of the grant, if there was one
/// \return untold: the peer cannot know of the grant yet; its frame is made up
rma_target::withdrawn rma_target::withdraw(std::uint16_t id, std::uint64_t* bytes) noexcept {
  const auto found = grants_.find(id);
  if (found == grants_.end()) return withdrawn::nothing;
  const grant g = found->second;
  if (writer_->controls().left() <= g.number) return withdrawn::untold;
  grants_.erase(found);
  if (bytes) *bytes = g.bytes;
  connection_->link()->withdraw(g.where);
  regions_->end_grant(g.key);
  return withdrawn::well;
}

bool rma_target::on_released(const frame_extension& x) noexcept {
  std::uint64_t granted = 0;
  if (x.a > 0xffff || withdraw(static_cast<std::uint16_t>(x.a), &granted) != withdrawn::well)
    return false;
  connection_->traffic().bytes_got_here += granted;
  return true;
}

// --- what the peer reads --------------------------------------------------------------------

/// \return done: all of it has left, or a refusal; posted: others have their turn now
post rma_target::send_got(reading& r) noexcept {
  std::size_t this_turn = 0;
  do {
    if (this_turn >= bytes_per_turn) return post::posted;
    rma_refusal why = rma_refusal::none;
    const const_buffer there = regions_->allow({r.key, rights::read, r.offset, r.size}, why);
    if (why != rma_refusal::none) {  // the region has ended meanwhile
      answer(r.id, why);
      return post::done;
    }
    const std::uint32_t n = next_piece(connection_->link()->traits(), r.sent, r.size - r.sent);
    const bool last = r.sent + n == r.size;
    const frame_header h =
        header_of(frame_kind::got, 0, n,
                  last ? transports::has_extension | access_ends : transports::has_extension);
    const frame_extension x{std::uint64_t{r.id} << 48 | r.sent, 0, 0};
    gather data({&there, 1}, r.sent);
    const post taken = writer_->post(h, &x, data);
    if (taken != post::done) return taken;
    connection_->traffic().bytes_got_here += n;
    r.sent += n;
    this_turn += n;
  } while (r.sent != r.size);
  writer_->wake_peer();
  return post::done;
}

/// Sends the rest when there is space.
protocol_coroutine rma_target::serve(reading r) noexcept {
  const auto alive = connection_->keep_alive();
  writer_->note_serving(+1);
  connection_->want_link();
  while (connection_->now() < peer_connection::state::open) co_await writer_->space();
  post sent = post::busy;
  while (connection_->is_open() && sent != post::done) {
    // Frames that were queued before go first.
    sent = writer_->flush() ? send_got(r) : post::busy;
    if (sent == post::posted) {
      co_await services_->upkeep.yield();
    } else if (sent != post::done) {
      if (!co_await writer_->space()) break;
    }
  }
  writer_->note_serving(-1);
}

mutable_buffer rma_target::place(const frame_header& h, const frame_extension& x,
                                 std::uint32_t already) const noexcept {
  rma_refusal why = rma_refusal::none;
  const mutable_buffer there = place_of_put(h, x, why);
  if (already >= h.size || why != rma_refusal::none) return {};
  return there.subspan(already, h.size - already);
}

detail::time_point rma_target::oldest_end() const noexcept {
  auto oldest = detail::time_point::max();
  for (const auto& [id, g] : grants_) oldest = std::min(oldest, regions_->waits_since(g.key));
  return oldest;
}

void rma_target::fail() noexcept {
  for (const auto& [id, g] : grants_) regions_->end_grant(g.key);
  grants_.clear();
  refused_.clear();
}

}  // namespace weft::proto
