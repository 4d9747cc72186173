/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: weft from C99 and from every language that can call C.
 *
 * A context is moved by calls: a loop of yours posts operations, looks with weft_poll, and computes
 * in between. With the default progress thread messages move while it computes, too.
 *
 *     weft_op box;
 *     int r = weft_recv(ctx, NULL, buffer, sizeof buffer, 7, 0, &box, my_request);
 *     if (r == WEFT_DONE) ...          it was there already: weft_result(&box, &about)
 *     while (r == WEFT_OK) {           it is in flight
 *       weft_completion done[16];
 *       int n = weft_poll(ctx, done, 16);
 *       ...                            done[i].user is my_request, once
 *     }
 *
 * What every call returns: WEFT_OK (0) or a positive value, as it says; or one of the negative
 * codes below. weft_strerror tells what a code means, weft_last_error what happened, and what to
 * do.
 *
 * Threads. Every call may be made from any thread unless it says otherwise; a weft_op belongs to
 * one thread at a time. Nothing here takes a lock on a message's way. The thread that opened the
 * context is its *home* thread and the fastest, others pay for a few locked instructions;
 * weft_bind_thread makes another one home. Calls that block say so. None may be made from a signal
 * handler, nor, but for weft_close, in a child after fork.
 *
 * Who owns what. Handles (weft_context, weft_peer, ...) are weft's. A weft_op and the memory that
 * it names are the caller's: leave both alone from the posting call until the operation's end has
 * been told, by exactly one of: the posting call itself (it returned anything but WEFT_OK),
 * weft_poll, weft_test or weft_wait. The first call that sees it reports it, and no other.
 *
 * Not here: streams, and gather and scatter lists, are C++'s (weft/stream.hpp, weft/endpoint.hpp).
 *
 * The library is libweft-c.so; its symbols have the version WEFT_1, those that came later say so.
 * Structures that may grow begin with their size, so that a program goes on with a newer library
 * without being compiled anew. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

/* --- results --------------------------------------------------------------------------------- */

/* NOLINTBEGIN(readability-identifier-naming): as C has it */
enum {
  WEFT_OK = 0,
  WEFT_DONE = 1,            /* it has ended already */
  WEFT_STOPPED = -1,        /* weft_cancel asked for it */
  WEFT_TIMED_OUT = -2,      /* the time given to this call is over */
  WEFT_PEER_LOST = -3,      /* the other process died, or its connection broke */
  WEFT_CLOSED = -4,         /* this side or the peer, in good order, closed it */
  WEFT_REFUSED = -5,        /* the peer rejected the connection, or access to its memory */
  WEFT_TRUNCATED = -6,      /* the message was longer than the buffer, which holds its beginning */
  WEFT_UNREACHABLE = -7,    /* no transport reaches that address */
  WEFT_PROTOCOL_ERROR = -8, /* the peer sent something that no correct peer sends */
  WEFT_INVALID_ARGUMENT = -9, /* the call itself is wrong */
  WEFT_OUT_OF_MEMORY = -10,   /* an allocation or a memory budget failed */
  WEFT_UNSUPPORTED = -11,     /* this transport, kernel or container cannot do it */
  WEFT_SYSTEM = -12           /* a system call failed */
};
/* NOLINTEND(readability-identifier-naming) */

/* One sentence about a code; for 0 and above "success". Never NULL, never freed. */
WEFT_API const char* weft_strerror(int code);

/* --- contexts -------------------------------------------------------------------------------- */

typedef struct weft_context weft_context;   /* all of a process's weft state; several may exist */
typedef struct weft_peer weft_peer;         /* a process to exchange messages with */
typedef struct weft_listener weft_listener; /* a listener for peers that come by address */

/* What can be chosen. Set it to zeros, then `size`. Strings are the caller's and not kept. */
typedef struct weft_options {
  size_t size;                 /* sizeof(weft_options) */
  const char* const* settings; /* any of the WEFT_* variables of docs/environment.md, such as
                                  {"WEFT_PROGRESS=polling", NULL}; they come before those of the
                                  environment. NULL: none */
  char* why;                   /* gets one line for people if opening fails; may be NULL */
  size_t why_size;             /* bytes of `why` */
} weft_options;

