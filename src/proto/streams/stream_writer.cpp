// SPDX-License-Identifier: Apache-2.0
#include "proto/streams/stream_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "proto/match/match.hpp"
#include "proto/streams/stream.hpp"

namespace weft::proto {

using transports::gather;

namespace {

using write_list = detail::buffer_list<const_buffer>;

// A write up to this size tries the short path first, if no write waits.
constexpr std::size_t small_write = 4096;
// Parts of a list that are shorter than this are gathered into one message.
constexpr std::size_t short_part = 512;

// The executor is called instead.
void told_instead(operation&) noexcept {}

}  // namespace

stream_writer::stream_writer(const protocol_services& services, stream& owner,
                             stream_way way) noexcept
    : services_(services),
      owner_(owner),
      data_tag_(stream_data_tag(owner.number(), way)),
      allowance_tag_(stream_allowance_tag(owner.number(), way)) {}

errc stream_writer::status() const noexcept {
  return finished() && failure_ == errc::ok ? errc::closed : fate();
}

/// The status of operations that began before `finish`.
errc stream_writer::fate() const noexcept {
  return failure_ == errc::ok && told_last_ ? errc::closed : failure_;
}

bool stream_writer::any_in_flight() const noexcept {
  return std::ranges::any_of(pieces_, &piece::in_flight);
}

bool stream_writer::over() const noexcept {
  return end_said_ && !end_in_flight_ && !any_in_flight() && !hearing_in_flight_ &&
         (told_last_ || failure_ != errc::ok);
}

/// The result for all written bytes.
errc stream_writer::verdict() const noexcept {
  if (failure_ != errc::ok) return failure_;
  return end_ == ending::whole && news_.limit == written_ ? errc::ok : errc::closed;
}

/// For the message layer a connection is closed; the bytes are lost then, but not by the reader's
/// choice.
void stream_writer::fail(errc why, const char* cause) noexcept {
  if (failure_ != errc::ok) return;
  failure_ = why == errc::closed ? errc::peer_lost : why;
  cause_ = cause;
}

/// Bytes that one more message may carry.
std::size_t stream_writer::room() const noexcept {
  const std::uint64_t units = told_.limit > sent_ ? told_.limit - sent_ : 0;
  if (units < 2 || fate() != errc::ok) return 0;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>((units - 1) * credit_unit, told_.longest));
}

// --- at once -------------------------------------------------------------------------------------

bool stream_writer::put_one(const_buffer data) noexcept {
  peer& to = owner_.with();
  if (!to.try_send_inline(to.id(), data_tag_, data, 0)) return false;
  sent_ += stream_units(data.size());
  written_ += data.size();
  services_.counts.stream_bytes_written += data.size();
  return true;
}

std::size_t stream_writer::put(const write_list& data) noexcept {
  listen(false);
  if (owner_.with().has_ended()) fail(owner_.with().why(), nullptr);
  if (writing_ || finished()) return 0;
  std::size_t done = 0;
  gather rest(data.parts());
  for (;;) {
    const std::size_t most = std::min(room(), owner_.with().sender().small_limit());
    const const_buffer run = rest.run(most);
    if (run.empty()) return done;
    if (run.size() >= short_part || data.single()) {
      if (!put_one(run)) return done;
      done += run.size();
      rest.skip(run.size());
      continue;
    }
    std::array<std::byte, 2 * short_part> together;
    std::size_t n = 0;
    gather ahead = rest;
    const std::size_t fit = std::min(most, together.size());
    for (const_buffer r = ahead.run(fit); !r.empty(); r = ahead.run(fit - n)) {
      std::memcpy(together.data() + n, r.data(), r.size());
      n += r.size();
      ahead.skip(r.size());
    }
    if (!put_one({together.data(), n})) return done;
    done += n;
    rest = ahead;
  }
}

// --- writes that wait ----------------------------------------------------------------------------

bool stream_writer::start(write_operation& op) noexcept {
  op.size = op.data.size();
  op.begun = op.taken = 0;
  op.status = op.cancel_requested ? errc::stopped : writing_ ? errc::invalid_argument : errc::ok;
  if (op.status == errc::ok && finished()) op.status = status();
  if (op.status != errc::ok) return true;
  if (op.size <= small_write) op.begun = op.taken = put(op.data);
  if (op.taken == op.size && op.size != 0) return true;
  writing_ = &op;
  listen(false);
  advance();
  if (write_is_over()) {
    writing_ = nullptr;
    op.status = op.taken == op.size && op.size != 0 ? errc::ok : outcome(op);
    return true;
  }
  services_.engine.pending(op);
  return false;
}

errc stream_writer::outcome(const write_operation& op) const noexcept {
  if (op.size != 0 && op.taken == op.size) return errc::ok;
  if (const errc why = fate(); why != errc::ok) return why;
  return op.taken == op.size ? errc::ok : errc::stopped;
}

bool stream_writer::write_is_over() const noexcept {
  return writing_ && !any_in_flight() &&
         (writing_->begun == writing_->size || writing_->cancel_requested || fate() != errc::ok);
}

/// The length of the next piece. 0: not now
std::size_t stream_writer::next_piece(const write_operation& op) const noexcept {
  const std::size_t wanted = std::min<std::size_t>(op.size - op.begun, told_.longest);
  const std::size_t n = std::min(wanted, room());
  return n < wanted && any_in_flight() ? 0 : n;
}

