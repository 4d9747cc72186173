// SPDX-License-Identifier: Apache-2.0
// A receive queue of the qdma device (src/transports/qdma/receive_queue.cpp), which is also where a thread waits for any
// of many completions: producers that post a numbered message each, one of which may die with a slot in its hand, or be
// taken for too slow and come back; and the owner, which takes messages out, frees what the dead have left and withholds
// a slot that takes too long. The model is wrong if a message is lost, comes twice, is overwritten, is read before it is
// whole or comes before an earlier one of the same producer, or if everybody waits for ever.
// cc: -DSAFETY
// pan: -m100000
// variant: -DSLOW
// mutation: -DCLAIM_WITHOUT_LAP
// mutation: -DFULL_BEFORE_FILLED
// mutation: -DOVERWRITE_FULL
// mutation: -DDEAD_NOT_FREED
// mutation: -DSLOW -DFREE_THE_SLOW
// mutation: -DSLOW -DHEAD_BEFORE_TAIL
// mutation: -DSLOW -DPASS_IN_ANY_LAP

#define SLOTS 2
#define PRODUCERS 3
#define MESSAGES 2  // of each

#define FREE 0
#define CLAIMED 1
#define FULL 2
#define WITHHELD 3
#define NOBODY 15

// Positions count up without end; here they end soon enough for a byte.
typedef slot_words { byte lap; byte state; byte who; byte payload; byte halves };
slot_words slot[SLOTS];
byte tail;
byte head;
bool dead[PRODUCERS];
byte next[PRODUCERS];  // what the owner expects of each
bool ended[PRODUCERS];

#define lap_of(position) ((position) / SLOTS)
#define at(position) slot[(position) % SLOTS]

inline move_on(from) {
  atomic {
    if
    :: tail == from -> tail++
    :: else
    fi
  }
}

// Looks at the slot and takes it in two steps, as the code does: a load, and a compare-and-swap.
proctype producer(byte me; bool mortal) {
  byte t, lap, state, who, sent;
  do
  :: sent == MESSAGES -> break
  :: else ->
    t = tail;
    atomic { lap = at(t).lap; state = at(t).state; who = at(t).who };
    if
#ifdef CLAIM_WITHOUT_LAP
    :: state == FREE ->
#else
    :: state == FREE && lap == lap_of(t) ->
#endif
      atomic {
        if
#ifdef CLAIM_WITHOUT_LAP
        :: at(t).state == FREE ->
#else
        :: at(t).state == FREE && at(t).lap == lap ->
#endif
          at(t).state = CLAIMED;
          at(t).who = me
        :: else -> goto again
        fi
      };
      move_on(t);
      if
      :: mortal -> atomic { dead[me] = true; goto end }
      :: true
      fi;
#ifdef FULL_BEFORE_FILLED
      atomic { at(t).state = FULL };
      at(t).payload = 10 * me + sent; at(t).halves = 2;
      sent++
#else
      // Nobody else may be writing there.
      atomic { assert(at(t).halves == 0); at(t).payload = 10 * me + sent; at(t).halves = 1 };
      at(t).halves = 2;
      atomic {
        if
        :: at(t).state == CLAIMED && at(t).who == me && at(t).lap == lap_of(t) ->
          at(t).state = FULL;
          sent++
        :: else ->  // withheld: post it again
          at(t).halves = 0;
          at(t).who = NOBODY
        fi
      }
#endif
#ifdef OVERWRITE_FULL
    :: state == FULL && lap != lap_of(t) ->
      atomic { at(t).state = CLAIMED; at(t).who = me; at(t).lap = lap_of(t); at(t).halves = 0 };
      move_on(t);
      at(t).payload = 10 * me + sent; at(t).halves = 2;
      at(t).state = FULL;
      sent++
#endif
#ifdef PASS_IN_ANY_LAP
    :: (state == WITHHELD && tail <= head + 3 * SLOTS) || (state != FREE && state != WITHHELD && lap == lap_of(t)) ->
#else
    :: state != FREE && lap == lap_of(t) ->
#endif
      move_on(t)
    :: else ->
      // Full, or it has looked at an old tail: until something has changed, looking again is no use.
      (tail != t || at(t).lap != lap || at(t).state != state)
    fi;
again:
    skip
  od;
end:
  ended[me] = true
}

// One message, or what hinders it, in each turn.
proctype owner() {
  byte from, patience = 2;  // how often it may lose it
end:
  do
  :: atomic { at(head).state == FULL && at(head).lap == lap_of(head) ->
      assert(at(head).halves == 2);
      from = at(head).payload / 10;
      assert(at(head).payload % 10 == next[from]);
      next[from]++;
      at(head).halves = 0;
      at(head).lap = lap_of(head) + 1;
      at(head).state = FREE;
      head++
    }
  // What put_tail_right relies on.
  :: atomic { at(head).state == FREE && at(head).lap == lap_of(head) && tail > head -> assert(false) }
#ifndef DEAD_NOT_FREED
  :: atomic { at(head).state == CLAIMED && dead[at(head).who] ->
      at(head).halves = 0;
      at(head).lap = lap_of(head) + 1;
      at(head).state = FREE;
      head++
    }
#endif
#ifdef SLOW
  :: atomic { at(head).state == CLAIMED && at(head).lap == lap_of(head) && patience != 0 ->
      patience--;
#ifdef FREE_THE_SLOW
      at(head).halves = 0;
      at(head).lap = lap_of(head) + 1;
      at(head).state = FREE;
      head++
#else
      at(head).state = WITHHELD
#endif
    }
#ifdef HEAD_BEFORE_TAIL
  :: atomic { at(head).state == WITHHELD && at(head).lap == lap_of(head) ->
#else
  :: atomic { at(head).state == WITHHELD && at(head).lap == lap_of(head) && tail > head ->
#endif
      at(head).lap = lap_of(head) + 1;
      if
      :: at(head).who == NOBODY -> at(head).state = FREE
      :: else
      fi;
      head++
    }
#endif
  od
}

proctype judge() {
  // All who live have posted all that they had, and it has come.
  (ended[0] && ended[1] && ended[2]);
  (next[0] == MESSAGES && next[1] == MESSAGES && (next[2] == MESSAGES || dead[2]))
}

init {
  atomic {
    run owner();
    run producer(0, false);
    run producer(1, false);
#ifdef SLOW
    ended[2] = true; next[2] = MESSAGES;
#else
    run producer(2, true);
#endif
    run judge()
  }
}
