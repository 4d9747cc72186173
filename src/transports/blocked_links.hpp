// SPDX-License-Identifier: Apache-2.0
// Links over shared memory that found no space in the peer's ring, and wait for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <weft/transport/transport.hpp>

namespace weft::transports {

/// The links of one transport that refused a frame for want of space. Their peers do not tell when
/// there is space again, so each pass checks. Progress lock held. Only `reserve` allocates.
/// \tparam Link has `became_writable()`, `would_have_room()`, `broken()` and `owner().frame_sink()`
template <class Link>
class blocked_links {
 public:
  /// \param links  how many there may be from now on
  void reserve(std::size_t links) { links_.reserve(links); }
  void add(Link& l) noexcept { links_.push_back(&l); }
  void remove(Link& l) noexcept {
    links_.erase(std::remove(links_.begin(), links_.end(), &l), links_.end());
  }

  bool empty() const noexcept { return links_.empty(); }

  /// Whether one of the links has space again. Changes nothing.
  bool any_writable() const noexcept {
    return std::any_of(links_.begin(), links_.end(),
                       [](const Link* l) { return l->would_have_room(); });
  }

  /// Removes the links that have space again, or are broken, and calls their frame sinks, which may
  /// add them again.
  /// \return how many
  unsigned poll() noexcept {
    unsigned events = 0;
    for (std::size_t i = 0; i < links_.size();) {
      Link& l = *links_[i];
      if (!l.became_writable()) {
        ++i;
        continue;
      }
      links_[i] = links_.back();
      links_.pop_back();
      ++events;
      frame_sink& peer = l.owner().frame_sink();
      if (l.broken())
        peer.on_broken(errc::protocol_error);
      else
        peer.on_writable();
    }
    return events;
  }

 private:
  std::vector<Link*> links_;
};

}  // namespace weft::transports
