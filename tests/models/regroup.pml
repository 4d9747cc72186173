// SPDX-License-Identifier: Apache-2.0
// group::replace (src/collectives/regroup.cpp): three places, one of which loses its process, and gets
// another one. Each member tries the group of its view, crosses a barrier of it, and gives it up when
// its view changes; rank 0 orders the views. At the end all have one group, of those that live, and
// no barrier was crossed by what the lost process had sent.
// cc: -O2 -DCOLLAPSE
// long: -DLATE
// mutation: -DOLD_NUMBERS
// mutation: -DKEEPS_GROUP
// mutation: -DDEAF
// mutation: -DANY_VIEW

#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef STOPS
#define STOPS 1
#endif
#define VACANT 9
#define LIVES (CRASHES + 1)
#define ATTEMPTS 3
#define VIEWS (2 * CRASHES + 1)

// The views in the order of rank 0: which life of places 1 and 2 is there. Place 0 has one.
byte epoch;
byte one[VIEWS], two[VIEWS];
byte known[3];  // the epoch of each place's process

byte life[3];
bool up[3] = true;
byte stops = STOPS;  // a member may stop its call, and makes it again

// Of each group that is tried: which places have arrived at its barrier, in which life, and whether
// a member has revoked it. The next attempt has another number.
#ifdef OLD_NUMBERS
#define KEY(a, b) 0  // a process that comes back has the number of the lost one
#else
#define KEY(a, b) ((a) * LIVES + (b))
#endif
#define GROUPS (LIVES * LIVES * ATTEMPTS)
byte arrived[GROUPS];
byte first[GROUPS], second[GROUPS];
bool revoked[GROUPS];
byte has[3];  // the group that a place's process has, and 1

#define CHANGED (one[known[p]] != a || two[known[p]] != b)
#ifdef ANY_VIEW
#define COMPLETE true  // a vacant place is left out
#define LIFE(x) (x == VACANT -> 0 : x)
#else
#define COMPLETE (one[known[p]] != VACANT && two[known[p]] != VACANT)
#define LIFE(x) x
#endif

proctype member(byte p, mine) {
  byte a, b, at, group, last, used;
  {
    skip;
  choose:
    COMPLETE;
    atomic {
      COMPLETE -> a = one[known[p]]; b = two[known[p]];
      at = (last == KEY(LIFE(a), LIFE(b)) + 1 -> used : 0);
    }
    do
    :: at + 1 < ATTEMPTS && revoked[KEY(LIFE(a), LIFE(b)) * ATTEMPTS + at] -> at++
#ifdef LATE
    :: break  // it has not heard of it yet
#else
    :: else -> break
#endif
    od;
    atomic {
      group = KEY(LIFE(a), LIFE(b)) * ATTEMPTS + at;
      arrived[group] = arrived[group] | (1 << p);
      if
      :: p == 1 -> first[group] = mine
      :: p == 2 -> second[group] = mine
      :: else
      fi
    }
    if
    :: atomic {
        arrived[group] == 7 && !revoked[group] ->
        assert(CHANGED || (first[group] == a && second[group] == b));
        has[p] = group + 1; last = KEY(LIFE(a), LIFE(b)) + 1; used = at + 1
      }
    :: revoked[group] -> goto choose
#ifndef KEEPS_GROUP
    :: atomic { CHANGED -> revoked[group] = true; goto choose }
#endif
    :: atomic { stops > 0 -> stops--; revoked[group] = true; goto choose }
    fi;
  end_use:  // collectives
    if
#ifndef DEAF
    :: atomic { revoked[group] -> has[p] = 0; goto choose }
#endif
    :: atomic { CHANGED -> revoked[group] = true; has[p] = 0; goto choose }
    fi
  } unless { !up[p] || life[p] != mine }
}

active [3] proctype views() {
end:
  do
  :: atomic { known[_pid] < epoch -> known[_pid]++ }
  od
}

proctype losses() {
  byte n, p;
  do
  :: n < CRASHES ->
    if
    :: p = 1
    :: p = 2
    fi;
    atomic { up[p] = false; has[p] = 0; }
    atomic {
      one[epoch + 1] = (p == 1 -> VACANT : one[epoch]);
      two[epoch + 1] = (p == 2 -> VACANT : two[epoch]);
      epoch++
    }
    atomic {
      life[p]++;
      one[epoch + 1] = (p == 1 -> life[p] : one[epoch]);
      two[epoch + 1] = (p == 2 -> life[p] : two[epoch]);
      epoch++;
      known[p] = epoch; up[p] = true;
      run member(p, life[p])
    }
    n++
  :: n == CRASHES -> break
  od;
  timeout;
  assert(has[0] != 0 && has[1] == has[0] && has[2] == has[0]);
  assert((has[0] - 1) / ATTEMPTS == KEY(life[1], life[2]))
}

init {
  atomic {
    run member(0, 0);
    run member(1, 0);
    run member(2, 0);
    run losses()
  }
}