/* Opens a context. In a job (weft-run, mpirun, srun) it belongs to it and has a rank. A rank of
 * weft-run's has one context at a time: a second one is INVALID_ARGUMENT until the first is closed.
 * The calling thread becomes its home thread. Blocks for milliseconds.
 * options: may be NULL. *made: the context, yours until weft_close.
 * Errors: INVALID_ARGUMENT, SYSTEM, UNSUPPORTED, OUT_OF_MEMORY. */
WEFT_API int weft_open(const weft_options* options, weft_context** made);

/* As weft_open, but joins a running job and gets a rank there. Blocks up to ten seconds.
 * address: what the job's rank 0 was told by weft_open_job. Errors: also REFUSED, UNREACHABLE. */
WEFT_API int weft_join(const char* address, const weft_options* options, weft_context** made);

/* Ends a context: peers are told good-bye, and what is in flight is over, untold; its memory is the
 * caller's again. All handles of the context become invalid. No other thread may be inside one of
 * its calls. Blocks, a second at most where peers do not answer. NULL, and in a child that fork()
 * made later: nothing happens. */
WEFT_API void weft_close(weft_context* ctx);

/* Makes the calling thread the home thread. The one that was it must not be inside a call. */
WEFT_API void weft_bind_thread(weft_context* ctx);

/* This process's rank, and how many processes were started together; 0 and 1 without a job. A
 * process that joined later has a rank of the size or more. */
WEFT_API uint32_t weft_rank(const weft_context* ctx);
WEFT_API uint32_t weft_size(const weft_context* ctx);

/* Copies text for people: what this thread's or another's last failed call on the context met,
 * cause and cure; of operations weft_explain tells. Ends with a zero, and is cut if `size` is too
 * short. Returns how long the whole text is, without the zero. Empty: nothing has failed. */
WEFT_API size_t weft_last_error(weft_context* ctx, char* text, size_t size);

/* The same: what the context chose, and why. Several lines. */
WEFT_API size_t weft_describe(weft_context* ctx, char* text, size_t size);

/* That memory is about to be unmapped, or to stand for something else (munmap, a file mapped over
 * it, madvise(MADV_DONTFORK)): registrations of it with devices are not used any more. Call it
 * before, with nothing in flight there. Any thread. Since WEFT_2. */
WEFT_API void weft_invalidate_registrations(weft_context* ctx, const void* memory, size_t size);

/* --- peers ----------------------------------------------------------------------------------- */

/* A peer stands for the same process until weft_peer_free or weft_close; asked for twice, it is the
 * same handle. Connections are made on first use. */

/* The peer with a number: a rank of the job, this process's own included, or the `source` of a
 * message. Operations with a rank that no process has end with UNREACHABLE or PEER_LOST.
 * Errors: INVALID_ARGUMENT (a number of 2^31 or more that no peer has), OUT_OF_MEMORY. */
WEFT_API int weft_peer_of(weft_context* ctx, uint32_t number, weft_peer** peer);

/* Its number in the context: the rank, or, for peers by address, 2^31 and up. Equals
 * weft_completion.source of what it sent. */
WEFT_API uint32_t weft_peer_number(const weft_peer* peer);

/* Starts the orderly end: what was sent still arrives, later operations end with CLOSED on both
 * sides. Does not block. The handle stays valid. */
WEFT_API void weft_peer_close(weft_peer* peer);

/* Gives the handle back; none of its operations may be in flight. What the context keeps of a peer
 * that came by address ends with it, once the peer has gone. Not needed before weft_close. */
WEFT_API void weft_peer_free(weft_peer* peer);

/* Opens a listener. address: "unix://name", "any://host:port" or "tcp://host:port", port 0: any.
 * Errors: INVALID_ARGUMENT, SYSTEM (taken), OUT_OF_MEMORY. */
WEFT_API int weft_listen(weft_context* ctx, const char* address, weft_listener** listener);

/* Where it listens, with the port that the system chose; as long as the listener exists. */
WEFT_API const char* weft_listener_address(const weft_listener* listener);

/* Waits for a connection request, and accepts it. Blocks up to timeout_ms milliseconds
 * (negative: for ever); messages move meanwhile only if there is a progress thread. private data
 * (may be NULL) gets what the visitor passed to weft_connect, cut to private_data_size bytes with a
 * zero at the end. Errors: TIMED_OUT, CLOSED, OUT_OF_MEMORY. */
