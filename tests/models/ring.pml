// SPDX-License-Identifier: Apache-2.0
// The ring of shared memory: its writer (src/transports/shm/link.cpp), its reader (port.cpp), and how each wakes the
// other (src/runtime/sleep/doorbell.hpp). Sizes are in lines; the ring is so short that it wraps around. Either process may
// be killed between any two steps. The model is wrong if a frame is delivered that is not whole, not in order, or
// overwritten while it is read, and if a process sleeps with no bell rung while there is a frame, or room, for it.
// That a bell is rung once per sleep only is left out here: doorbell.pml has it.
// cc: -DSAFETY
// variant: -DMEMBARRIER_REFUSED
// variant: -DBULK
// long: -DBULK -DKILL
// long: -DWEAK_ORDER
// long: -DWEAK_ORDER -DMEMBARRIER_REFUSED
// long: -DWEAK_ORDER -DBULK
// mutation: -DWEAK_ORDER -DPUBLISH_RELAXED
// mutation: -DWEAK_ORDER -DREADY_RELAXED
// mutation: -DDROP_FENCE
// mutation: -DLOOK_ONCE
// mutation: -DPUBLISH_BEFORE_WRITING
// mutation: -DTURN_WITHOUT_LAP
// mutation: -DROOM_FOR_ONE_MORE_SLOT
// mutation: -DBULK -DROOM_FOR_ONE_MORE_LINE
// mutation: -DTELL_BEFORE_READING
// mutation: -DKEEP_THE_REST
// mutation: -DWANT_ROOM_LATE
// mutation: -DMEMBARRIER_REFUSED -DPUBLISH_UNFENCED
// mutation: -DMEMBARRIER_REFUSED -DTELL_UNFENCED

#define SLOT_COUNT 2
#ifdef WEAK_ORDER
#define MESSAGES 3
#else
#define MESSAGES 4
#endif
#define MAX_PAYLOAD 2
#ifdef BULK
#define BULK_LINES 3
#define size_of_message(message) ((message) == 1 -> 1 : MAX_PAYLOAD)
#else
#define BULK_LINES 0
#define size_of_message(message) 0
#endif

#define THREADS 2
#define SENDER 0
#define RECEIVER 1
#define NOBODY 2

// ring::slots: the sequence, and the rest of the slot
#define TURN(position) ((position) % SLOT_COUNT)
#define FRAME(position) (SLOT_COUNT + (position) % SLOT_COUNT)
#ifdef BULK
#define LINE(line) (2 * SLOT_COUNT + (line) % BULK_LINES)
#else
#define LINE(line) 0
#endif
#define ROOM_WANTED (2 * SLOT_COUNT + BULK_LINES)
#define SLOTS_READ (ROOM_WANTED + 1)
#define BULK_READ (ROOM_WANTED + 2)
#define ASLEEP(who) (ROOM_WANTED + 3 + (who))  // doorbell_page::asleep of each
#define VARIABLES (ROOM_WANTED + 5)

#include "store_buffers.inc"

// A frame as one number: which message it is, and its size.
#define frame_of(message, size) ((message) * (MAX_PAYLOAD + 1) + (size))
#define size_of(frame) ((frame) % (MAX_PAYLOAD + 1))

#ifdef TURN_WITHOUT_LAP
#define sequence_of(position) 1
#else
#define sequence_of(position) ((position) / SLOT_COUNT + 1)
#endif

bool bell[THREADS];
byte victim = NOBODY;

#define gone(who) (victim == who && len(buffer[who]) == 0)

// bulk_place::after
#ifdef BULK
#define room_before_end(position) (BULK_LINES - (position) % BULK_LINES)
#define place_begin(position, size) \
  ((size) <= room_before_end(position) -> (position) : (position) + room_before_end(position))
#else
#define place_begin(position, size) 0
#endif

// --- the doorbell, in both directions ------------------------------------------------------------

inline arm_asleep() {
  store(ASLEEP(me), 1);
#if defined(DROP_FENCE) || defined(MEMBARRIER_REFUSED)
  one_step { passes_fence(me) }
#else
  membarrier(i)
#endif
}

inline disarm_asleep() { store(ASLEEP(me), 0) }

inline fence_if_needed() {
#ifdef MEMBARRIER_REFUSED
  one_step { passes_fence(me) }
#else
  skip
#endif
}

inline ring_if_asleep(whom) {
  if
  :: load(ASLEEP(whom)) -> one_step { passes_fence(me); bell[whom] = true }  // a system call
  :: else
  fi
}

// --- the sender: ring_link -----------------------------------------------------------------------

#ifdef ROOM_FOR_ONE_MORE_SLOT
#define fits_slots(read) (position - (read) <= SLOT_COUNT)
#else
#define fits_slots(read) (position - (read) < SLOT_COUNT)
#endif
#ifdef ROOM_FOR_ONE_MORE_LINE
#define fits_bulk(read) (end <= (read) || end - (read) <= BULK_LINES + 1)
#else
#define fits_bulk(read) (end <= (read) || end - (read) <= BULK_LINES)
#endif

inline make_room() {
  word = load(SLOTS_READ);
  assert(word <= position && word >= slots_read);
  slots_read = word;
  word = load(BULK_READ);
  assert(word <= bulk_position && word >= bulk_read);
  bulk_read = word;
  acquired();
  word = 0
}

