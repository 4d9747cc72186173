// SPDX-License-Identifier: Apache-2.0
// A receive queue of qdma (src/transports/qdma/receive_queue.*), which takes frames and on which a thread also waits for
// any of many completions. Producers post a numbered message each; one of them may die after it has claimed a slot, or
// be given up as too slow and come back. The owner takes messages out, publishes now and then how far it has come,
// skips slots of dead producers and withholds a slot that takes too long. The model is wrong if a message is lost,
// comes twice, is overwritten, is read before it is whole or comes before an earlier one of the same producer, or if
// all processes wait for ever.
// cc: -DSAFETY -O2
// pan: -m100000 -w25
// long: -DSLOW
// long: -DAS_MANY
// mutation: -DCLAIM_IN_TWO_STEPS
// mutation: -DTURN_BEFORE_FILLED
// mutation: -DBEYOND_THE_HEAD
// mutation: -DDEAD_NOT_PASSED
// mutation: -DSLOW -DPASS_THE_SLOW
// mutation: -DSLOW -DRELEASE_TOO_EARLY
// mutation: -DSLOW -DHEAD_BEFORE_WITHHELD
// mutation: -DSLOW -DLATE_ONES_AFTER
// mutation: -DSLOW -DLATE_ONES_IN_ANY_ORDER

#define SLOTS 2
#ifdef SLOW
#define PRODUCERS 2
#else
#define PRODUCERS 3
#endif
#define MESSAGES 2  // of each, but for the one that may die
#ifdef AS_MANY
#define MORTAL_MESSAGES MESSAGES
#else
#define MORTAL_MESSAGES 1
#endif
#define wanted(who) ((who) == 2 -> MORTAL_MESSAGES : MESSAGES)
#define NEVER 250
#define NONE 251

// Positions count up without end; here they end soon enough for a byte.
typedef slot_words { byte claim; byte who; byte sequence; byte payload; byte halves };
slot_words slot[SLOTS];
byte usable_from[SLOTS];
byte late[SLOTS];  // a position that the owner has withheld
byte tail;         // a hint: may go back
byte head;         // of the owner
byte published;    // the head that the owner has published
bool dead[PRODUCERS];
byte next[PRODUCERS];  // the number that the owner expects next from each
bool ended[PRODUCERS];

#define sequence_of(position) ((position) / SLOTS + 1)
#define at(position) slot[(position) % SLOTS]
#ifdef BEYOND_THE_HEAD
#define ROOM (SLOTS + 1)
#else
#define ROOM SLOTS
#endif

proctype producer(byte me; bool mortal) {
  byte p, known, sent, seen, from;
  do
  :: sent == wanted(me) -> break
  :: else ->
    from = tail;
    if
    :: from >= known && from < known + ROOM -> p = from
    :: else ->
      known = published;
      p = known
    fi;
search:
    do
    :: p >= known + ROOM ->
      // Full, as far as is known. Until something has changed, looking again is no use.
      (published != known || tail < known + ROOM);
      known = published;
      goto again
    :: p < known + ROOM && p < usable_from[p % SLOTS] -> p++
    :: p < known + ROOM && p >= usable_from[p % SLOTS] ->
#ifdef CLAIM_IN_TWO_STEPS
      seen = at(p).claim;
      if
      :: seen < sequence_of(p) -> at(p).claim = sequence_of(p); at(p).who = me; break
      :: else -> p++
      fi
#else
      atomic {
        if
        :: at(p).claim < sequence_of(p) -> at(p).claim = sequence_of(p); at(p).who = me; break
        :: else -> p++
        fi
      }
#endif
    od;
    tail = p + 1;
    if
    :: mortal -> atomic { dead[me] = true; goto end }
    :: true
    fi;
#ifdef TURN_BEFORE_FILLED
    at(p).sequence = sequence_of(p);
#endif
    // No other producer may be writing there, and no unread message may be there.
    atomic { assert(at(p).halves == 0); at(p).payload = 10 * me + sent; at(p).halves = 1 };
    at(p).halves = 2;
#ifndef TURN_BEFORE_FILLED
    at(p).sequence = sequence_of(p);
#endif
    sent++;
again:
    from = 0; seen = 0
  od;
end:
  ended[me] = true
}

inline take(position) {
  assert(at(position).halves == 2);
  assert(at(position).payload % 10 == next[at(position).payload / 10]);
  next[at(position).payload / 10]++;
  at(position).halves = 0
}

// The first position of that slot that no process can have seen.
inline release(s) {
#ifdef RELEASE_TOO_EARLY
  usable_from[s] = head + (s + SLOTS - head % SLOTS) % SLOTS;
#else
  usable_from[s] = head + SLOTS + (s + SLOTS - head % SLOTS) % SLOTS;
#endif
  late[s] = NONE
}

#define is_late(s) (late[s] != NONE && slot[s].sequence == sequence_of(late[s]))
#define is_over(position) ((position) < usable_from[(position) % SLOTS])
#define is_published(position) (at(position).sequence == sequence_of(position) && !is_over(position))

proctype owner() {
  byte patience = 2, s;  // how often it may lose it
end:
  do
  :: atomic { published != head -> published = head }
#ifdef LATE_ONES_AFTER
  :: atomic { is_published(head) -> take(head); head++ }
#else
  :: atomic { is_published(head) && !is_late(0) && !is_late(1) -> take(head); head++ }
#endif
  // Where all are withheld, there is nowhere to go.
  :: atomic { is_over(head) && (late[0] == NONE || late[1] == NONE) -> head++ }
#ifndef DEAD_NOT_PASSED
  :: atomic { at(head).claim == sequence_of(head) && !is_over(head) && dead[at(head).who] && !is_published(head) ->
      at(head).halves = 0;
      head++
    }
#endif
#ifdef SLOW
  :: atomic { at(head).claim == sequence_of(head) && !is_over(head) && !is_published(head) && patience != 0 ->
      patience--;
#ifndef PASS_THE_SLOW
      s = head % SLOTS;
      late[s] = head;
#ifndef HEAD_BEFORE_WITHHELD
      usable_from[s] = NEVER;
#endif
#endif
      head++
    }
#ifdef HEAD_BEFORE_WITHHELD
    published = head;
    usable_from[s] = NEVER
#endif
#ifdef LATE_ONES_IN_ANY_ORDER
  :: atomic { is_late(0) -> take(0); release(0) }
  :: atomic { is_late(1) -> take(1); release(1) }
#else
  :: atomic { is_late(0) && !(is_late(1) && late[1] < late[0]) -> take(0); release(0) }
  :: atomic { is_late(1) && !(is_late(0) && late[0] < late[1]) -> take(1); release(1) }
#endif
#endif
  od
}

proctype judge() {
  // All live producers have posted all their messages, and the messages have come.
  (ended[0] && ended[1]);
  (next[0] == MESSAGES && next[1] == MESSAGES);
#ifndef SLOW
  ended[2];
  (next[2] == wanted(2) || dead[2])
#endif
}

init {
  atomic {
    late[0] = NONE; late[1] = NONE;
    run owner();
    run producer(0, false);
    run producer(1, false);
#ifndef SLOW
    run producer(2, true);
#endif
    run judge()
  }
}
