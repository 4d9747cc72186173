// SPDX-License-Identifier: Apache-2.0
// Loans (src/proto/loans): the holders of a pool's blocks, and the views of two readers. The owner takes a free block,
// lends it to one reader or to both, and keeps a handle for a while. A reader views it, or copies, and answers when it
// needs the block no more. Either side may give up their connection, which the other one learns later, and connect
// again; a reader's process may die. Each action holds the progress lock of its side, so that it is one step here;
// tests/interleave/loan_blocks.cpp and loan_views.cpp have the steps inside.
// The model is wrong if a block is taken while a reader may read it (that is: while their connection lasts), if an
// answer comes for no message, or for another one, and if a block is not free when nothing is under way any more.
// cc: -DSAFETY
// variant: -DGIVES_UP
// mutation: -DFREE_WHEN_SENT
// mutation: -DFREE_WITH_THE_HANDLE
// mutation: -DONE_HOLDER_FOR_BOTH
// mutation: -DFORGET_THE_LOST
// mutation: -DANSWER_BEFORE_THE_END
// mutation: -DANSWER_TWICE
// mutation: -DFORGET_TO_ANSWER
// mutation: -DFORGET_COPIES
// mutation: -DGIVES_UP -DANSWER_ANY_CONNECTION

#define BLOCKS 2
#define LOANS 3    // that are sent
#define NUMBERS 2  // of messages under way to one reader
#define VIEWS 2    // at one reader
#define NONE 9
#ifdef GIVES_UP
#define CONNECTIONS 2  // one after the other
#else
#define CONNECTIONS 1
#endif

typedef loan_block {
  byte holders;  // loan_block::holders
  bool handle;   // of the application
}
loan_block pool[BLOCKS];
byte sent;

typedef lasting {
  bool at_owner;              // it lasts
  bool at_reader;
  byte number;                // peer_name::id
  byte block_of[NUMBERS];     // rendezvous_sender's messages
  byte may_read[BLOCKS];      // messages that the reader has not answered: only the model knows
}
lasting with[2];

typedef reader_state {
  bool alive;                 // the process
  byte block[VIEWS];          // NONE: there is none
  byte number[VIEWS];         // lent_memory::number_
  byte connection[VIEWS];     // lent_source::from_
}
reader_state reads[2];

chan to_reader[2] = [NUMBERS] of { byte, byte };  // number, block
chan to_owner[2] = [NUMBERS] of { byte };         // fin_ack: number

inline forget_rights(whose) {
  with[whose].may_read[0] = 0;
  with[whose].may_read[1] = 0
}

// --- the owner ----------------------------------------------------------------------------------

inline give_back(which) {
  assert(pool[which].holders != 0);
  pool[which].holders--
}

inline lend(whom, what) {
  n = (with[whom].block_of[0] == NONE -> 0 : 1);
  if
  :: with[whom].at_owner && with[whom].block_of[n] == NONE ->
    with[whom].block_of[n] = what;
    with[whom].may_read[what]++;
    to_reader[whom]!n, what;
#if defined(ONE_HOLDER_FOR_BOTH)
    pool[what].holders = (whom == 0 || with[0].may_read[what] == 0 -> pool[what].holders + 1 : pool[what].holders)
#elif !defined(FREE_WHEN_SENT)
    pool[what].holders++
#endif
  :: else  // it waits, or fails
  fi
}

inline take_and_lend(what) {
  assert(with[0].may_read[what] + with[1].may_read[what] == 0);
  pool[what].holders = 1;
  pool[what].handle = true;
  sent++;
  if
  :: lend(0, what)
  :: lend(1, what)
  :: lend(0, what); lend(1, what)
  fi
}

inline drop_handle(what) {
  pool[what].handle = false;
#ifdef FREE_WITH_THE_HANDLE
  pool[what].holders = 0
#else
  give_back(what)
#endif
}

inline on_answer(whom) {
  to_owner[whom]?n;
  if
  :: with[whom].at_owner ->
    assert(with[whom].block_of[n] != NONE);
#ifndef FREE_WHEN_SENT
    m = with[whom].block_of[n];
    give_back(m);
    m = 0;
#endif
    with[whom].block_of[n] = NONE
  :: else
  fi
}

inline end_connection(whom) {  // peer::end
  with[whom].at_owner = false;
  forget_rights(whom);
  n = 0;
  do
  :: n < NUMBERS && with[whom].block_of[n] != NONE ->
#if !defined(FORGET_THE_LOST) && !defined(FREE_WHEN_SENT)
    m = with[whom].block_of[n];
    give_back(m);
    m = 0;
#endif
    with[whom].block_of[n] = NONE;
    n++
  :: n < NUMBERS && with[whom].block_of[n] == NONE -> n++
  :: n == NUMBERS -> break
  od
}

inline connect(whom) {
  do
  :: nempty(to_reader[whom]) -> to_reader[whom]?n, m
  :: nempty(to_owner[whom]) -> to_owner[whom]?n
  :: empty(to_reader[whom]) && empty(to_owner[whom]) -> break
  od;
  with[whom].number++;
  with[whom].at_owner = true;
  with[whom].at_reader = true
}

