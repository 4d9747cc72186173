// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transports/fake/link.hpp"

namespace weft::transports::fake {

fake_transport::fake_transport(world& where, node n, runtime::engine& e, const manner& how)
    : world_(where),
      self_(n),
      manner_(how),
      traits_{.name = how.name,
              .max_payload = how.max_payload,
              .fragment = how.fragment,
              .announced_beyond = how.announced_beyond,
              .shares_memory = how.views,
              .fails_in_order = how.fails_in_order,
              .chains_fin = how.chains,
              .measures_payloads = how.measures} {
  if (world_.settings_.real_time) bell_.emplace();
  worth_watching = bell_.has_value();
  world_.enter(n, e, *this);
}

fake_transport::~fake_transport() { world_.leave(self_, *this); }

std::string fake_transport::reach(bool is_self) const {
  return is_self ? "`fake` reaches others only" : "";
}

std::unique_ptr<link> fake_transport::open(frame_sink& from, const counterpart&,
                                           wireup_message& offer) {
  const auto held = world_.lock();
  auto w = std::make_shared<wire>();
  w->from = self_;
  w->how = manner_;
  w->sender = &from;
  out_.push_back(w.get());
  const std::uint64_t number = world_.offer(w);
  offer.bytes.resize(sizeof number);
  std::memcpy(offer.bytes.data(), &number, sizeof number);
  return std::make_unique<fake_link>(*this, std::move(w));
}

std::string fake_transport::accept(frame_sink& to, const counterpart&, wireup_message offer,
                                   wireup_message&) {
  std::uint64_t number = 0;
  if (offer.bytes.size() != sizeof number) return "the offer is not from this world";
  std::memcpy(&number, offer.bytes.data(), sizeof number);
  const auto held = world_.lock();
  std::shared_ptr<wire> w = world_.take_offer(number);
  if (!w) return "nobody made that offer";
  if (!world_.alive(w->from)) return "who made that offer is dead";
  if (w->how.name != manner_.name) return "the offer is of another transport";
  w->to = self_;
  w->receiver = &to;
  in_.push_back(std::move(w));
  return {};
}

post fake_transport::append(wire& w, const frame_header& header, const frame_extension* extension,
                            gather& data, bool may_hold) noexcept {
  const auto held = world_.lock();
  if (w.broken || dead_) return post::failed;
  if (w.frames.size() + w.vanished >= manner_.room || w.held) {
    w.refused = true;
    world_.tell(happening::refused, w, {world_.elapsed(), header, false, {}, {}, 0, {}});
    return post::busy;
  }
  const std::uint64_t number = w.sent;
  wire::frame f{world_.arrival(w),
                header,
                extension != nullptr,
                extension ? *extension : frame_extension{},
                std::vector<std::byte>(header.size),
                number,
                {}};
  if (!w.frames.empty()) f.due = std::max(f.due, w.frames.back().due);
  f.due = std::max(f.due, w.last_put);
  const bool holds = may_hold && manner_.holds && header.size != 0 && !w.deaf;
  const gather kept = data;
  if (holds)
    data.skip(header.size);
  else
    take(data, f.payload);
  if (w.deaf) {
    ++w.vanished;
    return post::done;
  }
  const std::size_t before = w.frames.size();
  w.frames.push_back(std::move(f));
  if (world_.tamper) world_.tamper(w);
  for (std::size_t i = before; i < w.frames.size(); ++i)
    world_.tell(happening::posted, w, w.frames[i]);
  if (holds && w.frames.size() != before) w.held = kept;
  world_.wake(w.to);
  return holds ? post::posted : post::done;
}

/// Also delivers frames that are not due yet, for the news of the sender's end came after them.
void fake_transport::forget(frame_sink& from) noexcept {
  const auto held = world_.lock();
  for (const std::shared_ptr<wire>& w : in_)
    if (w->receiver == &from) deliver(*w, w->how.room, time::max());
  for (const std::shared_ptr<wire>& w : in_)
    if (w->receiver == &from) w->receiver = nullptr;
  std::erase_if(in_, [](const auto& w) { return !w->receiver; });
  std::erase(lost_, &from);
}

std::optional<time> fake_transport::next_moment() const noexcept {
  std::optional<time> next;
  const auto consider = [&next](time when) {
    if (!next || when < *next) next = when;
  };
  for (const std::shared_ptr<wire>& w : in_)
    if (!w->frames.empty() && !w->stuck) consider(w->frames.front().due);
  for (const wire* w : out_)
    if (!w->transfers.empty()) consider(w->transfers.front().due);
  return next;
}

void fake_transport::die(bool told) noexcept {
  dead_ = true;
  for (wire* w : out_) {
    if (!told) world_.land(*w, time::max());
    w->transfers.clear();
  }
  if (!told) return;
  for (const std::shared_ptr<wire>& w : in_) {
    w->drop_frames();
    w->broken = true;
  }
}

void fake_transport::lose(node other, bool known) {
  const auto remember = [this](frame_sink* who) {
    if (std::find(lost_.begin(), lost_.end(), who) == lost_.end()) lost_.push_back(who);
  };
  for (const std::shared_ptr<wire>& w : in_) {
    if (w->from != other) continue;
    if (!known) w->vanished += w->frames.size();
    w->drop_frames();
    (known ? w->broken : w->deaf) = true;
    remember(w->receiver);
  }
  for (wire* w : out_)
    if (w->receiver && w->to == other) {
      w->broken = true;
      remember(w->sender);
    }
}

/// Writes the next piece of the first frame to the receiver's place; bytes that no longer have a
/// place are dropped. \return false: more of the frame is left for the next turn, or will never
/// come
bool fake_transport::place(wire& w, bool all) noexcept {
  const wire::frame& f = w.frames.front();
  const frame_extension* const x = f.extended ? &f.extension : nullptr;
  const std::uint32_t comes = std::min(f.stops_after.value_or(f.header.size), f.header.size);
  if (!w.placing) {
    if (!places(w, f) || w.receiver->place(f.header, x, 0).empty()) {
      w.stuck = f.stops_after.has_value();
      return !w.stuck;
    }
    w.placing = true;
    w.placed = 0;
  }
  std::uint32_t piece = all ? f.header.size : f.header.size / 3 + 1;
  while (piece != 0 && w.placed != comes) {
    const mutable_buffer into = w.receiver->place(f.header, x, w.placed);
    std::uint32_t n = std::min(piece, comes - w.placed);
    if (!into.empty()) {
      n = static_cast<std::uint32_t>(std::min<std::size_t>(n, into.size()));
      if (!world_.may_place || world_.may_place(w, into))
        std::copy_n(f.payload.begin() + w.placed, n, into.begin());
    }
    w.placed += n;
    piece -= n;
  }
  w.stuck = f.stops_after && w.placed == comes;
  return w.placed == f.header.size && !w.stuck;
}

/// Real transports do not place short frames, or frames that have arrived completely when they
/// read.
bool fake_transport::places(const wire& w, const wire::frame& f) const noexcept {
  return manner_.places && world_.chance_of(w, f.number) / 4096 % 100 < manner_.placed;
}

/// Delivers due frames. After a frame that its receiver rejects, nothing more is delivered on that
/// wire.
unsigned fake_transport::deliver(wire& w, std::size_t most, time until) noexcept {
  unsigned events = 0;
  while (!w.frames.empty() && !w.stuck && w.frames.front().due <= until && events < most) {
    ++events;
    world_.land(w, until);
    if (w.frames.empty()) break;
    if (w.frames.size() == 1) w.let_go();
    if (!place(w, until == time::max())) break;
    const wire::frame f = std::move(w.frames.front());
    w.frames.pop_front();
    world_.tell(happening::delivered, w, f);
    const std::byte* const payload = std::exchange(w.placing, false) ? nullptr : f.payload.data();
    if (w.receiver->on_frame(f.header, f.extended ? &f.extension : nullptr, payload)) continue;
    w.drop_frames();
    w.broken = true;
    w.receiver->on_broken(errc::protocol_error);
  }
  if (events != 0 && w.refused) world_.wake(w.from);
  return events;
}

/// Moves the first half of transfers at half-time, and ends those that are due.
unsigned fake_transport::end_transfers(wire& w, time until) noexcept {
  for (wire::transfer& t : w.transfers)
    if (t.half <= until && t.moved == 0 && !t.over) t.over = !world_.move(w, t, t.size / 2);
  unsigned events = 0;
  for (; !w.transfers.empty() && w.transfers.front().due <= until; ++events) {
    wire::transfer& first = w.transfers.front();
    world_.end(w, first);
    const wire::transfer t = first;
    w.transfers.pop_front();
    // Otherwise the other side has withdrawn its memory, and says why by itself.
    if (t.put && t.fails && manner_.fails_in_order) world_.cut(self_, w.to, manner_.name);
    const bool well = t.moved == t.size;
    gather nothing;
    if (well && t.chained &&
        append(w, t.chained->header, &t.chained->extension, nothing, false) == post::done)
      w.sender->on_chained(t.cookie);
    w.sender->on_transferred(t.cookie, well);
  }
  return events;
}

unsigned fake_transport::tell_losses() noexcept {
  unsigned events = 0;
  for (; !lost_.empty(); ++events) {
    frame_sink* who = lost_.back();
    lost_.pop_back();
    who->on_broken(errc::peer_lost);
  }
  return events;
}

unsigned fake_transport::poll() noexcept {
  const auto held = world_.lock();
  if (std::exchange(rung_, false)) bell_->drain();
  const time now = world_.elapsed();
  unsigned events = tell_losses();
  for (std::size_t i = 0; i < in_.size(); ++i)
    events += deliver(*in_[i], manner_.frames_per_poll, now);
  for (std::size_t i = 0; i < out_.size(); ++i) {
    wire& w = *out_[i];
    w.let_go();
    events += end_transfers(w, now);
    if (!w.refused || w.broken || !has_room(w)) continue;
    w.refused = false;
    ++events;
    w.sender->on_writable();
  }
  return events;
}

bool fake_transport::has_work() noexcept {
  const auto held = world_.lock();
  if (!lost_.empty()) return true;
  if (!bell_) {
    const std::optional<time> next = next_moment();
    return next && *next <= world_.elapsed();
  }
  // There is no further ring for frames under way, nor for room that is already there.
  const auto waits_no_more = [this](const wire* w) {
    return w->refused && !w->broken && has_room(*w);
  };
  return next_moment() || std::any_of(out_.begin(), out_.end(), waits_no_more);
}

}  // namespace weft::transports::fake
