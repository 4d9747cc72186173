// SPDX-License-Identifier: Apache-2.0
// An endpoint's messages, with and without tags. fi_msg(3), fi_tagged(3).
#include <algorithm>
#include <cstring>

#include "bindings/ofi/endpoint/posting.hpp"

namespace weft::ofi {

namespace {

std::uint64_t kind_of(std::uint64_t tag) noexcept {
  return (tag & untagged) != 0 ? FI_MSG : FI_TAGGED;
}

/// Takes a received message off a multi_buffer. \return whether the buffer has come to its end
bool uses_up(multi_buffer& b, std::size_t size, std::size_t least) noexcept {
  b.rest = b.rest.subspan(std::min(size, b.rest.size()));
  return b.rest.size() < std::max<std::size_t>(least, 1);
}

record about(const message_call& m, endpoint& of, record::kind what, std::uint64_t flags) noexcept {
  record r;
  r.owner = &of;
  r.context = m.context;
  r.what = what;
  r.flags = flags | kind_of(m.tag);
  r.tag = m.tag;
  if (!m.pieces.empty()) r.buffer = m.pieces.front().iov_base;
  r.room = size_of(m.pieces);
  return r;
}

}  // namespace

// --- ends, with the external loop held ------------------------------------------------------

void endpoint::note_end(record& r) noexcept {
  const bool receive = r.what == record::kind::receive;
  if (receive) in_flight_.remove(r);
  if (is_sent(r)) --sending_;
  const direction& d = bound_.of(r);
  if (r.multi && (r.error != 0 || uses_up(*r.multi, r.size, least_room_))) r.flags |= FI_MULTI_RECV;
  if (d.counted) d.counted->count(r.error == 0);
  if (is_told(r))
    d.ended->waiting.push(r);
  else if (!r.pinned)
    recycle(r);
}

/// A failure is reported even if no entry was requested; a buffer goes on only when its last end is
/// read.
bool endpoint::is_told(const record& r) const noexcept {
  return bound_.of(r).queue && (r.tells || r.error != 0 || r.multi);
}

void endpoint::recycle(record& r) noexcept {
  if (r.multi && (r.flags & FI_MULTI_RECV) != 0) delete r.multi;
  slots_.give_back(slot::around(r));
}

// --- posting ---------------------------------------------------------------------------------

slot* endpoint::take_slot() noexcept {
  try {
    return &slots_.take();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

ssize_t endpoint::send(const message_call& m) noexcept {
  const weft::endpoint* const to = peers_ ? peers_->find(m.peer) : nullptr;
  const bool injected = (m.flags & FI_INJECT) != 0;
  if (!to || m.pieces.size() > most_pieces) return -FI_EINVAL;
  if (injected && size_of(m.pieces) > inject_size) return -FI_EINVAL;
  const bool synchronous = (m.flags & FI_DELIVERY_COMPLETE) != 0;
  const bool tells = !m.silent && bound_.sends.wants_entry(m.flags);

  external_loop::progress_guard hold(*external_loop_);
  if (injected && !tells && !synchronous && m.pieces.size() == 1 &&
      hold.try_send(*to, buffer_of(m.pieces.front()), tag{m.tag}, m.data)) [[likely]] {
    if (bound_.sends.counted) bound_.sends.counted->count(true);
    return 0;
  }
  record its = about(m, *this, record::kind::send, FI_SEND);
  its.size = its.room;
  its.tells = tells;
  slot* const memory = take_slot();
  if (!memory) return -FI_ENOMEM;
  send_request request{{nullptr, no_peer}, tag{m.tag}, const_buffer()};
  if (injected) {
    std::byte* at = memory->copied.data();
    for (const iovec& p : m.pieces) {
      if (p.iov_len != 0) std::memcpy(at, p.iov_base, p.iov_len);
      at += p.iov_len;
    }
    request = to->send(const_buffer(memory->copied.data(), its.room), tag{m.tag}, m.data);
  } else if (m.pieces.size() <= 1) {
    request = to->send(const_buffer(static_cast<const std::byte*>(its.buffer), its.room),
                       tag{m.tag}, m.data);
  } else {
    for (std::size_t i = 0; i != m.pieces.size(); ++i)
      memory->sent_pieces[i] = buffer_of(m.pieces[i]);
    request = to->send(std::span<const const_buffer>(memory->sent_pieces.data(), m.pieces.size()),
                       tag{m.tag}, m.data);
  }
  if (synchronous) request.mode = detail::send_mode::synchronous;
  post<send_record>(hold, *memory, its, request);
  return 0;
}

recv_request endpoint::receive_request(slot& memory, const message_call& m,
                                       const weft::endpoint* from) noexcept {
  const tag_mask wanted(m.tag, ~m.ignore);
  if (m.pieces.size() > 1) {
    for (std::size_t i = 0; i != m.pieces.size(); ++i)
      memory.received_pieces[i] = {static_cast<std::byte*>(m.pieces[i].iov_base),
                                   m.pieces[i].iov_len};
    const std::span<const mutable_buffer> list(memory.received_pieces.data(), m.pieces.size());
    return from ? from->recv(list, wanted) : context_->recv(list, wanted);
  }
  const mutable_buffer one =
      m.pieces.empty() ? mutable_buffer()
                       : mutable_buffer(static_cast<std::byte*>(m.pieces.front().iov_base),
                                        m.pieces.front().iov_len);
  return from ? from->recv(one, wanted) : context_->recv(one, wanted);
}

ssize_t endpoint::receive(const message_call& m) noexcept {
  if (!external_loop_ || m.pieces.size() > most_pieces) return -FI_EINVAL;
  if ((m.flags & FI_PEEK) != 0) return peek(m);
  if ((m.flags & FI_CLAIM) != 0) return receive_claimed(m);
  return receive_in_turn(m);
}

ssize_t endpoint::receive_in_turn(const message_call& m) noexcept {
  const weft::endpoint* const from = directed(m) ? peers_->find(m.peer) : nullptr;
  if (directed(m) && !from) return -FI_EINVAL;
  record its = about(m, *this, record::kind::receive, FI_RECV);
  its.tells = bound_.receives.wants_entry(m.flags);
  if ((m.flags & FI_MULTI_RECV) != 0) {
    if (m.pieces.size() != 1 || kind_of(m.tag) != FI_MSG) return -FI_EINVAL;
    const int made = guarded([&] {
      its.multi = new multi_buffer({static_cast<std::byte*>(its.buffer), its.room}, its);
      its.multi->from = m.peer;
      return 0;
    });
    if (made != 0) return made;
  }
  external_loop::progress_guard hold(*external_loop_);
  slot* const memory = take_slot();
  if (!memory) {
    delete its.multi;
    return -FI_ENOMEM;
  }
  post<receive_record>(hold, *memory, its, receive_request(*memory, m, from));
  return 0;
}

/// With the external loop held.
void endpoint::unpin(record& r) noexcept {
  r.pinned = false;
  if (r.ended && !is_told(r)) recycle(r);
}

/// Called when the buffer's last message was read: receives into the rest. Without memory the
/// buffer ends here, with a warning.
void endpoint::renew(multi_buffer& b) noexcept {
  record its = b.about;
  its.multi = &b;
  its.buffer = b.rest.data();
  its.room = b.rest.size();
  const iovec rest{b.rest.data(), b.rest.size()};
  const message_call m{{&rest, 1}, b.from, its.tag, 0, 0, its.context, 0};
  const weft::endpoint* const from = directed(m) ? peers_->find(m.peer) : nullptr;
  external_loop::progress_guard hold(*external_loop_);
  if (closed_) {
    delete &b;
    return;
  }
  slot* const memory = take_slot();
  if (!memory) return warn("no memory to receive into the rest of a buffer of FI_MULTI_RECV");
  post<receive_record>(hold, *memory, its, receive_request(*memory, m, from));
}

// --- peeking and claiming: fi_tagged(3) ------------------------------------------------------

/// Makes a completion without an operation.
ssize_t endpoint::tell(const record& its) noexcept {
  const external_loop::progress_guard hold(*external_loop_);
  slot* const memory = take_slot();
  if (!memory) return -FI_ENOMEM;
  record& told = *::new (static_cast<void*>(memory->memory.data())) record(its);
  bound_.receives.ended->waiting.push(told);
  return 0;
}

ssize_t endpoint::peek(const message_call& m) noexcept {
  if (!bound_.receives.queue) return -FI_ENOCQ;
  const weft::endpoint* const from = directed(m) ? peers_->find(m.peer) : nullptr;
  if (directed(m) && !from) return -FI_EINVAL;
  const tag_mask wanted(m.tag, ~m.ignore);
  const bool takes = (m.flags & (FI_CLAIM | FI_DISCARD)) != 0;
  std::optional<claimed_message> claimed;
  std::optional<received> found;
  {
    const external_loop::call here(*external_loop_);
    if (takes) {
      claimed = from ? from->try_claim(wanted) : context_->try_claim(wanted);
      if (claimed) found = claimed->about();
    } else {
      found = from ? from->try_probe(wanted) : context_->try_probe(wanted);
    }
    if (claimed && (m.flags & FI_DISCARD) != 0) claimed->discard();
  }
  record its = about(m, *this, record::kind::told, FI_RECV);
  if (found) {
    tell_message(its, *found);
    its.room = its.size;  // nothing is truncated: the caller asked for the length
    if ((m.flags & (FI_CLAIM | FI_DISCARD)) == FI_CLAIM) {
      const int kept = guarded([&] {
        claims_.add(m.context, std::move(*claimed));
        return 0;
      });
      if (kept != 0) return kept;
    }
  } else {
    its.error = FI_ENOMSG;
  }
  return tell(its);
}

ssize_t endpoint::receive_claimed(const message_call& m) noexcept {
  std::optional<claimed_message> claimed = claims_.take(m.context);
  if (!claimed) return -FI_EINVAL;
  record its = about(m, *this, record::kind::claimed, FI_RECV);
  its.tells = bound_.receives.wants_entry(m.flags);
  if ((m.flags & FI_DISCARD) != 0) {
    tell_message(its, claimed->about());
    {
      const external_loop::call here(*external_loop_);
      claimed->discard();
    }
    its.what = record::kind::told;
    return its.tells ? tell(its) : 0;
  }
  external_loop::progress_guard hold(*external_loop_);
  slot* const memory = take_slot();
  if (!memory) return -FI_ENOMEM;
  if (m.pieces.size() > 1) {
    const auto request = receive_request(*memory, m, nullptr);
    post<claimed_record>(hold, *memory, its, claimed->recv(request.into.parts()));
  } else {
    post<claimed_record>(
        hold, *memory, its,
        claimed->recv(mutable_buffer(static_cast<std::byte*>(its.buffer), its.room)));
  }
  return 0;
}

/// \return 0: the receive will end with FI_ECANCELED; else it has ended, or a message has met it
///   already
ssize_t endpoint::cancel(fid_t f, void* context) noexcept {
  endpoint& self = object_of<endpoint, fid_ep>(f);
  if (!self.external_loop_) return -FI_EOPBADSTATE;
  record* found = nullptr;
  {
    const external_loop::progress_guard hold(*self.external_loop_);
    for (found = self.in_flight_.first(); found && found->context != context;) found = found->after;
    if (!found) return -FI_ENOENT;
    found->pinned = true;  // its memory must not be used for another operation meanwhile
  }
  const bool withdrawn = self.external_loop_->withdraw(receive_record::of(*found));
  const external_loop::progress_guard hold(*self.external_loop_);
  self.unpin(*found);
  return withdrawn ? 0 : -FI_ENOENT;
}

}  // namespace weft::ofi