WEFT_API int weft_accept(weft_listener* listener, int timeout_ms, char* private_data,
                         size_t private_data_size, weft_peer** peer);

/* Closes the listener; requests that wait in front of it are rejected. No thread may be inside
 * weft_accept. NULL: nothing happens. */
WEFT_API void weft_listener_close(weft_listener* listener);

/* Connects to another process's listener. Blocks, as weft_accept. private data: up to 1 KiB of text
 * for the other side; may be NULL. Errors: REFUSED, UNREACHABLE, PEER_LOST, TIMED_OUT,
 * INVALID_ARGUMENT. */
WEFT_API int weft_connect(weft_context* ctx, const char* address, const char* private_data,
                          int timeout_ms, weft_peer** peer);

/* Lets processes join the job through this one, which has rank 0. address: as for weft_listen.
 * bound: gets the address for weft_join, with the port that the system chose.
 * Errors: UNSUPPORTED (another rank), INVALID_ARGUMENT (or bound_size too short), SYSTEM. */
WEFT_API int weft_open_job(weft_context* ctx, const char* address, char* bound, size_t bound_size);

/* --- operations ------------------------------------------------------------------------------ */

/* One operation. Memory of the caller's, of any content before it is posted; nothing is allocated
 * for it, nor for a message that leaves in one piece or finds its receive posted, over shm and tcp.
 * A send that has to wait or is long needs some memory of weft's. Neither copied nor moved while in
 * flight. */
typedef struct weft_op {
  uint64_t opaque[32];
} weft_op;

/* How an operation ended. */
typedef struct weft_completion {
  weft_op* op;     /* which */
  void* user;      /* what was passed when it was posted */
  int status;      /* WEFT_OK or a negative code */
  uint32_t source; /* of a receive, probe or notification: weft_peer_number of the sender */
  uint64_t tag;    /* of a receive or probe: the message's; of a notification: its word; of an
                      atomic: the word as it was before */
  size_t size;     /* of a receive or probe: bytes of the whole message, also if truncated */
} weft_completion;

/* All bits of a tag, for `ignore`: such a receive takes every message of the application's. */
#define WEFT_ANY_TAG (~(uint64_t)0)

/* Posting. A message goes to the receive that was posted first among those that match; messages of
 * one sender that match one receive are received in the order sent. Tags have 64 bits; those with
 * the top byte 0xfe or 0xff are weft's own: who names one gets INVALID_ARGUMENT, and no receive
 * that ignores bits takes one.
 *
 * They return WEFT_OK: in flight. WEFT_DONE: it has ended well, and no call will report it again;
 * most small sends do. A negative code: it has failed, the same. Then weft_result has the details,
 * but not where a pointer was NULL that must not be: *op is as it was. */

/* Sends size bytes (0 is a message, too). Ends when the memory may be used again; the message may
 * still be on its way. Errors, here or when told: PEER_LOST, CLOSED, STOPPED, INVALID_ARGUMENT (too
 * long), OUT_OF_MEMORY, PROTOCOL_ERROR. */
WEFT_API int weft_send(weft_peer* to, const void* data, size_t size, uint64_t tag, weft_op* op,
                       void* user);

/* As weft_send, but ends only when the receiver has matched the message. */
WEFT_API int weft_send_synchronous(weft_peer* to, const void* data, size_t size, uint64_t tag,
                                   weft_op* op, void* user);

/* Receives a message whose tag equals `tag` in every bit that is not set in `ignore`.
 * from: the sender; NULL: any source (such a receive does not end with PEER_LOST).
 * Errors: TRUNCATED, PEER_LOST, CLOSED, STOPPED, PROTOCOL_ERROR, OUT_OF_MEMORY. */
WEFT_API int weft_recv(weft_context* ctx, weft_peer* from, void* into, size_t size, uint64_t tag,
                       uint64_t ignore, weft_op* op, void* user);

/* Ends when a matching message is there, and leaves it there. */
WEFT_API int weft_probe(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                        weft_op* op, void* user);

/* The same without waiting, and without an operation: looks, and returns WEFT_DONE and fills *about
 * (op and user are NULL) or WEFT_OK: no such message has arrived. */
WEFT_API int weft_try_probe(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                            weft_completion* about);

/* A message that a matched probe took out of the queue. Memory of the caller's, filled by
 * weft_claim; not copied from then until it is received or discarded, one of which must come. */
