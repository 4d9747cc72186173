// SPDX-License-Identifier: Apache-2.0
// Computing (src/runtime/progress/compute_phase.cpp, progress_thread.cpp, caller_loop.cpp; docs/threading.md): the
// caller goes to user code with operations outstanding, the progress thread takes over when it is rung or when its tick
// finds that the caller computes, and the caller comes back. Frames that need a reaction come through a ring: its sender
// rings once per odd value of `computing`, unless it changes within a moment, and wakes the peer as long as the frames are not seen. Or they come on a socket,
// which no sender rings (SOCKETS). IDLE_SOCKETS: through the ring while sockets are in use, so that there are ticks.
// ELSEWHERE: the last operation is for a coroutine on another executor, and no frame needs a reaction: no sender wakes the
// peer, so that the progress thread has to listen.
// The model is wrong if no process can take a step although a frame has come for an operation that is outstanding; if the
// progress thread, while it knows that the caller computes, sleeps until the sender rings a second time; if it runs the
// engine while the caller polls or sleeps; and if the caller cannot come back. How a sleeping caller is woken is the subject
// of doorbell.pml, so that it wakes by itself here. Two threads at the progress lock are the subject of progress_lock.pml, so
// that the progress lock is a plain lock here. Timers are left out, and rings that spare a tick
// (predicts_long_computing_) happen at any time.
// cc: -DSAFETY
// long: -DSOCKETS
// long: -DIDLE_SOCKETS
// variant: -DMEMBARRIER_REFUSED
// long: -DSOCKETS -DMEMBARRIER_REFUSED
// long: -DELSEWHERE
// long: -DELSEWHERE -DMEMBARRIER_REFUSED
// mutation: -DELSEWHERE -DLISTEN_UNFENCED
// mutation: -DELSEWHERE -DEXPECT_DEAF
// mutation: -DELSEWHERE -DGO_WITHOUT_RINGING
// mutation: -DLOOK_BEFORE_ARMING
// mutation: -DSAME_ODD_VALUE
// mutation: -DSTAY_ODD
// mutation: -DARM_WHILE_ASLEEP
// mutation: -DCOME_BACK_ODD
// mutation: -DNEVER_NUDGE
// mutation: -DNEVER_RING
// mutation: -DPOLL_BESIDE_THE_CALLER
// mutation: -DSLEEP_WITH_THE_BATON
// mutation: -DMEMBARRIER_REFUSED -DRING_UNFENCED
// mutation: -DSOCKETS -DDROP_FENCE
// mutation: -DSOCKETS -DMEMBARRIER_REFUSED -DSTOP_TICKS
// mutation: -DSOCKETS -DGO_WITHOUT_RINGING
// mutation: -DSOCKETS -DFORGET_HANDLES

#define FRAMES 2
#define OPERATIONS 2  // frame n ends operation n
#define LEAVES 2      // absences and naps of the caller

#define THREADS 3
#define CALLER 0
#define PROGRESS 1
#define SENDER 2

#define VARIABLES 4
#define AWAY 0     // doorbell_page::computing
#define TICKS 1    // compute_phase::ticks_
#define SLOTS 2    // how many frames have come
#define LISTENS 3  // doorbell_page::asleep, as far as it is the progress thread's

#include "store_buffers.inc"

#ifdef ELSEWHERE
#define elsewhere_to_do (posted == OPERATIONS && received < OPERATIONS)
#define needed_while_computing elsewhere_to_do
#elif defined(SOCKETS) || defined(IDLE_SOCKETS)
#define needed_while_computing true
#else
#define needed_while_computing false
#endif

// expects_pending, of the operation posted last
#if defined(ELSEWHERE) && !defined(EXPECT_DEAF)
#define is_looked_after (is_computing && (posted < OPERATIONS || listens))
#else
#define is_looked_after is_computing
#endif

// Under the progress lock:
bool progress_lock;
bool caller_polls;
bool caller_asleep;
byte posted;
byte received;
bool listens;        // the progress thread is rung for every frame
bool watching;       // the sockets' handle is in the progress thread's wait set

bool progress_bell;
bool knows_absence;  // the progress thread has looked, in this absence, after arming
byte busy = 2;       // how many may still do something: all but the progress thread

#define something_to_do (posted > received)  // operations outstanding
#ifdef ELSEWHERE
#define at_hand (elsewhere_to_do && memory[SLOTS] > received)
#else
#define at_hand (something_to_do && memory[SLOTS] > received)
#endif
#define has_come load(SLOTS)

inline enter() { atomic { !progress_lock -> passes_fence(me); progress_lock = true } }

// Also where the code gives it by a plain store: then others get it later, which `enter` covers.
inline give() { atomic { passes_fence(me); progress_lock = false } }

