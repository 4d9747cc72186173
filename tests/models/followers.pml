// SPDX-License-Identifier: Apache-2.0
// Several threads inside run() (src/runtime/lock/leadership.cpp): one leads, the others
// wait for their end or for its place. The leader ends the operations of the others and then checks whether there is a follower;
// a follower counts itself and then checks its end. The model is wrong if a thread sleeps although
// its end has come, or no thread leads, and no thread is left to wake it, and if two lead.
// cc: -DSAFETY
// variant: -DMEMBARRIER_REFUSED
// variant: -DWEAK_ORDER
// long: -DWEAK_ORDER -DMEMBARRIER_REFUSED
// mutation: -DWEAK_ORDER -DDROP_FENCE
// mutation: -DWEAK_ORDER -DMEMBARRIER_REFUSED -DCOMPLETE_UNFENCED
// mutation: -DDROP_FENCE
// mutation: -DMEMBARRIER_REFUSED -DCOMPLETE_UNFENCED
// mutation: -DSLEEP_UNASKED
// mutation: -DNOTIFY_THE_FIRST
// mutation: -DWAKE_SILENTLY
// mutation: -DLEAVE_WITHOUT_WAKING
// mutation: -DTAKE_THE_LEAD_UNASKED

#define THREADS 3

#define DONE(who) (who)    // the operation that run() of the thread waits for
#define FOLLOWERS THREADS  // leadership::followers_
#define VARIABLES (THREADS + 1)

#include "store_buffers.inc"

bool mutex;            // mutex_
bool led;              // under it
bool linked[THREADS];  // in the list of sleeping followers; under it
bool woken[THREADS];
bool ended[THREADS];   // written: each end is set once
bool returned;         // thread 1 is out of run() and ends the operation of thread 0
byte leaders;

inline lock() { atomic { !mutex -> passes_fence(me); mutex = true } }
inline unlock() { atomic { passes_fence(me); mutex = false } }

inline wake(who) {
  linked[who] = false;
  count_follower(-1);
#ifndef WAKE_SILENTLY
  woken[who] = true
#else
  skip
#endif
}

// With the mutex, whose holders alone change the count.
inline wake_done() {
  atomic {
    i = 0;
    do
    :: i < THREADS ->
      if
      :: linked[i] && load(DONE(i)) -> wake(i)
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0
  }
}

// Any one of them, where the code takes the oldest.
inline wake_first() {
  atomic {
    if
    :: linked[0] -> wake(0)
    :: linked[1] -> wake(1)
    :: linked[2] -> wake(2)
    :: !linked[0] && !linked[1] && !linked[2]
    fi
  }
}

// One operation of any thread ends: its coroutine finishes, and with it the run() of that thread. That of thread 0 ends only
// after thread 1 has gone on: thread 0 may have to lead until then.
inline complete_all() {
  if
  :: atomic { !ended[0] && returned -> ended[0] = true }; store_release(DONE(0), 1)
  :: atomic { !ended[1] -> ended[1] = true }; store_release(DONE(1), 1)
  :: atomic { !ended[2] -> ended[2] = true }; store_release(DONE(2), 1)
  fi;
#if defined(MEMBARRIER_REFUSED) && !defined(COMPLETE_UNFENCED)
  one_step { passes_fence(me) }
#endif
  if
  :: load(FOLLOWERS) != 0 ->
    lock();
#ifndef NOTIFY_THE_FIRST
    wake_done();
#else
    wake_first();
#endif
    unlock()
  :: else
  fi
}

inline stop_leading() {
  leaders--;
  lock();
  led = false;
#ifndef LEAVE_WITHOUT_WAKING
  wake_done();
  wake_first();
#endif
  unlock()
}

inline count_follower(change) {
  atomic { passes_fence(me); store_through(FOLLOWERS, memory[FOLLOWERS] + change) }
}

inline private_fence() {
#if defined(DROP_FENCE) || defined(MEMBARRIER_REFUSED)
  one_step { passes_fence(me) }
#else
  membarrier(i)
#endif
}

proctype thread(byte me) {
  byte i;
  bool leads = true;
  lock();
  do
  :: led && leads ->
    linked[me] = true;
    count_follower(1);
    unlock();
    private_fence();
    lock();
#ifndef SLEEP_UNASKED
    if
    :: load(DONE(me)) -> wake_done()
    :: else
    fi;
#endif
    unlock();
    woken[me];
    lock();
    woken[me] = false;
    if
    :: load(DONE(me)) ->
      leads = false;
      if
      :: !led -> wake_first()
      :: else
      fi
    :: else
    fi
#ifdef TAKE_THE_LEAD_UNASKED
    ; led = false
#endif
  :: else -> break
  od;
  if
  :: leads ->
    led = true;
    unlock();
    leaders++;
    assert(leaders == 1);
    do  // run_until
    :: load(DONE(me)) -> break
    :: else -> complete_all()
    od;
    stop_leading()
  :: else -> unlock()
  fi;
  if
  :: me == 1 -> returned = true
  :: else
  fi
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
