// SPDX-License-Identifier: Apache-2.0
#include "proto/streams/stream_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/match/match.hpp"
#include "proto/streams/stream.hpp"

namespace weft::proto {

using runtime::trace;
using transports::scatter;

namespace {

using read_list = detail::buffer_list<mutable_buffer>;

// The executor is called instead.
void never(operation&) noexcept {}

/// The pieces of a list from `offset` on, as many as fit into `parts`, and behind them `staging`.
/// \return bytes of the list that they cover
std::size_t lay_out(const read_list& list, std::size_t offset, mutable_buffer staging,
                    std::array<mutable_buffer, stream_read_operation::most_parts + 1>& parts,
                    std::size_t& count) noexcept {
  std::size_t covered = 0;
  count = 0;
  scatter rest(list.parts(), offset);
  while (count != parts.size() - 1) {
    const mutable_buffer run = rest.run(list.size());
    if (run.empty()) break;
    parts[count++] = run;
    covered += run.size();
    rest.skip(run.size());
  }
  parts[count++] = staging;
  return covered;
}

}  // namespace

stream_reader::stream_reader(const protocol_services& services, stream& owner, stream_way way,
                             std::size_t window)
    : services_(services),
      owner_(owner),
      data_tag_(stream_data_tag(owner.number(), way)),
      allowance_tag_(stream_allowance_tag(owner.number(), way)),
      longest_(static_cast<std::uint32_t>(window / stream_pieces)),
      staging_(std::make_unique_for_overwrite<std::byte[]>(longest_)) {}

errc stream_reader::fate() const noexcept {
  if (staged() != 0) return errc::ok;
  return ended_ || left_ ? errc::closed : failure_;
}

errc stream_reader::status() const noexcept { return ahead_.empty() || left_ ? fate() : errc::ok; }

errc stream_reader::outcome(const read_operation& op) const noexcept {
  if (op.got >= op.least) return errc::ok;
  if (at_end() && op.least == 1) return errc::ok;
  if (at_end()) return op.got == 0 ? errc::closed : errc::protocol_error;
  const errc why = fate();
  return why == errc::ok ? errc::stopped : why;
}

bool stream_reader::over() const noexcept {
  return left_ && (ended_ || failure_ != errc::ok) && !own_in_flight_ && !telling_in_flight_;
}

/// For the message layer a connection is closed; the stream has then ended before its end.
void stream_reader::fail(errc why, const char* cause) noexcept {
  if (failure_ != errc::ok) return;
  failure_ = why == errc::closed ? errc::peer_lost : why;
  cause_ = cause;
  tell();
}

// --- what has come -------------------------------------------------------------------------------

/// A message has been received into `room` bytes of the caller and, beyond them, into staging.
/// \return bytes in the caller's memory
std::size_t stream_reader::landed(const recv_operation& r, std::size_t room) noexcept {
  const bool dropped = left_ && r.status == errc::truncated;
  // A longer message can also fit, where memory of the caller lies before staging.
  if ((r.status == errc::truncated && !dropped) || r.got.size > longest_) {
    fail(errc::protocol_error, "a message is longer than the peer was told to send");
    return 0;
  }
  if (r.status != errc::ok && !dropped) {
    fail(r.status, nullptr);
    return 0;
  }
  const std::size_t size = r.got.size;
  if (size == 0 && r.got.immediate == stream_dropped) {
    fail(errc::peer_lost, "the peer let go of the stream before its end");
    return 0;
  }
  if (size == 0 && r.got.immediate == received_) {
    ended_ = true;
    tell();
    return 0;
  }
  came_ += stream_units(size);
  if (size == 0 || (!told_last_ && came_ > allowed_)) {
    fail(errc::protocol_error, size == 0 ? "the end tells of more or less than has come"
                                         : "the peer writes more than it was told to");
    return 0;
  }
  received_ += size;
  metrics& counts = services_.counts;
  counts.stream_bytes_read += size;
  const std::size_t here = left_ ? 0 : std::min(size, room);
  handed_out_ += here;
  staged_begin_ = 0;
  staged_end_ = left_ ? 0 : size - here;
  staged_units_ = staged_end_ == 0 ? 0 : stream_units(size);
  return here;
}

/// Fills the list from `offset` on with all bytes that have arrived completely.
/// \param may_stage moves a message that is still arriving to staging, so that a later call finds
///   it
std::size_t stream_reader::fill(const read_list& into, std::size_t offset,
                                bool may_stage) noexcept {
  const std::size_t size = into.size();
  std::size_t n = offset;
  for (int messages = 0;; ++messages) {
    n += unstage(into, n);
    if (messages == stream_slice || n == size || staged() != 0 || ended_ || left_ ||
        failure_ != errc::ok || own_in_flight_ || reading_)
      break;
    inbound_message* const m = services_.matcher.find(&owner_.with(), {data_tag_, ~0ull});
    if (!m) {
      if (owner_.with().has_ended()) fail(owner_.with().why(), nullptr);
      break;
    }
    if (m->ready(owner_.with().has_ended())) {
      std::array<mutable_buffer, read_operation::most_parts + 1> parts;
      std::size_t count = 0;
      const std::size_t room = lay_out(into, n, {staging_.get(), longest_}, parts, count);
      recv_operation landing({nullptr, &owner_.with(), tag{data_tag_},
                              std::span<const mutable_buffer>(parts.data(), count)},
                             &never);
      owner_.with().receiver().deliver(*m, landing);
      n += landed(landing, room);
    } else if (may_stage) {
      land_in_staging();
    } else {
      break;
    }
  }
  grant();
  return n - offset;
}

/// Takes bytes that were read ahead.
std::size_t stream_reader::unread(const read_list& into) noexcept {
  if (left_ || reading_) return 0;
  const std::size_t n = std::min(ahead_.size(), into.size());
  if (n == 0) return 0;
  scatter rest(into.parts());
  copy_in(rest, ahead_.bytes().data(), n);
  ahead_.take(n);
  return n;
}

std::size_t stream_reader::unstage(const read_list& into, std::size_t offset) noexcept {
  const std::size_t n = std::min(staged(), into.size() - offset);
  if (n == 0) return 0;
  scatter rest(into.parts(), offset);
  copy_in(rest, staging_.get() + staged_begin_, n);
  staged_begin_ += n;
  handed_out_ += n;
  if (staged() == 0) staged_units_ = 0;
  return n;
}

void stream_reader::land_in_staging() noexcept {
  own_.emplace(recv_request{nullptr, &owner_.with(), tag{data_tag_},
                            mutable_buffer(staging_.get(), longest_)},
               &never);
  own_->on = this;
  own_in_flight_ = !own_->start_held();
  if (!own_in_flight_) landed(*own_, 0);
}

// --- reads that wait -----------------------------------------------------------------------------

bool stream_reader::start(read_operation& op) noexcept {
  op.got = 0;
  op.status = op.cancel_requested ? errc::stopped : reading_ ? errc::invalid_argument : errc::ok;
  if (op.status != errc::ok) return true;
  if (op.ahead != 0) {
    op.into = ahead_.room(op.ahead);
    if (op.into.size() == 0) op.status = errc::out_of_memory;
  }
  if (op.into.size() == 0) return true;
  if (op.ahead == 0) op.got = unread(op.into);
  if (!await_message(op)) return false;
  op.status = outcome(op);
  if (op.ahead != 0) ahead_.filled(op.got);
  return true;
}

/// Reads what has come, and waits for more if the read needs it. \return true: it is over
bool stream_reader::await_message(read_operation& op) noexcept {
  for (;;) {
    op.got += fill(op.into, op.got, false);
    if (is_over(op) || op.cancel_requested) return true;
    reading_ = &op;
    if (own_in_flight_) {
      services_.engine.pending(op);
      return false;
    }
    std::size_t count = 0;
    op.direct = lay_out(op.into, op.got, {staging_.get(), longest_}, op.parts, count);
    op.landing.emplace(recv_request{nullptr, &owner_.with(), tag{data_tag_},
                                    std::span<const mutable_buffer>(op.parts.data(), count)},
                       &never);
    op.landing->on = this;
    if (!op.landing->start_held()) return false;
    reading_ = nullptr;
    op.got += landed(*op.landing, op.direct);
  }
}

/// A message has landed: the waiting read ends, or waits for the next one.
/// \param counted the engine counts the read as pending, and not its landing
void stream_reader::goes_on(bool counted) noexcept {
  read_operation& op = *std::exchange(reading_, nullptr);
  if (counted) services_.engine.withdraw(op);
  if (!await_message(op)) return;
  if (op.ahead != 0) ahead_.filled(op.got);
  services_.engine.end_unposted(op, outcome(op));
}

void stream_reader::cancel(read_operation& op) noexcept {
  op.cancel_requested = true;
  if (reading_ == &op) give_back(errc::stopped);
}

/// The caller gets the memory back; bytes that would have come there come later.
void stream_reader::give_back(errc status) noexcept {
  read_operation& op = *reading_;
  if (own_in_flight_) {
    reading_ = nullptr;
    services_.engine.end(op, status);
  } else if (op.landing->queued) {
    reading_ = nullptr;
    services_.matcher.withdraw(*op.landing);
    services_.engine.withdraw(*op.landing);
    services_.engine.end_unposted(op, status);
  } else if (inbound_message* const m = op.landing->message) {
    // A link that may be writing there is not stopped: the read ends with the bytes that it writes.
    if (m->in_hands_of_link()) return;
    reading_ = nullptr;
    move_to_staging(*m, op);
    services_.engine.end_unposted(op, status);
  }  // else it has landed, and `post` is about to be told
}

void stream_reader::move_to_staging(inbound_message& m, read_operation& op) noexcept {
  const std::size_t all = std::min<std::size_t>(m.total, longest_);
  const std::size_t beginning = std::min(all, op.direct);
  std::byte* const staging = staging_.get();
  std::memmove(staging + beginning, staging, all - beginning);
  scatter to(op.landing->into.parts());
  for (std::size_t n = 0; n != beginning;) {
    const mutable_buffer run = to.run(beginning - n);
    std::memcpy(staging + n, run.data(), run.size());
    n += run.size();
    to.skip(run.size());
  }
  own_.emplace(
      recv_request{nullptr, &owner_.with(), tag{data_tag_}, mutable_buffer(staging, longest_)},
      &never);
  own_->on = this;
  own_in_flight_ = true;  // pending in place of the read's landing
  m.divert(*own_);
}

/// An operation of this half has ended.
void stream_reader::post(operation& ended) noexcept {
  const auto keep = owner_.shared_from_this();
  const runtime::engine::holder hold(services_.engine);
  if (telling_ && &ended == &*telling_) {
    telling_in_flight_ = false;
    if (std::exchange(tell_again_, false)) tell();
  } else if (own_ && &ended == &*own_) {
    own_in_flight_ = false;
    landed(*own_, 0);
    if (left_)
      discard();
    else if (reading_)
      goes_on(true);
  } else {
    reading_->got += landed(*reading_->landing, reading_->direct);
    goes_on(false);
    if (left_) discard();
  }
  owner_.settle();
}

// --- what the writer is told ---------------------------------------------------------------------

/// Allows a window's worth of units beyond the reader's position, if that is much more than was
/// allowed.
void stream_reader::grant() noexcept {
  const std::uint64_t piece = stream_units(longest_);
  const std::uint64_t limit = came_ - staged_units_ + stream_pieces * piece;
  if (limit - allowed_ < piece || told_last_) return;
  allowed_ = limit;
  tell();
}

/// Tells the writer the present state. One message at a time; a change meanwhile is told
/// afterwards.
void stream_reader::tell() noexcept {
  if (told_last_) return;
  if (telling_in_flight_) {
    tell_again_ = true;
    return;
  }
  told_last_ = ended_ || left_ || failure_ != errc::ok;
  news_.longest = told_last_ ? 0 : longest_;
  news_.limit = told_last_ ? handed_out_ : allowed_;
  telling_.emplace(
      send_request{&owner_.with(), tag{allowance_tag_}, std::as_bytes(std::span(&news_, 1))},
      &never);
  telling_->on = this;
  telling_in_flight_ = !telling_->start_held();
}

void stream_reader::leave() noexcept {
  if (left_.exchange(true)) return;
  if (reading_) give_back(errc::closed);
  staged_begin_ = staged_end_ = 0;
  tell();
  if (!reading_) discard();
}

/// Receives further bytes and drops them, up to the end.
void stream_reader::discard() noexcept {
  if (discarding_later_) return;
  for (int messages = 0; !own_in_flight_ && !ended_ && failure_ == errc::ok; ++messages) {
    if (messages == stream_slice) {
      discarding_later_ = discard_later(owner_.shared_from_this()).started;
      if (!discarding_later_) fail(errc::out_of_memory, nullptr);
      return;
    }
    own_.emplace(recv_request{nullptr, &owner_.with(), tag{data_tag_}, mutable_buffer{}}, &never);
    own_->on = this;
    own_in_flight_ = !own_->start_held();
    if (!own_in_flight_) landed(*own_, 0);
  }
}

/// Lets others have their turn first.
protocol_coroutine stream_reader::discard_later(std::shared_ptr<stream> keep) noexcept {
  co_await services_.upkeep.yield();
  discarding_later_ = false;
  discard();
  keep->settle();
}

}  // namespace weft::proto
