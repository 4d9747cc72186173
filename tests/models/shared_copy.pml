// SPDX-License-Identifier: Apache-2.0
// A payload that both processes copy (src/transports/shm/shared_copy.hpp): which side copies which chunk, and when the
// receiver may give its memory back. Every step is sequentially consistent; tests/interleave/shared_copy.cpp runs the
// code with delayed stores. The model is wrong if a chunk is copied to memory of another message, or to memory that the
// application has again, if it is copied twice, and if a message ends that is not whole.
// cc: -DSAFETY
// variant: -DSTOP
// mutation: -DCLAIM_IN_TWO_STEPS
// mutation: -DCLAIM_WITHOUT_GENERATION
// mutation: -DOPEN_EARLY
// mutation: -DEND_WHEN_CLAIMED
// mutation: -DCOUNT_OLD_CHUNKS
// mutation: -DSTOP -DSTOP_WITHOUT_WAITING

#define CHUNKS 3
#define MESSAGES 2
#define NO_CHUNK 9

// shared_copy
byte from;  // which message: stands for from, to and size
byte next_generation, next = NO_CHUNK;
byte written_generation, written;

byte receiving;  // the message with memory that may be written; 0: none
byte copied[CHUNKS];
bool over;

#ifdef CLAIM_WITHOUT_GENERATION
#define same(g, n) (next == (n))
#else
#define same(g, n) (next_generation == (g) && next == (n))
#endif

inline copy(m, n) {
  assert(receiving == m);
  assert(copied[n] == 0);
  copied[n]++
}

// Compares and replaces `next`. `done`: it was what it was before.
inline claim(g, n, done) {
#ifdef CLAIM_IN_TWO_STEPS
  done = same(g, n);
  next = (done -> n + 1 : next);
#else
  d_step {
    done = same(g, n);
    if
    :: done -> next = n + 1
    :: else
    fi
  }
#endif
}

proctype sender() {
  byte g, n, m, generation, count;
  bool mine;
  do
  :: over -> break
  :: atomic { next < CHUNKS -> g = next_generation; n = next };
    m = from;
    claim(g, n, mine);
    if
    :: mine ->
      copy(m, n);
      if
      :: generation != g -> generation = g; count = 0
      :: else
      fi;
      count++;
      atomic { written_generation = g; written = count }
    :: else
    fi
  od
}

#ifdef COUNT_OLD_CHUNKS
#define written_now written
#else
#define written_now (written_generation == message -> written : 0)
#endif

proctype receiver() {
  byte message, n, mine_all, there;
  bool mine, stopped;
  do
  :: message == MESSAGES -> over = true; break
  :: else ->
    message++;
    mine_all = 0;
    stopped = false;
    d_step { receiving = message; n = 0; do :: n < CHUNKS -> copied[n] = 0; n++ :: else -> break od };
#ifdef OPEN_EARLY
    atomic { next_generation = message; next = 0 };
    from = message;
#else
    from = message;
    atomic { next_generation = message; next = 0 };
#endif
    do
    :: next < CHUNKS ->
      n = next;
      if
      :: n < CHUNKS ->
        claim(message, n, mine);
        if
        :: mine -> mine_all++; copy(message, n)
        :: else
        fi
      :: else
      fi
#ifdef END_WHEN_CLAIMED
    :: next >= CHUNKS -> break
#else
    :: written_now == CHUNKS - mine_all -> break
#endif
#ifdef STOP
    :: stopped = true; break
#endif
    od;
    // close, and end_share
    atomic { there = next - mine_all; next = NO_CHUNK };
#ifndef STOP_WITHOUT_WAITING
    if
    :: stopped -> written_now >= there
    :: else
    fi;
#endif
    if
    :: !stopped ->
      d_step { n = 0; do :: n < CHUNKS -> assert(copied[n] == 1); n++ :: else -> break od }
    :: else
    fi;
    receiving = 0
  od
}

init { atomic { run sender(); run receiver() } }
