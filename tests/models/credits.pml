// SPDX-License-Identifier: Apache-2.0
// Credit (src/proto/connection/flow_control.hpp, frame_writer.cpp; docs/wire-format.md, "Protocol"): two peers that send more than
// they may, and receive in any order. Numbers are small: a message costs two units, and has no payload or one unit of it,
// the reserve is of two messages, two units more are for answers, a link holds one frame. Each action of a peer holds the
// progress lock, so that it is one step here.
// The rest of a long message needs no credit and is left out; so are the answers, which are matched as they come.
// The model is wrong if a frame comes that the credit did not cover, if credit appears or gets lost, and if a sender
// stands without need: nothing is under way, and yet it has credit for a message, or is owed some, or the budget has
// some, which another peer may have given back at any moment.
// cc: -DSAFETY
// variant: -DONE_WAY
// mutation: -DONE_WAY -DRETURN_ONLY_MUCH
// mutation: -DONE_WAY -DRETURN_WHEN_NOTHING_IS_LEFT
// mutation: -DONE_WAY -DRETURN_WHEN_NO_ANSWER_IS_LEFT
// mutation: -DFORGET_TO_RETURN
// mutation: -DRETURN_TWICE
// mutation: -DNO_CREDIT_FRAMES
// mutation: -DONE_WAY -DEAT_THE_RESERVE
// mutation: -DONE_WAY -DSILENT_WHEN_STARVED
// mutation: -DONE_WAY -DHEADERS_SAY_NOTHING
// mutation: -DWAKE_NOBODY
// mutation: -DONE_WAY -DGRANT_WITHOUT_WINDOW
// mutation: -DONE_WAY -DKEEP_WHAT_IS_GIVEN_BACK

#define MESSAGE 2       // message_units
#define RESERVE 4       // credit_reserve
#define ANSWER 2        // answer_units
#define HEADER_ALONE 2  // in place of a size: a long message of which nothing goes before its receive
#ifdef ONE_WAY
#define FIRST_WINDOW 9  // first_window
#define BUDGET 3        // unexpected_memory::left_, beyond the first windows
#define GIVEN_BACK 2    // to it, later
#define THERE 7         // messages from peer 0 to peer 1
#define BACK 0          // messages from peer 1 to peer 0
#else
#define FIRST_WINDOW 8
#define BUDGET 0
#define GIVEN_BACK 0
#define THERE 4
#define BACK 4
#endif
#define LINK_FRAMES 1

mtype = { eager, rts, cts, credit_only };

typedef peer {
  byte credit;  // flow_control::credit_
  byte next;    // the message that has the turn
  bool room;    // it waits in frame_writer::waiting_
  bool link_full;

  byte window, held, owed, budget, given_back;
  bool credit_due;       // a credit frame is among controls_
  byte cts_due;          // and so many cts
  byte unmatched[3];     // messages of the other side that no receive has met: [0] rts, [1] eager ones, [2] with payload
}
peer at[2];

// Frames on their way to a peer: kind, units, starved, credit.
chan link_to[2] = [LINK_FRAMES] of { mtype, byte, bool, byte };

#define other (1 - me)
#define self at[me]
#define link_full_now (len(link_to[other]) == LINK_FRAMES)
#define messages_of(who) ((who) == 0 -> THERE : BACK)

// --- sending -------------------------------------------------------------------------------------

inline post_frame(kind, units_in_it, starves) {
  link_to[other]!kind, units_in_it, starves, self.owed;
#ifndef RETURN_TWICE
  self.owed = 0
#endif
}

#ifdef EAT_THE_RESERVE
#define for_payload self.credit
#else
#define for_payload (self.credit > RESERVE -> self.credit - RESERVE : 0)
#endif

// send_message: waits for credit, plans, pushes the first frame
inline begin_message() {
  if
  :: self.credit < ANSWER + MESSAGE -> self.room = true
  :: else ->
    if
    :: link_full_now -> self.room = true; self.link_full = true
    :: !link_full_now && size == HEADER_ALONE ->
#ifdef HEADERS_SAY_NOTHING
      post_frame(rts, MESSAGE, false);
#else
      post_frame(rts, MESSAGE, self.credit < ANSWER + 2 * MESSAGE);  // begins_last_message
#endif
      self.credit = self.credit - MESSAGE;
      self.next++
    :: !link_full_now && size != HEADER_ALONE && MESSAGE + size <= for_payload ->  // plan_send
      post_frame(eager, MESSAGE + size, false);
      self.credit = self.credit - (MESSAGE + size);
      self.next++
    :: else ->
#ifdef SILENT_WHEN_STARVED
      post_frame(rts, MESSAGE, false);
#else
      post_frame(rts, MESSAGE, true);
#endif
      self.credit = self.credit - MESSAGE;
      self.next++
    fi
  fi
}

inline on_credit(units_back) {
  self.credit = self.credit + units_back;
#ifndef WAKE_NOBODY
  if
  :: units_back != 0 && !self.link_full -> self.room = false  // frame_writer::resume
  :: else
  fi
#endif
}