#define has_failed(r) (with[r].at_owner && !with[r].at_reader)
#define has_ended(r) (!with[r].at_owner && !with[r].at_reader)

proctype owner() {
  byte n, m;
end:
  do
  :: atomic { sent < LOANS && pool[0].holders == 0 -> take_and_lend(0); n = 0 }
  :: atomic { sent < LOANS && pool[1].holders == 0 -> take_and_lend(1); n = 0 }
  :: atomic { pool[0].handle -> drop_handle(0) }
  :: atomic { pool[1].handle -> drop_handle(1) }
  :: atomic { nempty(to_owner[0]) -> on_answer(0); n = 0 }
  :: atomic { nempty(to_owner[1]) -> on_answer(1); n = 0 }
  :: atomic { has_failed(0) -> end_connection(0); n = 0 }
  :: atomic { has_failed(1) -> end_connection(1); n = 0 }
#ifdef GIVES_UP
  :: atomic { with[0].at_owner -> end_connection(0); n = 0 }
#endif
  :: atomic { has_ended(0) && reads[0].alive && with[0].number < CONNECTIONS -> connect(0); n = 0; m = 0 }
  :: atomic { has_ended(1) && reads[1].alive && with[1].number < CONNECTIONS -> connect(1); n = 0; m = 0 }
  od
}

// --- the readers --------------------------------------------------------------------------------

/// The message needs its block no more.
inline answer(its, what, then) {
  if
  :: with[me].at_owner && with[me].number == then -> with[me].may_read[what]--
  :: else
  fi;
#ifdef ANSWER_ANY_CONNECTION
  if
  :: with[me].at_reader -> to_owner[me]!its
  :: else
  fi
#else
  if
  :: with[me].at_reader && with[me].number == then -> to_owner[me]!its  // lent_source::give_back
  :: else
  fi
#endif
}

inline on_rts() {
  to_reader[me]?n, b;
  if
  :: reads[me].block[0] == NONE || reads[me].block[1] == NONE ->  // take_view
    v = (reads[me].block[0] == NONE -> 0 : 1);
    reads[me].block[v] = b;
    reads[me].number[v] = n;
    reads[me].connection[v] = with[me].number;
#ifdef ANSWER_BEFORE_THE_END
    to_owner[me]!n
#endif
  :: true ->  // it copies, or drops the message
#ifdef FORGET_COPIES
    with[me].may_read[b]--
#else
    answer(n, b, with[me].number)
#endif
  fi
}

inline end_view(which) {
  b = reads[me].block[which];
  reads[me].block[which] = NONE;
#if defined(ANSWER_BEFORE_THE_END) || defined(FORGET_TO_ANSWER)
  if
  :: with[me].at_owner && with[me].number == reads[me].connection[which] -> with[me].may_read[b]--
  :: else
  fi;
#else
  answer(reads[me].number[which], b, reads[me].connection[which]);
#ifdef ANSWER_TWICE
  if
  :: len(to_owner[me]) < NUMBERS && with[me].at_reader -> to_owner[me]!reads[me].number[which]
  :: else
  fi;
#endif
#endif
  reads[me].number[which] = 0;
  reads[me].connection[which] = 0
}

inline die() {
  reads[me].alive = false;
  with[me].at_reader = false;
  forget_rights(me);
  v = 0;
  do
  :: v < VIEWS -> reads[me].block[v] = NONE; reads[me].number[v] = 0; reads[me].connection[v] = 0; v++
  :: else -> break
  od
}

proctype reader(byte me) {
  byte n, b, v;
end:
  do
  :: atomic { with[me].at_reader && nempty(to_reader[me]) -> on_rts(); n = 0; b = 0; v = 0 }
  :: atomic { reads[me].block[0] != NONE -> end_view(0); b = 0 }
  :: atomic { reads[me].block[1] != NONE -> end_view(1); b = 0 }
  :: atomic { with[me].at_reader && !with[me].at_owner -> with[me].at_reader = false }
#ifdef GIVES_UP
  :: atomic { me == 0 && with[me].at_reader -> with[me].at_reader = false; forget_rights(me) }
#endif
  :: atomic { me == 1 && reads[me].alive -> die(); v = 0 }
  od
}

// --- the end ------------------------------------------------------------------------------------

#define nothing_with(r) \
  ((with[r].at_owner == with[r].at_reader) && reads[r].block[0] == NONE && reads[r].block[1] == NONE && \
   (!with[r].at_owner || (empty(to_reader[r]) && empty(to_owner[r]))))

proctype judge() {
end:
  do
  :: atomic { nothing_with(0) && nothing_with(1) && !pool[0].handle && !pool[1].handle &&
        pool[0].holders + pool[1].holders != 0 ->
      assert(false)
    }
  od
}

init {
  atomic {
    byte i = 0;
    do
    :: i < 2 ->
      with[i].at_owner = true; with[i].at_reader = true; with[i].number = 1;
      with[i].block_of[0] = NONE; with[i].block_of[1] = NONE;
      reads[i].alive = true; reads[i].block[0] = NONE; reads[i].block[1] = NONE;
      i++
    :: else -> break
    od;
    run owner(); run reader(0); run reader(1); run judge()
  }
}