inline ring_progress() { one_step { passes_fence(me); progress_bell = true } }  // a system call

// --- the doorbell --------------------------------------------------------------------------------

// Only the holder of the progress lock writes it, so that this is one step for others: they see the store when it arrives.
inline raise(which, parity) {
  atomic {
    word = load(which);
    if
    :: parity == 0 && word % 2 == 0
#ifdef SAME_ODD_VALUE
    :: parity == 1 && word % 2 == 1
#else
    :: parity == 1 && word % 2 == 1 -> store(which, word + 2)
#endif
    :: else -> store(which, word + 1)
    fi;
    word = 0
  }
}

inline heavy_fence() {
#if defined(DROP_FENCE) || defined(MEMBARRIER_REFUSED)
  atomic { passes_fence(me) }
#else
  membarrier(i)
#endif
}

#define is_computing (load(AWAY) % 2 == 1)
inline disarm_computing() { raise(AWAY, 0) }
inline stop_listening() {
  if
  :: listens -> listens = false; raise(LISTENS, 0)
  :: else
  fi
}

// --- the holder of the progress lock ---------------------------------------------------------------------

inline enter_computing() {
  atomic {
    if
#ifndef ARM_WHILE_ASLEEP
    :: caller_asleep
#endif
    :: else -> raise(AWAY, 1); tells = needed_while_computing  // arm_computing, without a fence
    fi
  };
  if
  :: !tells
#ifdef GO_WITHOUT_RINGING
  :: tells && !load(TICKS)
#else
  :: tells && !load(TICKS) -> wakes = true
#endif
  :: tells -> wakes = true  // predicts_long_computing_
  :: tells && load(TICKS)
  fi;
  tells = false
}

// release_and_notify: rings when the progress lock is released, because the woken thread wants the lock
inline give_and_wake() {
  give();
  if
  :: wakes -> wakes = false; ring_progress()
  :: else
  fi
}

inline pass() { atomic { received = has_come } }

// A frame that has come already ends the operation at once.
inline post() {
  atomic {
    enter();
    posted++;
    goes = something_to_do && !(caller_polls || is_looked_after);  // pending, expects_pending
    if
    :: goes
    :: else -> give()
    fi
  };
  if
  :: goes -> goes = false; enter_computing(); give_and_wake()
  :: else
  fi
}

// --- the caller ----------------------------------------------------------------------------------

// lead_until, the beginning of a turn
inline come_back() {
  atomic {
    enter();
    if
    :: !caller_polls ->
      caller_polls = true;
      knows_absence = false;
#ifndef COME_BACK_ODD
      disarm_computing();
#endif
      stop_listening()
    :: else
    fi
  }
}

inline go_to_user_code() {
  caller_polls = false;
  if
  :: something_to_do -> enter_computing()
  :: else
  fi;
  give_and_wake()
}

inline caller_sleeps() {
  atomic { enter(); caller_asleep = true };
  if
  :: atomic { has_come != received -> caller_asleep = false; give() }
  :: atomic { has_come == received -> caller_polls = false; give() };
    if
    :: posted < OPERATIONS -> post()  // another thread does
    :: true
    fi;
    atomic { enter(); caller_asleep = false; caller_polls = true; give() }
  fi
}

proctype caller(byte me) {
  byte word, leaves;
  bool goes, tells, wakes;
  do
  :: come_back();
    pass();
    if
    :: give()
    :: leaves < LEAVES -> leaves++; give(); caller_sleeps()
    :: leaves < LEAVES ->
      leaves++;
      go_to_user_code();
      do
      :: posted < OPERATIONS -> post()
      :: break
      :: goto computes  // for ever
      od
    fi
  od;
computes:
  busy--
}

// --- the progress thread -------------------------------------------------------------------------

inline tick_finds_computing() {
  if
  :: atomic { load(AWAY) != away_at_last_tick -> away_at_last_tick = load(AWAY) }
  :: atomic { load(AWAY) == away_at_last_tick && away_at_last_tick % 2 == 1 -> found = true }
  :: atomic { load(AWAY) == away_at_last_tick && away_at_last_tick % 2 == 0 -> store(TICKS, 0) };
    heavy_fence();
#if defined(MEMBARRIER_REFUSED) && !defined(STOP_TICKS)
    store(TICKS, 1)
#else
    if
    :: atomic { load(AWAY) != away_at_last_tick -> store(TICKS, 1) }
    :: load(AWAY) == away_at_last_tick
    fi
#endif
  fi
}

inline progress_sleeps() {
  atomic { away_at_last_tick = load(AWAY) };
  do
  :: atomic { progress_bell -> progress_bell = false }; break
  :: atomic { watching && memory[SLOTS] != received -> watching = false }; break
  :: load(TICKS) ->
    tick_finds_computing();
    if
    :: atomic { found -> found = false }; break
    :: else
    fi
  :: busy == 0 && !at_hand -> goto stops
  od;
  away_at_last_tick = 0
}

