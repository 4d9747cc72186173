// SPDX-License-Identifier: Apache-2.0
// Several links to one peer: their beginning and end, and what is kept until it has arrived.
// Sending is in multi_rail_send.cpp, receiving in multi_rail_receive.cpp.
#include "proto/rails/multi_rail_link.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "proto/peer/peer.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

using transports::post;

namespace {

// Bytes in front of the payload inside an ordered frame.
constexpr std::uint32_t largest_head = sizeof(frame_header) + sizeof(frame_extension);

constexpr double older_weigh = 0.75;  // against the newest measurement

/// The traits that all rails support, with room for the head of an ordered frame.
transports::traits common(const std::vector<transports::traits>& rails) {
  transports::traits t = rails.front();
  for (const transports::traits& l : rails) {
    t.max_payload = std::min(t.max_payload, l.max_payload);
    t.fragment = std::min(t.fragment, l.fragment);
    t.first_piece = std::min(t.first_piece, l.first_piece);
  }
  t.max_payload = (t.max_payload - largest_head) / credit_unit * credit_unit;
  t.fragment = std::min(t.fragment, t.max_payload);
  t.first_piece = std::min(t.first_piece, t.max_payload);
  t.announced_beyond = 0;  // an announced payload would be in the same block
  return t;
}

}  // namespace

multi_rail_link::multi_rail_link(peer& p, const std::vector<transports::traits>& rails)
    : multi_rail_traits{common(rails)},
      link(multi_rail_traits::own),
      services_(p.services()),
      peer_(p) {
  for (std::size_t i = 0; i != std::min(rails.size(), most_links); ++i)
    rails_.push_back(std::make_unique<rail>(*this, i));
  peer_.connection().use(this);
}

multi_rail_link::~multi_rail_link() { peer_.connection().use(nullptr); }

// --- rails come and go -------------------------------------------------------------------------

void multi_rail_link::join(std::size_t n, std::unique_ptr<transports::link> made) noexcept {
  rail& l = *rails_[n];
  if (l.now != rail::state::coming) return;  // it broke before it was made
  l.out = std::move(made);
  l.now = rail::state::open;
  go_on();
}

void multi_rail_link::refused(std::size_t n) noexcept { lose(*rails_[n]); }

bool multi_rail_link::alive() const noexcept {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& l) { return l->now != rail::state::dead; });
}

/// Moves the rail's frames to the lists for the other rails. Its link stays until the end: its
/// transport may be inside a call of it.
void multi_rail_link::lose(rail& l) noexcept {
  if (l.now == rail::state::dead) return;
  l.now = rail::state::dead;
  if (l.out) l.out->let_go();
  l.in_flight = 0;
  while (!l.unconsumed.empty()) {
    const item& i = l.unconsumed.front();
    if (i.dropped) {
      l.unconsumed.pop_front();
      continue;
    }
    std::list<item>& to = i.fragment() ? fragments_again_ : ordered_again_;
    to.splice(to.end(), l.unconsumed, l.unconsumed.begin());
  }
  if (alive() && !peer_.has_ended()) ++services_.counts.links_lost;
}

/// The rail broke on this side, possibly where frames were only received. The other side may not
/// notice by itself: a device acknowledges frames that are not read any more, and a full link waits
/// for room that never comes.
void multi_rail_link::give_up(rail& l) noexcept {
  if (std::exchange(l.broke, true)) return;
  lose(l);
  l.given_up = true;
  ++untold_;
  peer_.writer().note_unsent();
}

std::string multi_rail_link::trouble() const {
  for (const auto& l : rails_)
    if (std::string why = l->out ? l->out->trouble() : std::string(); !why.empty()) return why;
  return {};
}

/// Room or a new rail may help waiting sends: frames of lost rails go first.
void multi_rail_link::go_on() noexcept {
  send_all_again();
  if (std::exchange(refused_, false)) peer_.on_writable();
}

