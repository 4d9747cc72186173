// SPDX-License-Identifier: Apache-2.0
// Sending over several links: which one a frame takes, and again over another when one has died.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>

#include "proto/peer/peer.hpp"
#include "proto/rails/multi_rail_link.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

using transports::gather;
using transports::post;

namespace {
constexpr std::chrono::seconds rate_is_good_for{5};  // a slow link is tried again after that
}  // namespace

/// The rail for ordered frames: the first one that is known to work, or any while there is none.
multi_rail_link::rail* multi_rail_link::best() noexcept {
  rail* any = nullptr;
  for (const auto& l : rails_) {
    if (l->now != rail::state::open) continue;
    if (l->works) return l->full ? nullptr : l.get();
    if (!any && !l->full) any = l.get();
  }
  return any;
}

/// Whether the limit on messages through memory leaves that open rail to a message of so many
/// bytes.
bool multi_rail_link::is_way_of(const rail& l, std::uint64_t total) const noexcept {
  const auto& limit = services_.settings.shm_limit;
  return !limit || l.out->traits().shares_memory == (total <= *limit);
}

/// The rail for a fragment of a message of `total` bytes: one of its way, if there is one that
/// works.
multi_rail_link::rail* multi_rail_link::choose(std::uint64_t size, std::uint64_t left,
                                               std::uint64_t total) noexcept {
  const detail::time_point now = services_.engine.now();
  const bool has_way = std::any_of(rails_.begin(), rails_.end(), [&](const auto& l) {
    return l->now == rail::state::open && is_way_of(*l, total);
  });
  std::array<link_load, most_links> loads;
  for (std::size_t i = 0; i != rails_.size(); ++i) {
    rail& l = *rails_[i];
    if (l.in_flight == 0 && now - l.last_progress > rate_is_good_for) l.bytes = l.seconds = 0;
    const bool usable = l.now == rail::state::open && (!has_way || is_way_of(l, total));
    loads[i] = {usable, !l.full, l.in_flight, l.rate()};
  }
  const std::size_t n = pick_link({loads.data(), rails_.size()}, size, left);
  return n == no_link ? nullptr : rails_[n].get();
}

/// Posts the one item of a list, which is kept from then on. A rail that fails is lost, and the
/// caller chooses another rail. `what` is unchanged unless the rail took it.
post multi_rail_link::put_on(rail& l, std::list<item>& what) noexcept {
  item& i = what.front();
  post answer = post::failed;
  if (i.fragment()) {
    gather data = i.data;
    answer = l.out->send_large(i.header, &i.extension, data, i.header.size);
  } else {
    const const_buffer block(i.block);
    gather data({&block, 1});
    answer = l.out->send(i.header, nullptr, data);
  }
  if (answer == post::failed) give_up(l);
  l.full = answer == post::busy || answer == post::posted;
  if (answer == post::busy || answer == post::failed) return answer;
  l.works = true;
  i.posted = services_.engine.now();
  if (i.fragment()) l.in_flight += i.header.size;
  l.unconsumed.splice(l.unconsumed.end(), what);
  return answer;
}

/// Sends items of dead rails again. \return whether all of them have left
bool multi_rail_link::send_again(std::list<item>& which) noexcept {
  while (!which.empty()) {
    const item& first = which.front();
    const std::uint32_t size = first.header.size;
    rail* const l = first.fragment() ? choose(size, size, first.total) : best();
    if (!l) return false;
    std::list<item> what;
    what.splice(what.end(), which, which.begin());
    const post answer = put_on(*l, what);
    which.splice(which.begin(), what);  // if no rail took it
    if (answer == post::done || answer == post::posted) ++services_.counts.frames_sent_again;
  }
  return true;
}

/// Sends what a dead rail left: ordered frames, and then the news of its end. Another rail may die
/// meanwhile.
bool multi_rail_link::send_ordered_again() noexcept {
  if (!owes()) return true;
  while (owes() && send_again(ordered_again_) && tell_given_up()) continue;
  peer_.writer().note_unsent();
  return !owes();
}

