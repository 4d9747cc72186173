// SPDX-License-Identifier: Apache-2.0
// A counted event (src/transports/qdma/device/event.hpp) that is armed again and again while completions arrive. The paper shows what
// goes wrong where the host sets a count anew after it has reached zero: completions that came in between are lost.
// Completions come from the engine, on any thread that runs it, and arming from the application; both hold the progress
// lock. A thread waits for each trigger. The model is wrong if a trigger is missing at the end, comes too early, or is
// not delivered.
// cc: -DSAFETY
// variant: -DREPEAT
// mutation: -DSET_ANEW
// mutation: -DNO_BATON
// mutation: -DTRIGGER_ONLY_ON_ARRIVAL
// mutation: -DFORGET_EARLY
// mutation: -DLOOK_THEN_WAIT

#define BATCH 2   // completions for a trigger
#define ROUNDS 3
#define ENGINES 2

bool progress_lock;
byte arrived, wanted;
byte came;       // completions in all
byte triggers;   // in all
byte untold;     // triggers that no thread has waited for yet
bool waiting, woken;

#ifdef NO_BATON
#define take() skip
#define give() skip
#else
#define take() atomic { !progress_lock -> progress_lock = true }
#define give() progress_lock = false
#endif

inline look() {
  do
  :: wanted != 0 && arrived >= wanted ->
#ifdef FORGET_EARLY
    arrived = 0;
#else
    arrived = arrived - wanted;
#endif
#ifdef REPEAT
    wanted = BATCH;
#else
    wanted = 0;
#endif
    triggers++;
    assert(triggers * BATCH <= came);
    if
    :: waiting -> waiting = false; woken = true
    :: else -> untold++
    fi
  :: else -> break
  od
}

// The thread that runs the engine and finds that a descriptor has ended.
proctype engine(byte completions) {
  byte seen;
  do
  :: completions == 0 -> break
  :: else ->
    atomic { came++ };
    take();
    seen = arrived;
    arrived = seen + 1;
    look();
    give();
    completions--
  od
}

proctype application() {
  byte round, had;
  bool must_wait;
  do
  :: round == ROUNDS -> break
  :: else ->
#ifndef REPEAT
    take();
    had = wanted;
#ifdef SET_ANEW
    arrived = 0;
#endif
    wanted = had + BATCH;
#ifndef TRIGGER_ONLY_ON_ARRIVAL
    look();
#endif
    give();
#endif
    take();
#ifdef LOOK_THEN_WAIT
    must_wait = (untold == 0);
    give();
    take();
    if
    :: must_wait -> waiting = true
    :: else -> untold--
    fi;
#else
    if
    :: untold != 0 -> untold--; must_wait = false
    :: else -> waiting = true; must_wait = true
    fi;
#endif
    give();
    if
    :: must_wait -> atomic { woken -> woken = false }
    :: else
    fi;
    round++
  od;
  assert(triggers == ROUNDS && untold == 0)
}

init {
  atomic {
#ifdef REPEAT
    wanted = BATCH;
#endif
    run engine(ROUNDS * BATCH / ENGINES);
    run engine(ROUNDS * BATCH - ROUNDS * BATCH / ENGINES);
    run application()
  }
}
