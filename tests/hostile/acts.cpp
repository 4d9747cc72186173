// SPDX-License-Identifier: Apache-2.0
#include "acts.hpp"

#include <algorithm>

namespace hostile {

const std::vector<act>& all_acts() {
  static const std::vector<act> acts{
      {"send-message", 20, send_message},
      {"send-long-message", 20, send_long_message},
      {"leave-half", 6, leave_half},
      {"storm-of-cancels", 3, storm_of_cancels},
      {"fill-up", 3, fill_up},
      {"send-any-frame", 4, send_any_frame},
      {"replay", 3, replay},
      {"call-handlers", 15, call_handlers},
      {"reply-to-calls", 8, reply_to_calls},
      {"stop-calls", 3, stop_calls},
      {"meddle-in-groups", 8, meddle_in_groups},
      {"lend-memory", 10, lend_memory},
      {"overwrite-loans", 3, overwrite_loans},
      {"ask-for-topics", 8, ask_for_topics},
      {"speak-as-subscriber", 8, speak_as_subscriber},
      {"speak-as-publisher", 8, speak_as_publisher},
      {"reach-for-memory", 15, reach_for_memory},
      {"pipe-bytes", 8, pipe_bytes},
      {"signal-barriers", 2, signal_barriers},
      {"frames-of-several-links", 2, frames_of_several_links},
      {"send-half", 8, send_half},
      {"send-half-of-two", 4, send_half_of_two},
      {"send-rest", 6, send_rest},
      {"answer-well", 25, answer_well},
      {"answer-badly", 8, answer_badly},
      {"answer-unasked", 3, answer_unasked},
      {"show-memory", 10, show_memory},
      {"come-again", 5, come_again},
      {"offer-again", 8, offer_again},
      {"offer-wrong-descriptors", 4, offer_wrong_descriptors},
      {"offer-lies", 4, offer_lies},
      {"answer-no-offer", 3, answer_no_offer},
      {"send-notes", 4, send_notes},
      {"send-any-message", 2, send_any_parcel},
      {"storm-of-offers", 2, storm_of_offers},
      {"send-bad-clients", 2, send_bad_clients},
      {"offer-unheard", 2, offer_unheard},
      {"say-hello-as-another", 4, say_hello_as_another},
      {"request-and-leave", 2, request_and_leave},
      {"visit-coordinator", 2, visit_coordinator},
      {"write-bytes", 4, write_bytes},
      {"scribble-in-ring", 4, scribble_in_ring},
      {"shut-socket", 1, shut_socket},
      {"turn-deaf", 3, turn_deaf},
      {"listen-again", 6, listen_again},
      {"wait", 6, wait_a_moment},
      {"drop-link", 3, drop_link},
      {"close-channel", 2, close_channel},
      {"leave-context", 2, leave_context},
  };
  return acts;
}

const act& choose_act(dice& d, const settings& s) {
  const auto left_out = [&](const act& a) {
    return std::find(s.without.begin(), s.without.end(), a.name) != s.without.end();
  };
  std::uint64_t all = 0;
  for (const act& a : all_acts()) all += left_out(a) ? 0 : a.weight;
  std::uint64_t at = d.below(std::max<std::uint64_t>(all, 1));
  for (const act& a : all_acts()) {
    if (left_out(a)) continue;
    if (at < a.weight) return a;
    at -= a.weight;
  }
  return all_acts().front();
}

}  // namespace hostile