#define has_room (fits_slots(slots_read) && fits_bulk(bulk_read))

inline want_room() {
#ifndef WANT_ROOM_LATE
  store(ROOM_WANTED, 1)
#else
  skip
#endif
}

inline sender_sleeps() {
  arm_asleep();
  if
  :: fits_slots(load(SLOTS_READ)) ->  // would_have_room
    if
    :: fits_bulk(load(BULK_READ)) -> work = true
    :: else
    fi
  :: else
  fi;
#ifdef LOOK_ONCE
  work = false;
#endif
#ifdef WANT_ROOM_LATE
  store(ROOM_WANTED, 1);
#endif
  if
  :: work -> work = false
  :: else ->
    if
    :: atomic { bell[SENDER] -> bell[SENDER] = false }
    :: gone(RECEIVER) -> goto end_sender
    fi
  fi;
  disarm_asleep()
}

inline write_frame() {
  line = 0;
  do
  :: line < size -> store(LINE(begin + line), position + 1); line++
  :: else -> line = 0; break
  od;
  store(FRAME(position), frame_of(position + 1, size))
}

inline write_turn() {
#ifdef PUBLISH_RELAXED
  store(TURN(position), sequence_of(position))
#else
  store_release(TURN(position), sequence_of(position))
#endif
}

inline send() {
  size = size_of_message(position + 1);
  begin = (size == 0 -> bulk_position : place_begin(bulk_position, size));
  end = begin + size;
  if
  :: has_room
  :: else ->
    make_room();
    if
    :: has_room
    :: else ->  // no_room
      want_room();
      do
      :: make_room();  // became_writable
        if
        :: has_room -> store(ROOM_WANTED, 0); break
        :: else -> sender_sleeps()
        fi
      od
    fi
  fi;
#ifdef PUBLISH_BEFORE_WRITING
  write_turn();
  write_frame();
#else
  write_frame();
  write_turn();
#endif
  bulk_position = end;
  position++;
  begin = 0;
  end = 0;
#ifndef PUBLISH_UNFENCED
  fence_if_needed();
#endif
  ring_if_asleep(RECEIVER)
}

proctype sender(byte me) {
  byte i, word, line, size, begin, end;
  byte position, bulk_position, slots_read, bulk_read;
  bool work;
  {
    do
    :: position < MESSAGES -> send()
    :: position == MESSAGES -> break
    od
  } unless { victim == SENDER };
end_sender:
  skip
}

// --- the receiver: port --------------------------------------------------------------------------

#define ready (load(TURN(position)) == sequence_of(position))
// The kernel tells of the end, and so of all stores before it.
#define ready_at_end (shared(TURN(position)) == sequence_of(position))

inline tell() {  // port::publish
  unpublished = false;
  store_release(BULK_READ, bulk_position);
  store_release(SLOTS_READ, position);
#ifndef TELL_UNFENCED
  fence_if_needed();
#endif
  if
  :: load(ROOM_WANTED) -> ring_if_asleep(SENDER)
  :: else
  fi
}

inline deliver_one() {
#ifndef READY_RELAXED
  acquired();
#endif
  word = load(FRAME(position));
  size = size_of(word);
  assert(word == frame_of(position + 1, size_of_message(position + 1)));
  begin = (size == 0 -> bulk_position : place_begin(bulk_position, size));
  bulk_position = begin + size;
#ifdef TELL_BEFORE_READING
  position++;
  tell();
  position--;
#endif
  line = 0;
  do
  :: line < size -> assert(load(LINE(begin + line)) == position + 1); line++
  :: else -> line = 0; break
  od;
  // Read once more: the writer must not have changed it in the meantime.
  assert(load(FRAME(position)) == frame_of(position + 1, size));
  word = 0;
  size = 0;
  begin = 0;
  position++;
  unpublished = true
}

inline receiver_sleeps() {
  arm_asleep();
  if
#ifndef LOOK_ONCE
  :: ready -> work = true
#endif
  :: else ->
#ifndef KEEP_THE_REST
    if
    :: unpublished -> tell()  // publish_rest
    :: else
    fi
#else
    skip
#endif
  fi;
  if
  :: work -> work = false
  :: else ->
    if
    :: atomic { bell[RECEIVER] -> bell[RECEIVER] = false }
    :: gone(SENDER)
    fi
  fi;
  disarm_asleep()
}

proctype receiver(byte me) {
  byte i, word, line, size, begin;
  byte position, bulk_position;
  bool work, unpublished;
  {
    do
    :: position == MESSAGES -> break
    :: position < MESSAGES ->
      if
      :: ready ->
        deliver_one();
        if
        :: tell()  // so much was read
        :: true
        fi
      :: else ->
        if
        :: gone(SENDER) && !ready_at_end -> break  // forget: all that had come was delivered
        :: else ->
          if
          :: unpublished -> tell()  // some looks brought nothing
          :: true
          fi;
          receiver_sleeps()
        fi
      fi
    od
  } unless { victim == RECEIVER }
}

proctype killer() {
#ifdef KILL
  if
  :: victim = SENDER
  :: victim = RECEIVER
  :: true
  fi
#else
  skip
#endif
}

init {
  atomic {
    run sender(SENDER); run core(SENDER);
    run receiver(RECEIVER); run core(RECEIVER);
    run killer()
  }
}