inline progress_active() {
  do
  :: atomic {
      enter();  // try_take
      stop_listening();
#ifndef POLL_BESIDE_THE_CALLER
      if
      :: caller_polls || caller_asleep -> give(); break
      :: else
      fi;
#endif
      assert(!caller_polls && !caller_asleep)
    };
    atomic {
      received = has_come;  // pass
      give();
      if
      :: true -> break  // nothing outstanding, or enough empty polls
      :: something_to_do
      fi
    }
  od
}

proctype progress(byte me) {
  byte i, word, away_at_last_tick;
  bool caller_computing, work, found;
  do
  :: atomic { enter(); caller_computing = !caller_polls && !caller_asleep && something_to_do };
#ifdef LOOK_BEFORE_ARMING
    atomic { work = caller_computing && has_come != received };
#endif
    if
    :: caller_computing ->  // listen
      raise(AWAY, 1);
#ifdef LISTEN_UNFENCED
      heavy_fence();
#endif
#ifdef ELSEWHERE
      if
      :: elsewhere_to_do -> listens = true; raise(LISTENS, 1)
      :: else
      fi;
#endif
#ifndef LISTEN_UNFENCED
      heavy_fence()
#endif
    :: else
    fi;
#if !defined(LOOK_BEFORE_ARMING) && !defined(SOCKETS)
    atomic { work = caller_computing && has_come != received };
#endif
    atomic {
#if defined(SOCKETS) && !defined(FORGET_HANDLES)
      watching = watching || caller_computing;  // watch_handles: nothing but the handle tells
#endif
#ifndef STAY_ODD
      if
      :: !caller_computing && !caller_polls -> disarm_computing()
      :: else
      fi;
#endif
      if
      :: load(TICKS) != (!caller_computing && !caller_asleep && needed_while_computing) ->
        store(TICKS, !caller_computing && !caller_asleep && needed_while_computing)
      :: else
      fi;
      knows_absence = caller_computing && !work
    };
#ifndef SLEEP_WITH_THE_BATON
    give();
#endif
    if
    :: work
    :: else -> progress_sleeps()
    fi;
#ifdef SLEEP_WITH_THE_BATON
    give();
#endif
    atomic { caller_computing = false; work = false };
    progress_active()
  od;
stops:
  skip
}

// --- another process -----------------------------------------------------------------------------

inline ring_if_computing() {
#ifndef RING_UNFENCED
  one_step { passes_fence(me) }
#endif
  if
  :: atomic { load(AWAY) % 2 == 1 && load(AWAY) != rung_away -> seen = load(AWAY) };
    if  // it waits for a moment, and does not ring for a caller that has come back meanwhile
#ifndef NEVER_RING
    :: atomic { load(AWAY) == seen -> rung_away = seen }; ring_progress()
#else
    :: load(AWAY) == seen
#endif
    :: load(AWAY) != seen
    fi;
    seen = 0
  :: atomic { load(AWAY) % 2 == 0 || load(AWAY) == rung_away }
  fi
}

#ifdef ELSEWHERE
inline ring_if_listening() {
#ifdef MEMBARRIER_REFUSED
  one_step { passes_fence(me) };
#endif
  if
  :: atomic { load(LISTENS) % 2 == 1 && load(LISTENS) != rung -> rung = load(LISTENS) }; ring_progress()
  :: atomic { load(LISTENS) % 2 == 0 || load(LISTENS) == rung }
  fi
}

proctype sender(byte me) {
  byte rung, position;
  do
  :: position < FRAMES -> position++; store(SLOTS, position); ring_if_listening()
  :: break
  od;
  busy--
}
#elif defined(SOCKETS)
proctype sender(byte me) {
  do
  :: memory[SLOTS] < FRAMES -> memory[SLOTS]++  // the kernel's doing
  :: break
  od;
  busy--
}
#else
proctype sender(byte me) {
  byte before, rung_away, seen, position;
  do
  :: position < FRAMES -> position++; store(SLOTS, position); ring_if_computing()
  :: break
  od;
  do  // until all is seen
  :: received == position -> break
  :: timeout ->  // no process can take a step
    if
    :: !something_to_do -> break
    :: else ->
      assert(!knows_absence);
#ifdef NEVER_NUDGE
      assert(false)
#else
      before = rung_away;
      ring_if_computing();
      assert(rung_away != before)
#endif
    fi
  od;
  busy--
}
#endif

init {
  atomic {
    run caller(CALLER); run core(CALLER);
    run progress(PROGRESS); run core(PROGRESS);
    run sender(SENDER); run core(SENDER)
  }
}