typedef struct weft_message {
  uint64_t opaque[8];
} weft_message;

/* As weft_try_probe, but takes the message out of matching: no other receive or probe sees it. Only
 * after WEFT_DONE is there something in *message. about: may be NULL. */
WEFT_API int weft_claim(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                        weft_message* message, weft_completion* about);

/* Receives a claimed message; as weft_recv otherwise. *message may be used again at once. Errors:
 * also INVALID_ARGUMENT (*message is zeros, or was received). */
WEFT_API int weft_recv_claimed(weft_context* ctx, weft_message* message, void* into, size_t size,
                               weft_op* op, void* user);

/* Drops a claimed message. To its sender it is received. *message may be used again at once. */
WEFT_API void weft_discard(weft_context* ctx, weft_message* message);

/* Asks an operation in flight to end. It still ends by itself, with STOPPED unless it was too late,
 * and that is told as always. A receive that is stopped while its message arrives takes the message
 * with it.
 */
WEFT_API void weft_cancel(weft_op* op);

/* The details of an operation whose end has been told, until its memory is used for another. */
WEFT_API void weft_result(const weft_op* op, weft_completion* result);

/* One line for people about an operation that failed; as weft_last_error. */
WEFT_API size_t weft_explain(const weft_op* op, char* text, size_t size);

/* --- progress and completions ---------------------------------------------------------------- */

/* Moves messages, and gathers up to `n` operations that have ended. Never blocks; after many empty
 * polls it lets other threads have the core for a moment. Returns how many were filled. */
WEFT_API int weft_poll(weft_context* ctx, weft_completion* done, int n);

/* The same without gathering. Returns how many ended operations wait to be told. */
WEFT_API int weft_progress(weft_context* ctx);

/* Looks, and tells whether this operation has ended: WEFT_DONE (and *result, which may be NULL, is
 * filled), or WEFT_OK: not yet. The operation's status is in the result. INVALID_ARGUMENT: its end
 * has been told before, or nothing was ever posted in memory of zeros. */
WEFT_API int weft_test(weft_op* op, weft_completion* result);

/* The same, but blocks: polls for a while, then sleeps; for timeout_ms milliseconds at most
 * (negative: for ever). While a thread waits for it, weft_poll of another does not tell of it.
 * Returns WEFT_DONE, or WEFT_TIMED_OUT: it is still in flight. */
WEFT_API int weft_wait(weft_op* op, int timeout_ms, weft_completion* result);

/* Ends when every process that was started together has come here, whatever messages have not been
 * received yet. Blocks; for one thread at a time. Errors: PEER_LOST, UNREACHABLE, CLOSED,
 * OUT_OF_MEMORY; UNSUPPORTED in a process that joined later. */
WEFT_API int weft_barrier(weft_context* ctx);

/* --- inside another event loop --------------------------------------------------------------- */

/* A descriptor for poll(), select() or epoll; watch it for input. It means something only while the
 * context is armed. The same as long as the context lives; not the caller's to read or close. */
WEFT_API int weft_wait_fd(const weft_context* ctx);

/* To be called before each sleep. WEFT_OK: from now on whatever needs this process's attention
 * makes the descriptor readable; sleep no longer than *timeout_ms (-1: as long as you like), then
 * call weft_poll. WEFT_DONE: something has come meanwhile, or waits to be told: call weft_poll
 * first. No wake-up is lost between the two: this looks once more after it has armed.
 *
 *     for (;;) {
 *       while ((n = weft_poll(ctx, done, 16)) > 0) handle(done, n);
 *       if (weft_arm(ctx, &timeout) == WEFT_OK) poll(fds, 2, timeout);     one of them weft's
 *       ...                                                               the others'
 *     }
 *
 * It costs some 15 microseconds. weft_poll by the same thread takes it back. One thread at a time:
 * while another is armed or asleep in weft_wait this returns WEFT_DONE. */
WEFT_API int weft_arm(weft_context* ctx, int* timeout_ms);

/* --- memory ---------------------------------------------------------------------------------- */

/* Memory from which a peer on the same host copies directly: a large message sent out of it crosses
 * in one copy instead of two. Zeroed, whole pages. Peers can read and never write it.
 * Errors: UNSUPPORTED (no shared memory here), OUT_OF_MEMORY, SYSTEM. */
WEFT_API int weft_alloc(weft_context* ctx, size_t size, void** memory);

