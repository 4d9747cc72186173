// SPDX-License-Identifier: Apache-2.0
// A member of a flag segment that sleeps until two others have raised a flag each (src/runtime/flags/flag_segment.hpp,
// flag_waits.cpp; src/runtime/progress/sleep_gate.cpp). A raiser that finds no sleeper rings nobody, and passes no fence; of two
// that find one, the one that sees both flags rings. The model is wrong if the member sleeps with no bell rung, both flags raised,
// and nobody left to ring it.
// cc: -DSAFETY
// variant: -DWEAK_ORDER
// long: -DMEMBARRIER_REFUSED
// long: -DWEAK_ORDER -DMEMBARRIER_REFUSED
// mutation: -DDROP_FENCE
// mutation: -DWEAK_ORDER -DDROP_FENCE
// mutation: -DLOOK_BEFORE_ANNOUNCING
// mutation: -DLOOK_BEFORE_RAISING
// mutation: -DJUDGE_UNFENCED
// mutation: -DRING_ONCE_ONLY
// mutation: -DMEMBARRIER_REFUSED -DRAISE_UNFENCED

#ifdef WEAK_ORDER
#define ROUNDS 1
#else
#define ROUNDS 2
#endif

#define THREADS 3
#define SLEEPER 0

#define VARIABLES 5
#define FLAG 0      // and 1: one for each raiser
#define ASLEEP 2    // flag_member::asleep
#define SLEEPERS 3  // flag_header::sleepers
#define AWAITED 4   // flag_member::value

#include "store_buffers.inc"

bool bell;
byte busy = 2;  // raisers that may still do something

inline ring() { one_step { passes_fence(me); bell = true } }  // a system call

inline heavy_fence() {
#if defined(DROP_FENCE) || defined(MEMBARRIER_REFUSED)
  one_step { passes_fence(me) }
#else
  membarrier(i)
#endif
}

inline look(wanted, all) { all = load(FLAG) >= wanted; all = all && load(FLAG + 1) >= wanted; acquired() }

proctype sleeper(byte me) {
  byte i, word, round;
  bool all;
  do
  :: round < ROUNDS ->
    round++;
    do
    :: true ->
      look(round, all);
      if
      :: all -> break
      :: else
      fi;
#ifdef LOOK_BEFORE_ANNOUNCING
      look(round, all);
#endif
      store(AWAITED, round);
#ifndef RING_ONCE_ONLY
      word = word + 2;
#endif
      store_release(ASLEEP, word + 1);
      one_step { passes_fence(me); store_through(SLEEPERS, 1) }
      heavy_fence();
#ifndef LOOK_BEFORE_ANNOUNCING
      look(round, all);
#endif
      if
      :: all
      :: else ->
        if
        :: atomic { bell -> bell = false }
        // Nobody is left to ring, and it is not late.
        :: busy == 0 && (shared(FLAG) < round || shared(FLAG + 1) < round) -> goto over
        fi
      fi;
      store(ASLEEP, word + 2);
      one_step { passes_fence(me); store_through(SLEEPERS, 0) };
      all = false
    od;
    all = false
  :: else -> break
  od;
over:
  skip
}

inline tell_sleepers(mine) {
#if defined(MEMBARRIER_REFUSED) && !defined(RAISE_UNFENCED)
  one_step { passes_fence(me) }
#endif
  if
  :: load(SLEEPERS) != 0 ->
#ifndef JUDGE_UNFENCED
    one_step { passes_fence(me) }
#endif
    now = load(ASLEEP);
    acquired();
    awaited = load(AWAITED);
    look(awaited, all);
    if
    :: now % 2 == 1 && now != rung && all -> rung = now; ring()
    :: else
    fi
  :: else
  fi;
  now = 0;
  awaited = 0;
  all = false
}

proctype raiser(byte me) {
  byte now, rung, value, awaited;
  bool all;
  do
  :: value < ROUNDS ->
    value++;
#ifdef LOOK_BEFORE_RAISING
    tell_sleepers(me);
    store_release(FLAG + me - 1, value)
#else
    store_release(FLAG + me - 1, value);
    tell_sleepers(me)
#endif
  :: break
  od;
  busy--
}

init {
  atomic {
    run sleeper(SLEEPER); run core(SLEEPER);
    run raiser(1); run core(1);
    run raiser(2); run core(2)
  }
}
