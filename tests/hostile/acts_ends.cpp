// SPDX-License-Identifier: Apache-2.0
// Silence, and ends at any layer.
#include <chrono>

#include "acts.hpp"

namespace hostile {

void turn_deaf(scene& s, dice& d) {
  if (guise* const g = s.any_guise(d)) g->deaf = true;
}

void listen_again(scene& s, dice& d) {
  if (s.guises.empty()) return;
  d.one_of(s.guises)->deaf = false;
  s.look();
}

void wait_a_moment(scene& s, dice& d) { s.wait(std::chrono::microseconds(d.below(2000))); }

void drop_link(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  g->drop(*d.one_of(g->ties));
}

void close_channel(scene& s, dice& d) {
  if (guise* const g = s.any_guise(d)) d.one_of(g->channels)->close();
}

void leave_context(scene& s, dice& d) {
  if (guise* const g = s.any_guise(d)) g->leave();
}

}  // namespace hostile
