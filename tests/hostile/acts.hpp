// SPDX-License-Identifier: Apache-2.0
// The acts of the attacker. What an act does depends on its dice and on the victim's answers.
#pragma once

#include <string_view>
#include <vector>

#include "scene.hpp"

namespace hostile {

struct act {
  std::string_view name;
  unsigned weight;  ///< how often, compared with the others
  void (*play)(scene&, dice&);
};

// acts_frames.cpp
void send_message(scene&, dice&);
void send_long_message(scene&, dice&);
void leave_half(scene&, dice&);
void storm_of_cancels(scene&, dice&);
void fill_up(scene&, dice&);
void send_any_frame(scene&, dice&);
void replay(scene&, dice&);
void frames_of_several_links(scene&, dice&);

// acts_calls.cpp
void call_handlers(scene&, dice&);
void reply_to_calls(scene&, dice&);
void stop_calls(scene&, dice&);
void meddle_in_groups(scene&, dice&);

// acts_loans.cpp, acts_topics.cpp
void lend_memory(scene&, dice&);
void overwrite_loans(scene&, dice&);
void ask_for_topics(scene&, dice&);
void speak_as_subscriber(scene&, dice&);
void speak_as_publisher(scene&, dice&);

// acts_access.cpp, acts_halves.cpp
void reach_for_memory(scene&, dice&);
void pipe_bytes(scene&, dice&);
void signal_barriers(scene&, dice&);
void send_half(scene&, dice&);
void send_half_of_two(scene&, dice&);
void send_rest(scene&, dice&);

// acts_answers.cpp
void answer_well(scene&, dice&);
void answer_badly(scene&, dice&);
void answer_unasked(scene&, dice&);
void show_memory(scene&, dice&);

// acts_wireup.cpp
void come_again(scene&, dice&);
void offer_again(scene&, dice&);
void offer_wrong_descriptors(scene&, dice&);
void offer_lies(scene&, dice&);
void answer_no_offer(scene&, dice&);
void send_notes(scene&, dice&);
void send_any_parcel(scene&, dice&);
void storm_of_offers(scene&, dice&);
void request_and_leave(scene&, dice&);
void visit_coordinator(scene&, dice&);

// acts_raw.cpp
void send_bad_clients(scene&, dice&);
void offer_unheard(scene&, dice&);
void say_hello_as_another(scene&, dice&);

// acts_bytes.cpp
void write_bytes(scene&, dice&);
void scribble_in_ring(scene&, dice&);
void shut_socket(scene&, dice&);

// acts_ends.cpp
void turn_deaf(scene&, dice&);
void listen_again(scene&, dice&);
void wait_a_moment(scene&, dice&);
void drop_link(scene&, dice&);
void close_channel(scene&, dice&);
void leave_context(scene&, dice&);

const std::vector<act>& all_acts();

/// An act that was not left out.
const act& choose_act(dice& d, const settings& s);

}  // namespace hostile