bool multi_rail_link::send_all_again() noexcept {
  do {
    if (!send_ordered_again() || !send_again(fragments_again_)) return false;
  } while (owes());
  return true;
}

/// \return whether the other side has been told of all rails that were given up
bool multi_rail_link::tell_given_up() noexcept {
  constexpr std::uint8_t all_words = transports::has_extension | transports::has_immediate;
  for (const auto& l : rails_) {
    if (!l->given_up) continue;
    const frame_extension x{l->number, l->received, link_given_up};
    if (!send_new(header_of(frame_kind::arrived, 0, 0, all_words), &x, {})) return false;
    l->given_up = false;
    --untold_;
  }
  return true;
}

post multi_rail_link::not_now() noexcept {
  refused_ = true;
  return alive() ? post::busy : post::failed;
}

/// Makes a block of a whole frame.
multi_rail_link::item multi_rail_link::wrap(const frame_header& header,
                                            const frame_extension* extension, gather data) const {
  const std::size_t head = sizeof header + transports::extension_size(header);
  item i;
  i.block.resize(head + header.size);
  std::byte* to = i.block.data();
  std::memcpy(to, &header, sizeof header);
  if (extension) std::memcpy(to + sizeof header, extension, head - sizeof header);
  to += head;
  for (std::size_t left = header.size; left != 0;) {
    const const_buffer run = data.run(left);
    std::memcpy(to, run.data(), run.size());
    to += run.size();
    left -= run.size();
    data.skip(run.size());
  }
  i.header =
      header_of(frame_kind::ordered, next_ordered_, static_cast<std::uint32_t>(i.block.size()));
  return i;
}

/// Sends over the best rail; after a failure, over the next. \return whether it has left
bool multi_rail_link::send_new(const frame_header& header, const frame_extension* extension,
                               gather data) noexcept {
  while (rail* const l = best()) {
    std::list<item> what;
    try {
      what.push_back(wrap(header, extension, data));
    } catch (const std::bad_alloc&) {
      peer_.connection().mark_failed();
      return false;
    }
    if (put_on(*l, what) != post::done) continue;
    ++next_ordered_;
    return true;
  }
  return false;
}

/// Sends any frame but the data of large messages.
post multi_rail_link::send(const frame_header& header, const frame_extension* extension,
                           gather& data) noexcept {
  const bool far_ahead = next_ordered_ - ordered_seen_.first_missing() >= most_ahead &&
                         header.kind != static_cast<std::uint8_t>(frame_kind::arrived);
  if (!send_ordered_again() || far_ahead || !send_new(header, extension, data)) return not_now();
  data.skip(header.size);
  send_ordered_again();  // frames of a rail that failed meanwhile
  return post::done;
}

post multi_rail_link::send_large(const frame_header& header, const frame_extension* extension,
                                 gather& data, std::uint64_t left) noexcept {
  if (header.kind != static_cast<std::uint8_t>(frame_kind::data) || !extension)
    return send(header, extension, data);
  if (!send_all_again() || next_fragment_ - fragments_seen_.first_missing() >= most_ahead)
    return not_now();
  std::list<item> what;
  const std::uint64_t total = extension->b + left;
  while (rail* const l = choose(header.size, left, total)) {
    try {
      if (what.empty()) what.emplace_back();
    } catch (const std::bad_alloc&) {
      peer_.connection().mark_failed();
      return post::busy;
    }
    item& i = what.front();
    i.header = header;
    i.header.tag = next_fragment_;
    i.extension = *extension;
    i.data = data;
    i.total = total;
    const post answer = put_on(*l, what);
    if (answer == post::done || answer == post::posted) {
      ++next_fragment_;
      data.skip(header.size);
      return post::posted;  // until it is known to have arrived
    }
    if (answer == post::failed && !send_all_again()) break;
  }
  return not_now();
}

}  // namespace weft::proto