void stream_writer::advance() noexcept {
  if (!writing_) return;
  write_operation& op = *writing_;
  while (op.begun != op.size && !op.cancel_requested && fate() == errc::ok) {
    const auto p = std::ranges::find(pieces_, false, &piece::in_flight);
    if (p == pieces_.end()) return;
    std::size_t n = next_piece(op);
    if (n == 0) {
      if (!hearing_in_flight_) ++services_.counts.stream_waits;
      listen(true);
      n = next_piece(op);
    }
    if (n == 0) return;
    send_piece(*p, op, n);
  }
}

void stream_writer::send_piece(piece& p, write_operation& op, std::size_t size) noexcept {
  p.at = op.begun;
  p.size = 0;
  std::size_t count = 0;
  gather rest(op.data.parts(), op.begun);
  while (p.size != size && count != p.parts.size()) {
    const const_buffer run = rest.run(size - p.size);
    p.parts[count++] = run;
    p.size += run.size();
    rest.skip(run.size());
  }
  // The peer can read contiguous memory by itself.
  const write_list list = count == 1
                              ? write_list(p.parts[0])
                              : write_list(std::span<const const_buffer>(p.parts.data(), count));
  p.sending.emplace(send_request{&owner_.with(), tag{data_tag_}, list}, &told_instead);
  p.sending->on = this;
  op.begun += p.size;
  sent_ += stream_units(p.size);
  p.in_flight = !p.sending->start_held();
  if (!p.in_flight) ended(p);
}

void stream_writer::ended(piece& p) noexcept {
  p.in_flight = false;
  switch (p.sending->status) {
    case errc::ok:
      writing_->taken += p.size;
      written_ += p.size;
      services_.counts.stream_bytes_written += p.size;
      break;
    case errc::stopped:  // taken back: the reader has got none of it
      sent_ -= stream_units(p.size);
      take_back_last();
      break;
    default:
      fail(p.sending->status, nullptr);
  }
}

/// Tries to cancel the last piece. One at a time: if the reader can still take a piece, it must
/// have taken all before it.
void stream_writer::take_back_last() noexcept {
  piece* last = nullptr;
  for (piece& p : pieces_)
    if (p.in_flight && (!last || p.at > last->at)) last = &p;
  if (last) owner_.with().sender().cancel(*last->sending);
}

void stream_writer::cancel(write_operation& op) noexcept {
  if (std::exchange(op.cancel_requested, true) || writing_ != &op) return;
  take_back_last();
  if (!write_is_over()) return;
  writing_ = nullptr;
  services_.engine.end(op, outcome(op));
  say_end();
  owner_.settle();
}

/// An operation of this half has ended.
void stream_writer::post(operation& what) noexcept {
  const auto keep = owner_.shared_from_this();
  const runtime::engine::holder hold(services_.engine);
  if (hearing_ && &what == &*hearing_) {
    hearing_in_flight_ = false;
    heard();
    if (end_said_) listen(true);
  } else if (end_sending_ && &what == &*end_sending_) {
    end_in_flight_ = false;
    if (what.status != errc::ok) fail(what.status, nullptr);
  } else {
    ended(*std::ranges::find_if(pieces_,
                                [&](const piece& p) { return p.sending && &what == &*p.sending; }));
  }
  advance();
  if (write_is_over()) {
    write_operation& op = *std::exchange(writing_, nullptr);
    services_.engine.end(op, outcome(op));
    say_end();
  }
  owner_.settle();
}

// --- the reader's words, and the end -------------------------------------------------------------

void stream_writer::listen(bool wait) noexcept {
  for (int heard_now = 0; !hearing_in_flight_ && !told_last_ && failure_ == errc::ok; ++heard_now) {
    if (heard_now == most_unheard_allowances)
      return fail(errc::protocol_error, "the peer's reader tells more than a reader has to tell");
    peer& from = owner_.with();
    if (!wait && !services_.matcher.find(&from, {allowance_tag_, ~0ull})) return;
    hearing_.emplace(recv_request{nullptr, &from, tag{allowance_tag_},
                                  std::as_writable_bytes(std::span(&news_, 1))},
                     &told_instead);
    hearing_->on = this;
    hearing_in_flight_ = !hearing_->start_held();
    if (!hearing_in_flight_) heard();
  }
}

void stream_writer::heard() noexcept {
  const errc how = hearing_->status;
  if (how != errc::ok && how != errc::truncated) return fail(how, nullptr);
  if (how == errc::truncated || hearing_->got.size != sizeof news_ ||
      !allowance_follows(news_, told_, !told_first_))
    return fail(errc::protocol_error, "the peer's reader says what no reader says");
  if (news_.longest != 0) {
    told_ = news_;
    told_first_ = true;
    return;
  }
  told_last_ = true;
  if (verdict() != errc::ok) cause_ = "the peer reads no more";
}

void stream_writer::finish(bool all) noexcept {
  if (finished()) return;
  end_ = all ? ending::whole : ending::dropped;
  say_end();
}

void stream_writer::say_end() noexcept {
  if (!finished() || end_said_ || writing_) return;
  end_said_ = true;
  end_sending_.emplace(
      send_request{&owner_.with(), tag{data_tag_}, const_buffer{}, detail::send_mode::standard,
                   end_ == ending::whole ? written_ : stream_dropped},
      &told_instead);
  end_sending_->on = this;
  end_in_flight_ = !end_sending_->start_held();
  if (!end_in_flight_ && end_sending_->status != errc::ok) fail(end_sending_->status, nullptr);
}

}  // namespace weft::proto