// --- receiving -----------------------------------------------------------------------------------

inline return_credit() {
#ifndef NO_CREDIT_FRAMES
  self.credit_due = true
#else
  skip
#endif
}

#define owed_limit (self.window / 2)
#ifdef RETURN_ONLY_MUCH
#define sender_has_none false
#elif defined(RETURN_WHEN_NOTHING_IS_LEFT)
#define sender_has_none (self.held + self.owed == self.window)
#elif defined(RETURN_WHEN_NO_ANSWER_IS_LEFT)
#define sender_has_none (self.window - self.held - self.owed < MESSAGE)
#else
#define sender_has_none (self.window - self.held - self.owed < ANSWER + MESSAGE)
#endif

inline owe(back) {
  self.held = self.held - back;
#ifndef FORGET_TO_RETURN
  self.owed = self.owed + back;
#endif
  if
  :: self.owed >= owed_limit || sender_has_none -> return_credit()
  :: else
  fi
}

inline match(sort) {  // on_matched, deliver
  self.unmatched[sort]--;
  if
  :: sort == 0 -> self.cts_due++; owe(MESSAGE)
  :: else -> owe((MESSAGE + sort - 1))
  fi
}

inline grow_window() {
  if
  :: self.held > self.window / 2 && self.budget != 0 ->
    more = (self.budget < self.window -> self.budget : self.window);
    self.budget = self.budget - more;
    self.owed = self.owed + more;
#ifndef GRANT_WITHOUT_WINDOW
    self.window = self.window + more;
#endif
    more = 0
  :: else
  fi;
  if
  :: self.owed != 0 -> return_credit()
  :: else
  fi
}

inline on_frame() {
  link_to[me]?kind, amount, starves, back;
  on_credit(back);
  if
  :: kind == eager || kind == rts ->  // on_message
    assert(amount <= self.window - self.held - self.owed);
    self.held = self.held + amount;
    sort = (kind == rts -> 0 : amount - MESSAGE + 1);
    self.unmatched[sort]++;
    if
    :: starves -> grow_window()
    :: else
    fi;
    if
    :: match(sort)  // a receive waits for it
    :: true
    fi;
    sort = 0
  :: else
  fi;
  kind = 0;
  amount = 0;
  starves = false;
  back = 0
}

proctype side(byte me) {
  mtype kind;
  byte sort, size, amount, back, more;
  bool starves;
end:
  do
  :: atomic { self.next < messages_of(me) && !self.room ->
      if
      :: size = 0
      :: size = 1
#ifdef ONE_WAY
      :: size = HEADER_ALONE
#endif
      fi;
      begin_message();
      size = 0
    }
  :: atomic { self.link_full && !link_full_now ->  // on_writable
      self.link_full = false;
      self.room = false
    }
  :: atomic { self.cts_due != 0 && !link_full_now ->  // frame_writer::flush
      self.cts_due--;
      post_frame(cts, 0, false)
    }
  :: atomic { self.credit_due && !link_full_now ->
      self.credit_due = false;
      post_frame(credit_only, 0, false)
    }
  :: atomic { nempty(link_to[me]) -> on_frame() }
  :: atomic { self.given_back != 0 ->  // unexpected_memory::give_back, peer_upkeep::grant
      self.budget = self.budget + self.given_back;
      self.given_back = 0;
#ifndef KEEP_WHAT_IS_GIVEN_BACK
      if
      :: self.window - self.held < ANSWER + MESSAGE -> grow_window()  // flow_control::is_used_up
      :: else
      fi
#endif
    }
  :: atomic { self.unmatched[0] != 0 -> match(0) }  // the application receives
  :: atomic { self.unmatched[1] != 0 -> match(1) }
  :: atomic { self.unmatched[2] != 0 -> match(2) }
  od
}

#define idle(who) (empty(link_to[who]) && !at[who].credit_due && at[who].cts_due == 0 && !at[who].link_full)
#define stands(who) (at[who].next < messages_of(who) && at[who].room)
#define conserved(who) (at[who].credit + at[1 - (who)].held + at[1 - (who)].owed == at[1 - (who)].window)
#define needs_to(who) (at[who].credit < ANSWER + MESSAGE && at[1 - (who)].owed == 0 && at[1 - (who)].budget == 0)

proctype judge() {
end:
  do
  :: atomic { idle(0) && idle(1) &&
        !(conserved(0) && conserved(1) && (!stands(0) || needs_to(0)) && (!stands(1) || needs_to(1))) ->
      assert(false)
    }
  od
}

init {
  atomic {
    at[0].window = FIRST_WINDOW; at[1].credit = FIRST_WINDOW; at[0].budget = BUDGET;
    at[1].window = FIRST_WINDOW; at[0].credit = FIRST_WINDOW; at[1].budget = BUDGET;
    at[1].given_back = GIVEN_BACK;
    run side(0); run side(1); run judge()
  }
}
