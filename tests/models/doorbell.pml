// SPDX-License-Identifier: Apache-2.0
// The doorbell (src/runtime/sleep/doorbell.hpp) and all that may have to wake the thread inside run()
// (src/runtime/progress/sleep_gate.cpp): another process that sends (src/transports/shm/link.cpp), a thread that posts, and a thread
// that ends an operation with the progress lock held. The model is wrong if the caller sleeps with no bell rung and no process or
// thread left to ring it, while there is work for the caller. The progress lock has another model; here it is a plain lock.
// BY_CALLS: a caller that sleeps by its own calls (src/runtime/progress/external_polling.cpp) and sees its bells on the way.
// cc: -DSAFETY
// long: -DMEMBARRIER_REFUSED
// long: -DBY_CALLS
// variant: -DWEAK_ORDER
// long: -DWEAK_ORDER -DMEMBARRIER_REFUSED
// mutation: -DWEAK_ORDER -DDROP_FENCE
// mutation: -DDROP_FENCE
// mutation: -DFENCE_BEFORE_ARMING
// mutation: -DLOOK_BEFORE_ARMING
// mutation: -DSAME_ODD_VALUE
// mutation: -DLOOK_BEFORE_WRITING
// mutation: -DLEAVE_WITHOUT_RINGING
// mutation: -DBY_CALLS -DHEAR_AFTER_RAISING
// mutation: -DMEMBARRIER_REFUSED -DDROP_FENCE
// mutation: -DMEMBARRIER_REFUSED -DPUSH_UNFENCED

#ifdef WEAK_ORDER
#define MESSAGES 1
#else
#define MESSAGES 2
#endif

#define THREADS 4
#define CALLER 0
#define SENDER 1
#define POSTER 2
#define LEAVER 3

#define VARIABLES 5
#define ASLEEP 0         // doorbell_page::asleep
#define CALLER_ASLEEP 1  // caller_state::asleep
#define SLOTS 2          // how many slots of the ring are written
#define INBOX 3          // how often inbox_ was pushed to
#define ENDED 4          // how often ended_ was

#include "store_buffers.inc"

bool progress_lock;
bool caller_bell;
#ifdef WEAK_ORDER
#define OTHERS 2  // without the poster, whose steps are fences
#else
#define OTHERS 3
#endif
byte busy = OTHERS;  // senders, posters and others that may still do something

inline enter() { atomic { !progress_lock -> passes_fence(me); progress_lock = true } }

// Also where the code gives it by a plain store: then others get it later, which `enter` covers.
inline give() { atomic { passes_fence(me); progress_lock = false } }

inline ring() { one_step { passes_fence(me); caller_bell = true } }  // a system call

// --- the caller ----------------------------------------------------------------------------------

inline raise_asleep(parity) {
#ifdef SAME_ODD_VALUE
  store(ASLEEP, parity)
#else
  word = load(ASLEEP);  // of this thread alone, and always of the other parity here
  assert(word % 2 != parity);
  word++;
  store(ASLEEP, word);
  word = 0
#endif
}

inline heavy_fence() {
#if defined(DROP_FENCE) || defined(MEMBARRIER_REFUSED)
  one_step { passes_fence(me) }
#else
  membarrier(i)
#endif
}

inline arm_asleep() {
#ifdef FENCE_BEFORE_ARMING
  heavy_fence();
  raise_asleep(1)
#else
  raise_asleep(1);
  heavy_fence()
#endif
}

inline look(work) {
  work = load(ENDED) != ended;
  work = work || load(INBOX) != posted;
  work = work || load(SLOTS) != received
}

inline pass() {
  received = load(SLOTS);
  ended = load(ENDED);
  posted = load(INBOX)
}

inline hear() { d_step { caller_bell = false } }

inline caller_sleeps() {
  enter();
#if defined(BY_CALLS) && !defined(HEAR_AFTER_RAISING)
  hear();
#endif
#ifdef LOOK_BEFORE_ARMING
  look(work);
#endif
  one_step { passes_fence(me); store_through(CALLER_ASLEEP, 1) }  // seq_cst
  arm_asleep();
#ifdef HEAR_AFTER_RAISING
  hear();
#endif
#ifndef LOOK_BEFORE_ARMING
  look(work);
#endif
  if
  :: work ->
    work = false;
    store(CALLER_ASLEEP, 0);
    raise_asleep(0);
    give()
  :: else ->
    give();
    if
    :: atomic { caller_bell -> caller_bell = false }  // bell_watcher::on_ready
    :: busy == 0 && shared(SLOTS) == received && shared(INBOX) == posted && shared(ENDED) == ended -> break
    fi;
    enter();
    store(CALLER_ASLEEP, 0);
    raise_asleep(0);
    give()
  fi
}

proctype caller(byte me) {
  byte i, word, received, posted, ended;
  bool work;
  do
  :: enter();
    pass();
    give();
    if
    :: true
    :: caller_sleeps()
    fi
  od
}

// --- the threads and processes that wake the caller ----------------------------------------------

inline ring_if_asleep() {
#if defined(MEMBARRIER_REFUSED) && !defined(DROP_FENCE)
  one_step { passes_fence(me) }
#endif
  now = load(ASLEEP);
  if
  :: now % 2 == 1 && now != rung_asleep -> rung_asleep = now; ring()
  :: else
  fi;
  now = 0
}

proctype sender(byte me) {
  byte now, rung_asleep, position;
  do
  :: position < MESSAGES ->  // publish
    position++;
#ifdef LOOK_BEFORE_WRITING
    ring_if_asleep();
    store_release(SLOTS, position)
#else
    store_release(SLOTS, position);
    ring_if_asleep()
#endif
  :: break
  od;
  busy--
}

proctype poster(byte me) {
  if
  :: true ->
#ifdef PUSH_UNFENCED
    store(INBOX, 1);
#else
    one_step { passes_fence(me); store_through(INBOX, 1) }
#endif
    if
    :: load(CALLER_ASLEEP) -> ring()
    :: else
    fi
  :: true
  fi;
  busy--
}

proctype leaver(byte me) {
  bool for_caller;
  if
  :: true ->
    enter();
    store(ENDED, 1);
    for_caller = load(CALLER_ASLEEP);
    give();
#ifndef LEAVE_WITHOUT_RINGING
    if
    :: for_caller -> ring()
    :: else
    fi
#endif
  :: true
  fi;
  busy--
}

init {
  atomic {
    run caller(CALLER); run core(CALLER);
    run sender(SENDER); run core(SENDER);
#ifndef WEAK_ORDER
    run poster(POSTER); run core(POSTER);
#endif
    run leaver(LEAVER); run core(LEAVER)
  }
}
