// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/pair.hpp"

#include <fmt/format.h>
#include <cstring>
#include <utility>

#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

namespace {

queue_pair_address address_of(const device& d, const queue_pair& on, const inbox& in) {
  const place& here = d.here();
  return {magic,
          version,
          here.lid,
          on.number(),
          random_psn(),
          here.mtu,
          static_cast<std::uint8_t>(here.ethernet ? 1 : 0),
          static_cast<std::uint8_t>(window),
          d.can().reads_at_once,
          slot_bytes,
          here.gid,
          in.bytes(),
          in.key()};
}

}  // namespace

pair::pair(verbs_transport& owner, transports::frame_sink& peer, counterpart who,
           std::uint32_t number)
    : owner_(owner),
      frame_sink_(peer),
      who_(std::move(who)),
      number_(number),
      inbox_(owner.make_inbox()),
      queue_(owner.device().make_queue_pair(), owner.pool(), number),
      transfers_(queue_, owner.cache(), owner.device()),
      addresses_(address_of(owner.device(), queue_.on(), inbox_)) {
  owner.completed().add(*this);
}

pair::~pair() {
  stage_ = stage::reported;
  owner_.completed().forget(*this);
}

// --- meeting -------------------------------------------------------------------------------------

/// Takes the peer's queue pair address, from its offer or its answer. \return empty, or why it is
/// refused
std::string pair::meet(const wireup_message& p) {
  queue_pair_address there;
  if (std::string why = addresses_.check(p, there); !why.empty()) return why;
  if (addresses_.theirs()) return {};
  if (has_ended()) return "the connection has ended";
  if (std::string why =
          queue_.on().connect(there, addresses_.mine().first_psn, owner_.peer_timeout());
      !why.empty())
    return why;
  addresses_.met(there);
  stage_ = stage::up;
  return {};
}

std::unique_ptr<send_link> pair::open(wireup_message& offer) {
  if (has_ended()) throw error(errc::unreachable, "the connection has ended");
  auto made = std::make_unique<send_link>(*this);
  offer = addresses_.message();
  link_ = made.get();
  return made;
}

std::string pair::accept(const wireup_message& offer, wireup_message& answer) {
  if (accepted_) return "it may send already";
  if (std::string why = meet(offer); !why.empty()) return why;
  answer = addresses_.message();
  accepted_ = true;
  return {};
}

std::string pair::take_answer(const wireup_message& answer) {
  // A connection that was made and broke meanwhile ends the peer: no other transport is tried then.
  return has_ended() && addresses_.theirs() ? "" : meet(answer);
}

// --- sending -------------------------------------------------------------------------------------

std::byte* pair::begin_frame(std::size_t bytes) noexcept {
  return open_for_work() && has_room(bytes) ? queue_.begin(bytes) : nullptr;
}

post pair::end_frame(std::size_t bytes) noexcept {
  if (const int code =
          queue_.post(bytes, port_.read(), place_in_inbox(*addresses_.theirs(), ahead_.next()));
      code != 0) {
    broke(std::strerror(code));
    return post::failed;
  }
  port_.told();
  ahead_.sent();
  return post::done;
}

post pair::not_now(std::size_t bytes) noexcept {
  return open_for_work() ? wait_for_room(bytes, 1) : post::failed;
}

post pair::wait_for_room(std::size_t bytes, std::uint32_t places) noexcept {
  room_for_ = bytes;
  places_for_ = places;
  owner_.wants_room(*this);
  return post::busy;
}

bool pair::notify_writable() noexcept {
  const bool has_use = connected() && link_;
  if (has_use &&
      (!ahead_.is_worth_a_call() || !has_room(room_for_) || queue_.places() < places_for_))
    return false;
  waits_for_room = false;
  if (has_use) frame_sink_.on_writable();
  return true;
}

/// Frames of the transport are not counted: they block no other frame, and there are few. They have
/// no slot in an inbox, so they are always sent.
bool pair::post_own(own_kind kind) noexcept {
  const frame_header h{0, 0, static_cast<std::uint8_t>(kind), 0, 0};
  if (!queue_.has_room(sizeof h)) return false;
  std::memcpy(queue_.begin(sizeof h), &h, sizeof h);
  if (const int code = queue_.post(sizeof h, port_.read(), {}); code != 0)
    broke(std::strerror(code));
  else
    port_.told();
  return true;
}

bool pair::pay() noexcept {
  if (!open_for_work() || port_.owed() < window / 2) return true;
  return post_own(own_kind::credit);
}

// --- memory --------------------------------------------------------------------------------------

bool pair::can_read() const noexcept {
  return open_for_work() && addresses_.mine().reads_at_once != 0 &&
         addresses_.theirs()->reads_at_once != 0;
}

post pair::begun(post answer, int trouble) noexcept {
  if (trouble != 0) broke(std::strerror(trouble));
  return answer == post::busy ? wait_for_room(0, transfers::most_works) : answer;
}

post pair::read(scatter into, remote_address from, std::size_t size,
                std::uint64_t cookie) noexcept {
  int trouble = 0;
  if (!can_read()) return post::failed;
  return begun(transfers_.read(into, from, size, cookie, trouble), trouble);
}

post pair::write(gather data, remote_address to, std::size_t size, std::uint64_t cookie) noexcept {
  int trouble = 0;
  if (!can_write()) return post::failed;
  return begun(transfers_.write(data, to, size, cookie, trouble), trouble);
}

std::optional<remote_address> pair::show(std::span<std::byte> memory, memory_access how) noexcept {
  return open_for_work() ? transfers_.show(memory, how) : std::nullopt;
}

void pair::sent(std::uint32_t place) noexcept {
  queue_.done(place);
  transfers_.done(place, frame_sink_);
}

/// The work has ended with an error all the same, so its memory is free again.
void pair::failed(std::uint32_t place, std::string_view what) noexcept {
  queue_.done(place);
  broke(what);
}

// --- receiving -----------------------------------------------------------------------------------

void pair::received(std::span<const std::byte> bytes, std::uint32_t peer_has_read) noexcept {
  if (stage_ == stage::reported) return;
  if (!ahead_.take(peer_has_read)) return end(errc::protocol_error);
  if (port_.take(bytes, accepted_ ? &frame_sink_ : nullptr) == port::verdict::nonsense)
    return end(errc::protocol_error);
  if (port_.owed() >= window / 2) owner_.owes(*this);
}

std::string pair::describe() const {
  if (stage_ == stage::alone) return "being connected";
  if (has_ended()) return trouble_.empty() ? "the connection has ended" : trouble_;
  return addresses_.describe();
}

}  // namespace weft::transports::verbs