bool multi_rail_link::on_arrived(std::uint64_t number, std::uint64_t frames,
                                 bool given_up) noexcept {
  if (number >= rails_.size()) return false;
  rail& l = *rails_[number];
  l.broke = l.broke || given_up;
  if (l.now == rail::state::dead) return true;  // its frames go again, and arrive once
  if (frames < l.seen || frames - l.seen > l.unconsumed.size()) return false;
  // No receiver can have bytes that are still to be read from the application's memory.
  if (frames - l.seen == l.unconsumed.size() && !l.unconsumed.empty() && l.out->holds())
    return false;
  std::uint64_t bytes = 0;
  detail::time_point since = l.last_progress;
  for (; l.seen != frames; ++l.seen) {
    const item what = std::move(l.unconsumed.front());
    l.unconsumed.pop_front();
    try {
      (what.fragment() ? fragments_seen_ : ordered_seen_).add(what.header.tag);
    } catch (const std::bad_alloc&) {
      peer_.give_up(errc::out_of_memory, "no memory to remember what it has received");
      return true;
    }
    if (!what.fragment()) continue;
    if (bytes == 0) since = std::max(since, what.posted);
    bytes += what.header.size;
    // A send that waits for the end of its message counts as waiting for room.
    refused_ = refused_ || (!what.dropped && !holds_for(what.extension.a));
  }
  if (bytes != 0) measure(l, bytes, since);
  if (given_up) {
    lose(l);
    if (!alive()) {
      all_dead(errc::peer_lost);
      return true;
    }
  }
  go_on();
  return true;
}

void multi_rail_link::measure(rail& l, std::uint64_t bytes, detail::time_point since) noexcept {
  l.in_flight -= bytes;
  metrics& counts = services_.counts;
  counts.striped_bytes += bytes;
  if (l.number != 0) counts.striped_bytes_other_links += bytes;
  l.last_progress = services_.engine.now();
  const double took = std::chrono::duration<double>(l.last_progress - since).count();
  l.bytes = l.bytes * older_weigh + static_cast<double>(bytes);
  l.seconds = l.seconds * older_weigh + std::max(took, 1e-9);
}

std::vector<double> multi_rail_link::rates() const {
  std::vector<double> all;
  for (const auto& l : rails_) all.push_back(l->rate());
  return all;
}

std::size_t multi_rail_link::kept() const noexcept {
  std::size_t n = ordered_again_.size() + fragments_again_.size();
  for (const auto& l : rails_) n += l->unconsumed.size();
  return n;
}

bool multi_rail_link::holds() const noexcept {
  const auto fragment = [](const item& i) { return i.fragment() && !i.dropped; };
  return !fragments_again_.empty() || std::any_of(rails_.begin(), rails_.end(), [&](const auto& l) {
    return std::any_of(l->unconsumed.begin(), l->unconsumed.end(), fragment);
  });
}

bool multi_rail_link::holds_for(std::uint64_t receiver_id) const noexcept {
  const auto of_it = [receiver_id](const item& i) {
    return i.fragment() && !i.dropped && i.extension.a == receiver_id;
  };
  return std::any_of(fragments_again_.begin(), fragments_again_.end(), of_it) ||
         std::any_of(rails_.begin(), rails_.end(), [&](const auto& l) {
           return std::any_of(l->unconsumed.begin(), l->unconsumed.end(), of_it);
         });
}

bool multi_rail_link::pass(const unique_fd& file, std::uint32_t what) noexcept {
  return std::any_of(rails_.begin(), rails_.end(), [&](const auto& l) {
    return l->now == rail::state::open && l->out->pass(file, what);
  });
}

void multi_rail_link::let_go() noexcept {
  fragments_again_.clear();
  for (const auto& l : rails_) {
    if (l->out && l->now == rail::state::open) l->out->let_go();
    for (item& i : l->unconsumed) i.dropped = i.dropped || i.fragment();
  }
}

bool multi_rail_link::unwritten() const noexcept {
  return std::any_of(rails_.begin(), rails_.end(), [](const auto& l) {
    return l->out && l->now == rail::state::open && l->out->unwritten();
  });
}

bool multi_rail_link::unconsumed() const noexcept {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& l) { return l->out && l->out->unconsumed(); });
}

bool multi_rail_link::wake_peer() noexcept {
  bool rang = false;
  for (const auto& l : rails_)
    if (l->now == rail::state::open) rang = l->out->wake_peer() || rang;
  return rang;
}

}  // namespace weft::proto
