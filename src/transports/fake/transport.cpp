// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/transport.hpp"

#include <algorithm>

#include "transports/fake/link.hpp"

namespace weft::transports::fake {

fake_transport::fake_transport(world& where, node n, runtime::engine& e, const manner& how)
    : world_(where),
      self_(n),
      manner_(how),
      traits_{.name = how.name, .max_payload = how.max_payload, .fragment = how.fragment} {
  world_.enter(n, e, *this);
}

fake_transport::~fake_transport() { world_.leave(self_, *this); }

std::string fake_transport::reach(bool is_self) const {
  return is_self ? "`fake` reaches others only" : "";
}

std::unique_ptr<link> fake_transport::open(inlet& from, const counterpart&, parcel& offer) {
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

std::string fake_transport::accept(inlet& to, const counterpart&, parcel offer, parcel&) {
  std::uint64_t number = 0;
  if (offer.bytes.size() != sizeof number) return "the offer is not from this world";
  std::memcpy(&number, offer.bytes.data(), sizeof number);
  std::shared_ptr<wire> w = world_.take_offer(number);
  if (!w) return "nobody made that offer";
  if (!world_.alive(w->from)) return "who made that offer is dead";
  if (w->how.name != manner_.name) return "the offer is of another transport";
  w->to = self_;
  w->receiver = &to;
  in_.push_back(std::move(w));
  return {};
}

void fake_transport::forget(inlet& from) noexcept {
  for (const std::shared_ptr<wire>& w : in_)
    if (w->receiver == &from) deliver(*w, w->frames.size());
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

time fake_transport::last_frame(node from) const noexcept {
  time last{0};
  for (const std::shared_ptr<wire>& w : in_)
    if (w->from == from && !w->frames.empty()) last = std::max(last, w->frames.back().due);
  return last;
}

void fake_transport::die(bool told) noexcept {
  dead_ = true;
  if (!told) return;
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
unsigned fake_transport::deliver(wire& w, std::size_t most) noexcept {
  unsigned events = 0;
  while (!w.frames.empty() && w.frames.front().due <= world_.elapsed() && events < most) {
    const wire::frame f = std::move(w.frames.front());
    w.frames.pop_front();
    ++events;
    world_.tell(happening::delivered, w, f);
    if (w.receiver->on_frame(f.header, f.extended ? &f.extension : nullptr, f.payload.data()))
      continue;
    w.frames.clear();
    w.broken = true;
    w.receiver->on_broken(errc::protocol_error);
  }
  return events;
}

bool fake_transport::memory_is_there(node whose) const noexcept {
  return world_.alive(whose) && std::none_of(in_.begin(), in_.end(), [whose](const auto& w) {
           return w->from == whose && w->withdrawn;
         });
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
  for (std::size_t i = 0; i < in_.size(); ++i) events += deliver(*in_[i], manner_.frames_per_poll);
  for (std::size_t i = 0; i < out_.size(); ++i) {
    wire& w = *out_[i];
    if (!w.refused || w.broken || w.frames.size() >= manner_.room) continue;
    w.refused = false;
    ++events;
    w.sender->on_room();
  }
  return events;
}

bool fake_transport::has_work() noexcept {
  const std::optional<time> next = next_frame();
  return !lost_.empty() || (next && *next <= world_.elapsed());
}

}  // namespace weft::transports::fake
