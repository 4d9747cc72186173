// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/transport.hpp"

#include <algorithm>

#include "transports/fake/link.hpp"

namespace weft::transports::fake {

fake_transport::fake_transport(world& where, node n, runtime::engine& e)
    : world_(where), self_(n), engine_(e) {
  world_.enter(n, *this);
}

fake_transport::~fake_transport() { world_.leave(self_); }

std::string fake_transport::reach(bool is_self) const {
  return is_self ? "`fake` reaches others only" : "";
}

std::unique_ptr<link> fake_transport::open(inlet& from, const counterpart&, parcel& offer) {
  auto w = std::make_shared<wire>();
  w->from = self_;
  w->sender = &from;
  out_.push_back(w.get());
  const std::uint64_t number = world_.offer(w);
  offer.bytes.resize(sizeof number);
  std::memcpy(offer.bytes.data(), &number, sizeof number);
  return std::make_unique<fake_link>(*this, std::move(w));
}

std::string fake_transport::accept(inlet& to, const counterpart&, parcel offer, parcel&) {
  std::uint64_t number = 0;
  if (offer.bytes.size() != sizeof number) return "the offer is not from this world";
  std::memcpy(&number, offer.bytes.data(), sizeof number);
  std::shared_ptr<wire> w = world_.take_offer(number);
  if (!w) return "nobody made that offer";
  if (world_.dead(w->from)) return "who made that offer is dead";
  w->to = self_;
  w->receiver = &to;
  in_.push_back(std::move(w));
  return {};
}

void fake_transport::forget(inlet& from) noexcept {
  for (const std::shared_ptr<wire>& w : in_)
    if (w->receiver == &from) deliver(*w);
  for (const std::shared_ptr<wire>& w : in_)
    if (w->receiver == &from) w->receiver = nullptr;
  std::erase_if(in_, [](const auto& w) { return !w->receiver; });
  std::erase(lost_, &from);
}

std::optional<time> fake_transport::next_frame() const noexcept {
  std::optional<time> next;
  for (const std::shared_ptr<wire>& w : in_)
    if (!w->frames.empty() && (!next || w->frames.front().due < *next))
      next = w->frames.front().due;
  return next;
}

void fake_transport::die() noexcept {
  dead_ = true;
  for (const std::shared_ptr<wire>& w : in_) {
    w->frames.clear();
    w->broken = true;
  }
}

void fake_transport::lose(node other) {
  const auto remember = [this](inlet* who) {
    if (std::find(lost_.begin(), lost_.end(), who) == lost_.end()) lost_.push_back(who);
  };
  for (const std::shared_ptr<wire>& w : in_) {
    if (w->from != other) continue;
    w->frames.clear();
    w->broken = true;
    remember(w->receiver);
  }
  for (wire* w : out_)
    if (w->receiver && w->to == other) {
      w->broken = true;
      remember(w->sender);
    }
}

/// Hands over what is due. A receiver that cannot make sense of a frame hears no more on that wire.
unsigned fake_transport::deliver(wire& w) noexcept {
  unsigned events = 0;
  while (!w.frames.empty() && w.frames.front().due <= world_.now()) {
    const wire::frame f = std::move(w.frames.front());
    w.frames.pop_front();
    ++events;
    if (w.receiver->on_frame(f.header, f.extended ? &f.extension : nullptr, f.payload.data()))
      continue;
    w.frames.clear();
    w.broken = true;
    w.receiver->on_broken(errc::protocol_error);
  }
  return events;
}

unsigned fake_transport::tell_losses() noexcept {
  unsigned events = 0;
  for (; !lost_.empty(); ++events) {
    inlet* who = lost_.back();
    lost_.pop_back();
    who->on_broken(errc::peer_lost);
  }
  return events;
}

unsigned fake_transport::poll() noexcept {
  unsigned events = tell_losses();
  for (std::size_t i = 0; i < in_.size(); ++i) events += deliver(*in_[i]);
  for (std::size_t i = 0; i < out_.size(); ++i) {
    wire& w = *out_[i];
    if (!w.refused || w.broken || w.frames.size() >= world_.settings_.room) continue;
    w.refused = false;
    ++events;
    w.sender->on_room();
  }
  return events;
}

bool fake_transport::has_work() noexcept {
  const std::optional<time> next = next_frame();
  return !lost_.empty() || (next && *next <= world_.now());
}

}  // namespace weft::transports::fake