/* Gives it back. No send from it may be in flight. NULL: nothing happens. Errors: INVALID_ARGUMENT
 * (it is not weft_alloc's). What is left goes with the context. */
WEFT_API int weft_free(weft_context* ctx, void* memory);

/* --- one-sided access ------------------------------------------------------------------------ */

/* A region is memory of this process that peers may read, write and count in, whether or not its
 * application is looking: with a progress thread also while it computes. All of this since WEFT_3;
 * weft/region.hpp says more about what is visible when. */
typedef struct weft_region weft_region;

/* Names such memory, or a part of it, for others: a plain value, to be handed on in a message
 * between processes of one architecture. A part: add to offset, and make size shorter. */
typedef struct weft_remote {
  uint64_t key;    /* 0: none */
  uint64_t offset; /* bytes, from the beginning of the region (see weft_region_open_as) */
  uint64_t size;   /* bytes */
} weft_remote;

/* NOLINTBEGIN(readability-identifier-naming): as C has it */
enum { WEFT_READ = 1, WEFT_WRITE = 2 }; /* what others may do; atomics need both */
/* NOLINTEND(readability-identifier-naming) */

/* Lets peers reach memory, which stays the caller's and must live until weft_region_close.
 * rights: any of the above. Errors: INVALID_ARGUMENT, SYSTEM, OUT_OF_MEMORY. */
WEFT_API int weft_region_open(weft_context* ctx, void* memory, size_t size, int rights,
                              weft_region** made);

/* The same, with a name of the caller's choice, for who names remote memory by a number and an
 * address: weft_remote's key, which is of no other region of the context now, and its offset, with
 * which the first byte is counted as `first`. A process that guesses the key has access. Since
 * WEFT_4. Errors: INVALID_ARGUMENT (also: the key is 0 or taken, or the last byte is counted as
 * 2^48 or more), OUT_OF_MEMORY. */
WEFT_API int weft_region_open_as(weft_context* ctx, void* memory, size_t size, int rights,
                                 uint64_t key, uint64_t first, weft_region** made);

/* Takes it back: what peers ask for later ends there with REFUSED. Blocks while peers whose links
 * were let copy there by themselves have not said that they have ended. weft_region_notified on it
 * that is in flight ends with CLOSED. NULL: nothing happens. What is left goes with the context. */
WEFT_API void weft_region_close(weft_region* region);

/* All of it, for others. */
WEFT_API weft_remote weft_region_remote(const weft_region* region);

/* Takes the oldest notification that a peer's weft_put left; waits for it if there is none. What
 * was put with it is there then. The completion's source and tag tell whose it is, and its word.
 * Errors: CLOSED, STOPPED, OUT_OF_MEMORY. */
WEFT_API int weft_region_notified(weft_region* region, weft_op* op, void* user);

/* The next four end when it has been done at the peer. Any number may be in flight; their order is
 * not said. Errors, here or when told: REFUSED (the region has ended, is too short, or was not
 * opened for that), INVALID_ARGUMENT (more than the weft_remote names; a word that is not at a
 * multiple of 8 bytes), PEER_LOST, CLOSED, STOPPED (it may have been done nevertheless),
 * OUT_OF_MEMORY, PROTOCOL_ERROR. */

/* Writes size bytes to the beginning of `where`. notify: NULL, or a word for the region's owner,
 * told when the bytes are there; a put of no bytes is nothing but that. 4096 that were not taken
 * wait there, one more is OUT_OF_MEMORY. */
WEFT_API int weft_put(weft_peer* to, const void* data, size_t size, weft_remote where,
                      const uint64_t* notify, weft_op* op, void* user);

/* Reads size bytes from the beginning of `where`. */
WEFT_API int weft_get(weft_peer* from, void* into, size_t size, weft_remote where, weft_op* op,
                      void* user);

/* Adds to the first 8 bytes of `word`, in one step for all who use these two and C11's atomics
 * there. The completion's tag is what it was before. */
WEFT_API int weft_fetch_add(weft_peer* at, weft_remote word, uint64_t addend, weft_op* op,
                            void* user);

/* Stores `desired` there if it is `expected`. The completion's tag is what it was before. */
WEFT_API int weft_compare_swap(weft_peer* at, weft_remote word, uint64_t expected, uint64_t desired,
                               weft_op* op, void* user);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_WEFT_H */
