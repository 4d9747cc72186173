// SPDX-License-Identifier: Apache-2.0
// Several threads inside run() (src/runtime/leadership.cpp): one leads, the others
// wait for their end or for its place. The leader ends the operations of the others and then checks whether there is a follower;
// a follower counts itself and then checks its end. The model is wrong if a thread sleeps in lead_changed_ although
// its end has come, or no thread leads, and no thread is left to wake it, and if two lead.
// cc: -DSAFETY
// variant: -DMEMBARRIER_REFUSED
// variant: -DWEAK_ORDER
// long: -DWEAK_ORDER -DMEMBARRIER_REFUSED
// mutation: -DWEAK_ORDER -DDROP_FENCE
// mutation: -DWEAK_ORDER -DMEMBARRIER_REFUSED -DCOMPLETE_UNFENCED
// mutation: -DDROP_FENCE
// mutation: -DMEMBARRIER_REFUSED -DCOMPLETE_UNFENCED
// mutation: -DNOTIFY_UNLOCKED
// mutation: -DNOTIFY_ONE
// mutation: -DLEAVE_WITHOUT_NOTIFYING
// mutation: -DTAKE_THE_LEAD_UNASKED

#define THREADS 3

#define DONE(who) (who)    // the operation that run() of the thread waits for
#define FOLLOWERS THREADS  // leadership::followers_
#define VARIABLES (THREADS + 1)

#include "store_buffers.inc"

bool mutex;            // lead_mutex_
bool led;              // under it
bool waits[THREADS];   // inside lead_changed_
bool told[THREADS];
bool ended[THREADS];   // written: each end is set once
bool returned;         // thread 1 is out of run() and ends the operation of thread 0
byte leaders;

inline lock() { atomic { !mutex -> passes_fence(me); mutex = true } }
inline unlock() { atomic { passes_fence(me); mutex = false } }

inline notify_all() {
  d_step {
    i = 0;
    do
    :: i < THREADS ->
      if
      :: waits[i] -> told[i] = true
      :: else
      fi;
      i++
#ifdef NOTIFY_ONE
      ;
      if
      :: told[i - 1] -> break
      :: else
      fi
#endif
    :: else -> break
    od;
    i = 0
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
#ifndef NOTIFY_UNLOCKED
    lock();
    notify_all();
    unlock()
#else
    notify_all()
#endif
  :: else
  fi
}

inline stop_leading() {
  leaders--;
  lock();
  led = false;
  unlock();
#ifndef LEAVE_WITHOUT_NOTIFYING
  notify_all()
#endif
}

// Waiting gives the mutex up and sleeps in one step, as a condition variable does.
inline wait_for_lead_changed() {
  do
  :: !led || load(DONE(me)) -> break
  :: else ->
    atomic { passes_fence(me); waits[me] = true; mutex = false };
    atomic { told[me] -> told[me] = false; waits[me] = false };
    lock()
  od
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
  if
  :: led ->
    count_follower(1);
    private_fence();
    wait_for_lead_changed();
    count_follower(-1);
#ifndef TAKE_THE_LEAD_UNASKED
    if
    :: load(DONE(me)) -> leads = false
    :: else
    fi
#endif
  :: else
  fi;
  if
  :: leads ->
    led = true;
    unlock();
    leaders++;
    assert(leaders == 1);
    do  // lead_until
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
