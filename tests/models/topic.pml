// SPDX-License-Identifier: Apache-2.0
// One subscription of a topic (src/api/topics): its queue at the publisher, with policy and window, and its two ends.
// Each action of a side holds the mutex of its topic or subscription, so that it is one step here. The subscriber may
// close, or a value may be none that it can use, at any moment; the publisher closes behind its last value.
// The model is wrong if a value comes for which the subscriber has no room, or out of order; if more values wait or are
// under way than the depth; if a value is lost that the policy keeps; if a side waits for ever, which is an invalid end
// state; and if a message is left when both sides have ended.
// cc: -DSAFETY
// variant: -DCLOSES
// variant: -DFAILS
// variant: -DDEEP
// mutation: -DNO_WINDOW
// mutation: -DCOUNT_ONLY_WHAT_WAITS
// mutation: -DSAY_LATE
// mutation: -DHEAR_SILENTLY
// mutation: -DCLOSES -DLEAVE_SILENTLY
// mutation: -DFAILS -DFAIL_SILENTLY
// mutation: -DFORGET_NEWS
// mutation: -DDROP_FOR_ALL
// mutation: -DEND_BEFORE_VALUES
// mutation: -DEND_WITHOUT_WORD
// mutation: -DCLOSES -DLEAVE_AT_ONCE

mtype = { block, drop_oldest, drop_newest };
mtype policy;
#ifdef DEEP
#define DEPTH 5
#define VALUES 9
#else
#define DEPTH 3
#define VALUES 6
#endif
#define WINDOW (DEPTH / 2)       // topic_window
#ifdef SAY_LATE
#define PART (WINDOW + 1)
#else
#define PART ((WINDOW + 1) / 2)  // subscription::word_for
#endif
#define LAST_WORD 255            // wants_no_more, values_end

// --- the publisher ------------------------------------------------------------------------------

chan waiting = [DEPTH] of { byte };  // feed
byte sent, taken, dropped;
bool leaves, closed, blocked;
bool news;  // feed::news

chan values = [DEPTH + 2] of { byte };  // to the subscriber
chan words = [DEPTH + 2] of { byte };   // to the publisher

#define under_way (sent - taken)
#ifdef COUNT_ONLY_WHAT_WAITS
#define is_full (len(waiting) >= DEPTH)
#else
#define is_full (len(waiting) + under_way >= DEPTH)
#endif

#ifdef NO_WINDOW
#define may_leave (len(waiting) != 0)
#else
#define may_leave (len(waiting) != 0 && under_way < WINDOW)
#endif

inline push(v) {  // topic_source::push
  if
  :: leaves -> skip
  :: !leaves && !is_full -> waiting!v; news = true
  :: !leaves && is_full ->
    dropped++;
#ifndef DROP_FOR_ALL
    assert(policy != block);
#endif
    if
    :: policy == drop_newest -> skip
    :: else -> waiting?old; waiting!v; news = true
    fi
  fi;
  assert(len(waiting) + under_way <= DEPTH)
}

proctype publisher() {
  byte next = 1, old;
  do
  :: next > VALUES -> break
  :: else ->
    if
    :: atomic { policy == block && !leaves && is_full ->
#ifdef DROP_FOR_ALL
        push(next); next++
#else
        blocked = true
#endif
      }
    :: atomic { !(policy == block && !leaves && is_full) -> push(next); next++; old = 0 }
    fi;
    !blocked
  od;
  atomic { closed = true; news = true }
}

proctype send_values() {
  byte v;
  bool over;
  do
  :: atomic {  // topic_source::take
#ifndef FORGET_NEWS
      news = false;
#endif
#ifdef END_BEFORE_VALUES
      over = leaves || closed;
#else
      over = leaves || (closed && empty(waiting));
#endif
      v = 0;
      if
      :: !over && may_leave -> waiting?v; sent++
      :: over || !may_leave -> skip
      fi
    }
#ifdef FORGET_NEWS
    atomic { v == 0 && !over -> news = false }
#endif
    if
    :: over -> break
    :: !over && v != 0 -> values!v
    :: !over && v == 0 -> news
    fi
  od;
  values!LAST_WORD
}

proctype hear_words() {
  byte word;
  do
  :: atomic { words?word ->  // topic_source::hear
      if
      :: word == LAST_WORD ->
        leaves = true;
        do
        :: nempty(waiting) -> waiting?word
        :: empty(waiting) -> break
        od;
        word = LAST_WORD
      :: else ->
        assert(word > taken && word <= sent);
        taken = word
      fi;
#ifdef HEAR_SILENTLY
      blocked = (word == LAST_WORD -> false : blocked);
#elif defined(LEAVE_SILENTLY)
      blocked = (word == LAST_WORD -> blocked : false);
#else
      blocked = false;
#endif
      news = true
    }
    if
    :: word == LAST_WORD -> break
    :: else
    fi
  od
}

// --- the subscriber -----------------------------------------------------------------------------

byte arrived, received, got, known, last;
bool is_closed, failed, has_end, more;  // more: subscribed::news

proctype receive_values() {
  byte v;
  do
  :: values?v ->
    if
    :: v == LAST_WORD -> break
    :: else ->
      atomic {  // subscription::put
        if
        :: failed -> skip
        :: !failed ->
          assert(v > last);
          assert(received - got < WINDOW);
          assert(policy != block || v == last + 1);
          last = v;
          received++;
          arrived = (is_closed -> arrived : arrived + 1)
#ifdef FAILS
        :: !failed ->
          failed = true;
#ifndef FAIL_SILENTLY
          more = true
#endif
#endif
        fi
      }
#ifdef LEAVE_AT_ONCE
      if
      :: is_closed -> goto over
      :: else
      fi
#endif
    fi
  od;
over:
  atomic { has_end = true; more = true }
}

proctype send_words() {
  byte word;
  do
  :: atomic {  // subscription::word_for
      more = false;
      word = 0;
      if
#ifdef END_WITHOUT_WORD
      :: is_closed || failed -> word = LAST_WORD
      :: has_end -> break
#else
      :: is_closed || has_end || failed -> word = LAST_WORD
#endif
      :: !(is_closed || has_end || failed) && got - known >= PART -> known = got; word = got
      :: else
      fi
    }
    if
    :: word == 0 -> more
    :: else -> words!word
    fi;
    if
    :: word == LAST_WORD -> break
    :: else
    fi
  od
}

proctype application() {
end:
  do
  :: atomic { arrived != 0 -> arrived--; got++; more = (got - known >= PART -> true : more) }
#ifdef CLOSES
  :: atomic { !is_closed -> is_closed = true; arrived = 0; more = true }
#endif
  od
}

// --- the end ------------------------------------------------------------------------------------

proctype judge() {
  (_nr_pr == 3);  // init, application, judge: the tasks have ended
  assert(empty(values) && empty(words));
  (arrived == 0);
  if
  :: is_closed || failed -> skip
  :: else ->
    assert(received + dropped == VALUES && got == received);
    assert(policy != block || dropped == 0);
    assert(policy != drop_oldest || last == VALUES)
  fi
}

init {
  if
  :: policy = block
  :: policy = drop_oldest
  :: policy = drop_newest
  fi;
  atomic {
    run application(); run judge();
    run publisher(); run send_values(); run hear_words(); run receive_values(); run send_words()
  }
}
