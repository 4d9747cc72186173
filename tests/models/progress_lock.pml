// SPDX-License-Identifier: Apache-2.0
// The progress lock (src/runtime/lock/progress_lock.hpp): threads that lead in turn, and are biased then, and threads that do not. At most
// one holds it at a time, and no thread waits for ever. Counts that decide when to bias again are left out: the model
// biases again at any time when the code might.
// cc: -DSAFETY
// long: -DWEAK_ORDER
// mutation: -DWEAK_ORDER -DDROP_FENCE
// mutation: -DWEAK_ORDER -DTAKE_RELAXED
// mutation: -DWEAK_ORDER -DWAIT_RELAXED
// mutation: -DWEAK_ORDER -DGIVE_RELAXED
// mutation: -DDROP_FENCE
// mutation: -DIGNORE_FAVOURED
// mutation: -DKEEP_HOLDING
// mutation: -DFAVOUR_AFTER_WORD

#define THREADS 3
#ifdef WEAK_ORDER
#define TURNS 1
#else
#define TURNS 2
#endif

#define VARIABLES 4
#define FAVOURED_HOLDS 0
#define REVOKED 1
#define WORD 2
#define DATA 3  // plain, under the lock

#include "store_buffers.inc"

byte waiting;      // changed by locked instructions only
bool led;          // leadership::led_, under its mutex
bool by_word;      // of the thread that leads
byte holders;
bit uses;          // what DATA is for the holder

inline use_baton() {
  holders++;
  assert(holders == 1);
#ifdef WEAK_ORDER
  assert(load(DATA) == uses);
  uses = 1 - uses;
  store(DATA, uses);
#endif
  holders--
}

inline count_waiting(change) {
  atomic { passes_fence(me); waiting = waiting + change }
}

// word_.exchange(1)
inline exchange_word(old) {
#ifdef TAKE_RELAXED
  atomic { old = memory[WORD]; store_through(WORD, 1) }
#else
  one_step { passes_fence(me); old = memory[WORD]; store_through(WORD, 1) }
#endif
}

// for (...; !try_word();) spin(...)
inline until_try_word() {
  do
  :: load(WORD) == 0 ->
    exchange_word(old);
    if
    :: old == 0 -> break
    :: else -> old = 0
    fi
  od
}

inline wait_for_word() {
  if
  :: until_try_word()  // the first try
  :: count_waiting(1); until_try_word(); count_waiting(-1)
  fi
}

inline revoke_bias() {
  if
  :: load(REVOKED)
  :: else ->
    store_release(REVOKED, 1);
#ifdef DROP_FENCE
    atomic { passes_fence(me) }
#else
    membarrier(i)
#endif
  fi
}

inline give() {
#ifdef GIVE_RELAXED
  store(WORD, 0)
#else
  store_release(WORD, 0)
#endif
}

// The biased thread holds it no more: what it has done is seen.
inline found_free() {
#ifdef WAIT_RELAXED
  skip
#else
  acquired()
#endif
}

inline take() {
  count_waiting(1);
  until_try_word();
  revoke_bias();
#ifndef IGNORE_FAVOURED
  load(FAVOURED_HOLDS) == 0;
  found_free();
#endif
  count_waiting(-1)
}

inline try_take(taken) {
  taken = false;
  if
  :: load(WORD) == 0 ->
    exchange_word(old);
    if
    :: old == 0 ->
      revoke_bias();
      if
      :: load(FAVOURED_HOLDS) == 0 -> found_free(); taken = true
      :: else -> give()
      fi
    :: else -> old = 0
    fi
  :: else
  fi
}

inline lock_biased() {
  store(FAVOURED_HOLDS, 1);  // try_lock_biased
  if
  :: load(REVOKED) ->
#ifndef KEEP_HOLDING
    store_release(FAVOURED_HOLDS, 0);
#endif
    wait_for_word();  // lock_after_revocation
    by_word = true
  :: else
  fi
}

inline unlock_biased() {
  if
  :: by_word ->  // unlock_after_revocation
    by_word = false;
#ifdef FAVOUR_AFTER_WORD
    give();
    if
    :: waiting == 0 -> store(REVOKED, 0)
    :: true
    fi
#else
    if
    :: waiting == 0 -> store(REVOKED, 0)
    :: true
    fi;
    give()
#endif
  :: else -> store_release(FAVOURED_HOLDS, 0)
  fi
}

inline let_waiters_in() { waiting == 0 }

proctype thread(byte me) {
  byte turns, i, old;
  bool taken;
  do
  :: turns == TURNS -> break
  :: turns < TURNS ->
    turns++;
    if
    :: atomic { !led -> passes_fence(me); led = true }
      do
      :: lock_biased();
        use_baton();
        unlock_biased();
        if
        :: let_waiters_in()
        :: true
        fi;
        if
        :: turns < TURNS -> turns++
        :: break
        fi
      od;
      atomic { passes_fence(me); led = false }
    :: take();
      use_baton();
      give()
    :: try_take(taken);
      if
      :: taken -> use_baton(); taken = false; give()
      :: else
      fi
    fi
  od
}

init {
  byte n;
  atomic {
    do
    :: n < THREADS -> run thread(n); run core(n); n++
    :: else -> break
    od
  }
}
