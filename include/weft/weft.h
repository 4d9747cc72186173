/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: the interface for C99, and for every language that can call C.
 *
 * The application drives a context by calls: its loop posts operations, polls with weft_poll, and
 * computes in between. With the default progress thread messages move while it computes, too.
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
 * Results. Every call that returns int returns WEFT_OK (0), a positive value as its comment says,
 * or one of the negative codes below. weft_strerror describes a code; weft_last_error tells cause
 * and cure of a failed call.
 *
 * Threads. Every call may be made from any thread unless it says otherwise; a weft_op belongs to
 * one thread at a time. No call takes a mutex on a message's path. The thread that opened the
 * context is its home thread and the fastest; other threads pay for a few locked instructions.
 * weft_bind_thread changes the home thread. The comments of blocking calls say that they block. No
 * call may be made from a signal handler, and in a child after fork only weft_close.
 *
 * Ownership. Handles (weft_context, weft_peer, ...) are weft's. A weft_op and the memory that it
 * names are the caller's: do not touch them from the posting call until the operation's end has
 * been reported, by exactly one of: the posting call itself (it returned anything but WEFT_OK),
 * weft_poll, weft_test or weft_wait. Only the first call that finds the end reports it.
 *
 * Streams of bytes and of values, and gather and scatter lists of messages, exist only in C++
 * (weft/stream.hpp, weft/endpoint.hpp).
 *
 * The library is libweft-c.so. Its symbols have the version WEFT_1, unless their comment says
 * otherwise. Structures that may grow begin with their size, so a program works with a newer
 * library without being compiled again. */
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
  WEFT_DONE = 1,            /* the operation has ended already */
  WEFT_STOPPED = -1,        /* by weft_cancel */
  WEFT_TIMED_OUT = -2,      /* the time limit of the call has passed */
  WEFT_PEER_LOST = -3,      /* the other process died, or its connection broke */
  WEFT_CLOSED = -4,         /* closed by this side, or by the peer in good order */
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

typedef struct weft_context weft_context;   /* all weft state of a process; several may exist */
typedef struct weft_peer weft_peer;         /* the handle of a peer */
typedef struct weft_listener weft_listener; /* a listener for peers that connect by address */

/* Options. Set all members to zero, then `size`. Strings are the caller's; none is kept. */
typedef struct weft_options {
  size_t size;                 /* sizeof(weft_options) */
  const char* const* settings; /* any of the WEFT_* variables of docs/environment.md, such as
                                  {"WEFT_PROGRESS=polling", NULL}; they take precedence over the
                                  environment. NULL: none */
  char* why;                   /* receives one line of text if opening fails; may be NULL */
  size_t why_size;             /* bytes of `why` */
} weft_options;

/* Opens a context. In a job (weft-run, mpirun, srun) the context belongs to the job and has a rank.
 * Under weft-run a process has one context at a time: a second weft_open returns INVALID_ARGUMENT
 * until the first context is closed. The calling thread becomes the home thread. Blocks for
 * milliseconds. options: may be NULL. *made: the context, the caller's until weft_close. Errors:
 * INVALID_ARGUMENT, SYSTEM, UNSUPPORTED, OUT_OF_MEMORY. */
WEFT_API int weft_open(const weft_options* options, weft_context** made);

/* As weft_open, but joins a running job and gets a rank there. Blocks up to ten seconds.
 * address: the one that weft_open_job returned on the job's rank 0. Errors: also REFUSED,
 * UNREACHABLE. */
WEFT_API int weft_join(const char* address, const weft_options* options, weft_context** made);

/* Ends a context and notifies its peers. Operations in flight end without a report; their memory is
 * the caller's again. All handles of the context become invalid. No other thread may be inside one
 * of its calls. Blocks, for a second at most if peers do not answer. Does nothing for NULL, and in
 * a child that fork() made later. */
WEFT_API void weft_close(weft_context* ctx);

/* Makes the calling thread the home thread. The former home thread must not be inside a call. */
WEFT_API void weft_bind_thread(weft_context* ctx);

/* This process's rank, and the number of processes that were started together; 0 and 1 without a
 * job. The rank of a process that joined later is at least that number. */
WEFT_API uint32_t weft_rank(const weft_context* ctx);
WEFT_API uint32_t weft_size(const weft_context* ctx);

/* Copies a text: cause and cure of the last failed call on the context, of any thread. (For
 * operations use weft_explain.) The copy ends with a zero, and is cut if `size` is too small.
 * Returns the length of the whole text, without the zero. Empty: no call has failed. */
WEFT_API size_t weft_last_error(weft_context* ctx, char* text, size_t size);

/* Copies a text of several lines in the same way: the choices of the context and their reasons. */
WEFT_API size_t weft_describe(weft_context* ctx, char* text, size_t size);

/* Says that memory is about to be unmapped or remapped (munmap, a file mapped over it,
 * madvise(MADV_DONTFORK)): weft stops using its registrations with devices. Call this before the
 * change, with no operation in flight on the memory. Any thread. Since WEFT_2. */
WEFT_API void weft_invalidate_registrations(weft_context* ctx, const void* memory, size_t size);

/* --- peers ----------------------------------------------------------------------------------- */

/* A handle names the same process until weft_peer_free or weft_close; there is one handle for each
 * peer. Connections are made on first use. */

/* The peer with a number: a rank of the job, also this process's own, or the `source` of a message.
 * Operations with a rank that no process has end with UNREACHABLE or PEER_LOST. Errors:
 * INVALID_ARGUMENT (a number of 2^31 or more that no peer has), OUT_OF_MEMORY. */
WEFT_API int weft_peer_of(weft_context* ctx, uint32_t number, weft_peer** peer);

/* The peer's number in the context: the rank, or, for peers by address, 2^31 or more. Equals
 * weft_completion.source of the peer's messages. */
WEFT_API uint32_t weft_peer_number(const weft_peer* peer);

/* Starts the orderly end: messages sent before still arrive, later operations end with CLOSED on
 * both sides. Does not block. The handle stays valid. */
WEFT_API void weft_peer_close(weft_peer* peer);

/* Frees the handle; none of its operations may be in flight. For a peer by address this also frees
 * the context's state of the peer, once the peer has gone. Not needed before weft_close. */
WEFT_API void weft_peer_free(weft_peer* peer);

/* Opens a listener. address: "unix://name", "any://host:port" or "tcp://host:port", port 0: any.
 * Errors: INVALID_ARGUMENT, SYSTEM (taken), OUT_OF_MEMORY. */
WEFT_API int weft_listen(weft_context* ctx, const char* address, weft_listener** listener);

/* The listen address, with the port that the system chose; valid as long as the listener exists. */
WEFT_API const char* weft_listener_address(const weft_listener* listener);

/* Waits for a connection request, and accepts it. Blocks up to timeout_ms milliseconds (negative:
 * for ever); messages move meanwhile only if there is a progress thread. private data (may be NULL)
 * receives the private data of the other side's weft_connect, cut to private_data_size bytes with a
 * zero at the end. Errors: TIMED_OUT, CLOSED, OUT_OF_MEMORY. */
WEFT_API int weft_accept(weft_listener* listener, int timeout_ms, char* private_data,
                         size_t private_data_size, weft_peer** peer);

/* Closes the listener and rejects the connection requests that wait at it. No thread may be inside
 * weft_accept. NULL: does nothing. */
WEFT_API void weft_listener_close(weft_listener* listener);

/* Connects to another process's listener. Blocks as weft_accept does. private data: up to 1 KiB of
 * text for the other side; may be NULL. Errors: REFUSED, UNREACHABLE, PEER_LOST, TIMED_OUT,
 * INVALID_ARGUMENT. */
WEFT_API int weft_connect(weft_context* ctx, const char* address, const char* private_data,
                          int timeout_ms, weft_peer** peer);

/* Lets processes join the job through this process, which has rank 0. address: as for weft_listen.
 * bound: receives the address for weft_join, with the port that the system chose. Errors:
 * UNSUPPORTED (another rank), INVALID_ARGUMENT (or bound_size too short), SYSTEM. */
WEFT_API int weft_open_job(weft_context* ctx, const char* address, char* bound, size_t bound_size);

/* --- operations ------------------------------------------------------------------------------ */

/* One operation. Memory of the caller, with any content before the posting call. weft allocates
 * nothing for the operation itself, nor, over shm and tcp, for a message that leaves in one piece
 * or finds its receive posted. A send that waits or is large needs some memory of weft. Do not copy
 * or move it while in flight. */
typedef struct weft_op {
  uint64_t opaque[32];
} weft_op;

/* How an operation ended. */
typedef struct weft_completion {
  weft_op* op;     /* the operation */
  void* user;      /* the `user` argument of the posting call */
  int status;      /* WEFT_OK or a negative code */
  uint32_t source; /* of a receive, probe or notification: weft_peer_number of the sender */
  uint64_t tag;    /* of a receive or probe: the message's tag; of a notification: its word; of an
                      atomic: the former word */
  size_t size;     /* of a receive or probe: bytes of the whole message, also if truncated */
} weft_completion;

/* All bits of a tag, for `ignore`: the receive matches every message of the application. */
#define WEFT_ANY_TAG (~(uint64_t)0)

/* Posting. A message goes to the receive that was posted first among those that match; messages of
 * one sender that match one receive are received in the order sent. Tags have 64 bits. Tags with
 * the top byte 0xfe or 0xff are weft's own: an operation with such a tag gets INVALID_ARGUMENT, and
 * no receive that ignores bits matches one.
 *
 * Posting calls return WEFT_OK: the operation is in flight. WEFT_DONE: it has ended well, and no
 * call will report it again; most small sends do. A negative code: it has failed, and no call will
 * report it again. After WEFT_DONE or an error weft_result has the details, except if a pointer was
 * NULL that must not be: then *op is unchanged. */

/* Sends size bytes (0 is a message, too). Ends when the memory may be used again; the message may
 * still be on its way. Errors, of the call or of the completion: PEER_LOST, CLOSED, STOPPED,
 * INVALID_ARGUMENT (too long), OUT_OF_MEMORY, PROTOCOL_ERROR. */
WEFT_API int weft_send(weft_peer* to, const void* data, size_t size, uint64_t tag, weft_op* op,
                       void* user);

/* As weft_send, but ends only when the receiver has matched the message. */
WEFT_API int weft_send_synchronous(weft_peer* to, const void* data, size_t size, uint64_t tag,
                                   weft_op* op, void* user);

/* Receives a message with a tag that equals `tag` in every bit that is not set in `ignore`.
 * from: the sender; NULL: any source (such a receive does not end with PEER_LOST).
 * Errors: TRUNCATED, PEER_LOST, CLOSED, STOPPED, PROTOCOL_ERROR, OUT_OF_MEMORY. */
WEFT_API int weft_recv(weft_context* ctx, weft_peer* from, void* into, size_t size, uint64_t tag,
                       uint64_t ignore, weft_op* op, void* user);

/* Ends when a matching message has arrived, and leaves the message in the queue. */
WEFT_API int weft_probe(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                        weft_op* op, void* user);

/* The same without waiting, and without an operation. Returns WEFT_DONE and fills *about (op and
 * user are NULL), or WEFT_OK: no such message has arrived. */
WEFT_API int weft_try_probe(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                            weft_completion* about);

/* A claimed message. Memory of the caller, filled by weft_claim. Do not copy it until the message
 * is received or discarded; one of the two must follow. */
typedef struct weft_message {
  uint64_t opaque[8];
} weft_message;

/* As weft_try_probe, but takes the message out of matching: no other receive or probe finds it.
 * Fills *message only with WEFT_DONE. about: may be NULL. */
WEFT_API int weft_claim(weft_context* ctx, weft_peer* from, uint64_t tag, uint64_t ignore,
                        weft_message* message, weft_completion* about);

/* Receives a claimed message; as weft_recv otherwise. *message may be used again at once. Errors:
 * also INVALID_ARGUMENT (*message is zeros, or was received). */
WEFT_API int weft_recv_claimed(weft_context* ctx, weft_message* message, void* into, size_t size,
                               weft_op* op, void* user);

/* Drops a claimed message. For its sender it is received. *message may be used again at once. */
WEFT_API void weft_discard(weft_context* ctx, weft_message* message);

/* Asks an operation in flight to end. Its end is still reported, with STOPPED unless the request
 * was too late. If a receive is stopped while its message arrives, the message is lost. */
WEFT_API void weft_cancel(weft_op* op);

/* The details of an operation after the report of its end, until its memory is used again. */
WEFT_API void weft_result(const weft_op* op, weft_completion* result);

/* One line of text about an operation that failed; as weft_last_error. */
WEFT_API size_t weft_explain(const weft_op* op, char* text, size_t size);

/* --- progress and completions ---------------------------------------------------------------- */

/* Makes progress, and reports up to `n` operations that have ended. Never blocks; after many empty
 * polls it yields the core for a moment. Returns the number of elements filled. */
WEFT_API int weft_poll(weft_context* ctx, weft_completion* done, int n);

/* Makes progress without reports. Returns the number of ended operations not yet reported. */
WEFT_API int weft_progress(weft_context* ctx);

/* Makes progress, and tells whether this operation has ended: WEFT_DONE (and fills *result, which
 * may be NULL), or WEFT_OK: not yet. The result has the operation's status. INVALID_ARGUMENT: its
 * end was reported before, or *op is all zeros and was never posted. */
WEFT_API int weft_test(weft_op* op, weft_completion* result);

/* The same, but blocks: polls for a while, then sleeps; for timeout_ms milliseconds at most
 * (negative: for ever). While a thread waits for an operation, weft_poll of another thread does not
 * report it. Returns WEFT_DONE, or WEFT_TIMED_OUT: it is still in flight. */
WEFT_API int weft_wait(weft_op* op, int timeout_ms, weft_completion* result);

/* Returns when all processes that were started together have called it. Messages that are not
 * received yet do not block it. Blocks; for one thread at a time. Errors: PEER_LOST, UNREACHABLE,
 * CLOSED, OUT_OF_MEMORY; UNSUPPORTED in a process that joined later. */
WEFT_API int weft_barrier(weft_context* ctx);

/* --- inside another event loop --------------------------------------------------------------- */

/* A descriptor for poll(), select() or epoll; watch it for input. It is meaningful only while the
 * context is armed. It does not change while the context lives; do not read or close it. */
WEFT_API int weft_wait_fd(const weft_context* ctx);

/* Call before each sleep. WEFT_OK: from now on every event for this context makes the descriptor
 * readable; sleep for at most *timeout_ms milliseconds (-1: without limit), then call weft_poll.
 * WEFT_DONE: there is work, or an ended operation is not reported yet: call weft_poll first. No
 * wake-up is lost: this call polls once more after it has armed the descriptor.
 *
 *     for (;;) {
 *       while ((n = weft_poll(ctx, done, 16)) > 0) handle(done, n);
 *       if (weft_arm(ctx, &timeout) == WEFT_OK) poll(fds, 2, timeout);     one of them weft's
 *       ...                                                               the others'
 *     }
 *
 * It costs some 15 microseconds. weft_poll by the same thread disarms. One thread at a time: while
 * another thread is armed or asleep in weft_wait this returns WEFT_DONE. */
WEFT_API int weft_arm(weft_context* ctx, int* timeout_ms);

/* --- memory ---------------------------------------------------------------------------------- */

/* Allocates memory from which a peer on the same host copies directly: a large message out of it
 * crosses in one copy instead of two. Zeroed, whole pages. Peers can read it and never write it.
 * Errors: UNSUPPORTED (no shared memory here), OUT_OF_MEMORY, SYSTEM. */
WEFT_API int weft_alloc(weft_context* ctx, size_t size, void** memory);

/* Frees memory of weft_alloc. No send from it may be in flight. NULL: does nothing. Errors:
 * INVALID_ARGUMENT (not from weft_alloc). weft_close frees memory that is left. */
WEFT_API int weft_free(weft_context* ctx, void* memory);

/* --- one-sided access ------------------------------------------------------------------------ */

/* A region is memory of this process that peers reach by RMA. The application takes no part: with a
 * progress thread peers reach it also while the application computes. All of this since WEFT_3;
 * weft/region.hpp says more about visibility. */
typedef struct weft_region weft_region;

/* Names a region, or a part of it, for peers: a plain value, which travels in a message between
 * processes of one architecture. For a part, add to offset and reduce size. */
typedef struct weft_remote {
  uint64_t key;    /* 0: none */
  uint64_t offset; /* bytes, from the beginning of the region (see weft_region_open_as) */
  uint64_t size;   /* bytes */
} weft_remote;

/* NOLINTBEGIN(readability-identifier-naming): as C has it */
enum { WEFT_READ = 1, WEFT_WRITE = 2 }; /* what peers may do; atomics need both */
/* NOLINTEND(readability-identifier-naming) */

/* Opens a region. The memory stays the caller's and must live until weft_region_close.
 * rights: any of the above. Errors: INVALID_ARGUMENT, SYSTEM, OUT_OF_MEMORY. */
WEFT_API int weft_region_open(weft_context* ctx, void* memory, size_t size, int rights,
                              weft_region** made);

/* The same, with a name that the caller chooses, for interfaces that name remote memory by a number
 * and an address: the key of weft_remote, unique among the context's regions, and the offset
 * `first` of the first byte. A process that guesses the key has access. Since WEFT_4. Errors:
 * INVALID_ARGUMENT (also: the key is 0 or taken, or the offset of the last byte is 2^48 or more),
 * OUT_OF_MEMORY. */
WEFT_API int weft_region_open_as(weft_context* ctx, void* memory, size_t size, int rights,
                                 uint64_t key, uint64_t first, weft_region** made);

/* Ends a region: later operations of peers end with REFUSED. Blocks until all peers with a grant
 * (their links copy by themselves) have reported the end of the copy. A weft_region_notified in
 * flight ends with CLOSED. NULL: does nothing. weft_close ends regions that are left. */
WEFT_API void weft_region_close(weft_region* region);

/* The name of the whole region, for peers. */
WEFT_API weft_remote weft_region_remote(const weft_region* region);

/* Takes the oldest notification of a peer's weft_put; waits if there is none. The bytes of the put
 * are visible then. The completion's source is the initiator, its tag the notification's word.
 * Errors: CLOSED, STOPPED, OUT_OF_MEMORY. */
WEFT_API int weft_region_notified(weft_region* region, weft_op* op, void* user);

/* The next four operations end when they have been done at the peer. Any number may be in flight;
 * their order is not defined. Errors, of the call or of the completion: REFUSED (the region has
 * ended, is too short, or does not have the right), INVALID_ARGUMENT (more bytes than the
 * weft_remote names; a word that is not at a multiple of 8 bytes), PEER_LOST, CLOSED, STOPPED (the
 * peer may still do it), OUT_OF_MEMORY, PROTOCOL_ERROR. */

/* Writes size bytes to the beginning of `where`. notify: NULL, or a notification for the region's
 * owner, which comes after the bytes; a put of no bytes is only the notification. If 4096
 * notifications wait at the owner, the put ends with OUT_OF_MEMORY. */
WEFT_API int weft_put(weft_peer* to, const void* data, size_t size, weft_remote where,
                      const uint64_t* notify, weft_op* op, void* user);

/* Reads size bytes from the beginning of `where`. */
WEFT_API int weft_get(weft_peer* from, void* into, size_t size, weft_remote where, weft_op* op,
                      void* user);

/* Adds to the first 8 bytes of `word`. Atomic with regard to weft_fetch_add, weft_compare_swap, and
 * C11's atomics at the peer. The completion's tag is the former value. */
WEFT_API int weft_fetch_add(weft_peer* at, weft_remote word, uint64_t addend, weft_op* op,
                            void* user);

/* Stores `desired` if the word equals `expected`. The completion's tag is the former value. */
WEFT_API int weft_compare_swap(weft_peer* at, weft_remote word, uint64_t expected, uint64_t desired,
                               weft_op* op, void* user);

/* --- calls ----------------------------------------------------------------------------------- */

/* A handler is a function that peers call by number; weft/call.hpp and endpoint::call are the same
 * in C++, and each side may be in either language. A call is a message: it costs credit as one, and
 * calls to one peer begin in the order in which they were posted. weft allocates memory for a call.
 * All of this since WEFT_5. */

typedef struct weft_handler weft_handler;         /* a registered handler */
typedef struct weft_served_call weft_served_call; /* a call that waits for this side's answer */

/* Calls a peer's handler and receives the reply. args: unchanged until the end. reply: receives it;
 * a longer one ends the call with TRUNCATED. timeout_ms: the deadline, which the handler learns,
 * too; negative: none. The completion's size is the bytes of the reply. Errors: REFUSED (there is
 * no such handler, or it refused; weft_explain has its text), TIMED_OUT, TRUNCATED, STOPPED (the
 * handler learns of it), PEER_LOST, CLOSED, OUT_OF_MEMORY, PROTOCOL_ERROR. */
WEFT_API int weft_call(weft_peer* to, uint32_t number, const void* args, size_t size, void* reply,
                       size_t reply_size, int timeout_ms, weft_op* op, void* user);

/* Calls a peer's handler without a reply. Ends as weft_send. Dropped there if there is no such
 * handler. */
WEFT_API int weft_post(weft_peer* to, uint32_t number, const void* args, size_t size, weft_op* op,
                       void* user);

/* Called once for each call, by a thread that is inside weft_poll, weft_test, weft_wait,
 * weft_progress or weft_arm, which it keeps there. May make every call but weft_close. The call is
 * the application's until weft_reply or weft_refuse: now or later, by any thread. */
typedef void (*weft_handler_fn)(weft_served_call* call, void* user);

/* Registers a handler. Calls that come before the first one of a context wait for it; later ones of
 * a number without a handler are refused. Errors: INVALID_ARGUMENT (the number has a handler),
 * CLOSED, OUT_OF_MEMORY. */
WEFT_API int weft_handler_open(weft_context* ctx, uint32_t number, weft_handler_fn f, void* user,
                               weft_handler** made);

/* Takes no more calls. Those that have begun still need their answers. Does not block. NULL: does
 * nothing. weft_close closes handlers that are left, and refuses calls without an answer. */
WEFT_API void weft_handler_close(weft_handler* handler);

/* The number that was called, the caller (NULL: out of memory), and the bytes of the arguments. */
WEFT_API uint32_t weft_served_number(const weft_served_call* call);
WEFT_API weft_peer* weft_served_from(const weft_served_call* call);
WEFT_API size_t weft_served_size(const weft_served_call* call);

/* The arguments, if they are short and here already; else, and if there are none, NULL. Valid until
 * weft_served_recv or the answer. */
WEFT_API const void* weft_served_data(const weft_served_call* call);

/* Receives the arguments, once; long ones cross now, directly into this memory. Ends as
 * weft_recv_claimed. Must have ended before the answer. */
WEFT_API int weft_served_recv(weft_served_call* call, void* into, size_t size, weft_op* op,
                              void* user);

/* 1: the caller has stopped waiting: it was stopped, or lost, or its deadline has passed. The call
 * still needs its answer, which is dropped. */
WEFT_API int weft_served_stopped(const weft_served_call* call);

/* Answers a call; to a weft_post the answer is dropped. Ends when the memory may be used again;
 * such an operation cannot be cancelled. The handle of the call is invalid at once. Errors:
 * INVALID_ARGUMENT (it has its answer), and those of weft_send. */
WEFT_API int weft_reply(weft_served_call* call, const void* data, size_t size, weft_op* op,
                        void* user);

/* Answers a call by REFUSED with a text of up to 1024 bytes; NULL: none. Does not wait. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY. */
WEFT_API int weft_refuse(weft_served_call* call, const char* why);

/* --- groups and collectives ------------------------------------------------------------------ */

/* A group is an ordered set of processes, numbered from 0. Collectives are operations that every
 * member posts, in one order, with parts of one size; several may be in flight. They move by
 * weft_poll and the like, and with a progress thread while the application computes. Their messages
 * never meet those of the application. weft allocates memory for a collective.
 *
 * When a member dies, leaves, or cancels a collective, all collectives of the group end at every
 * member with PEER_LOST, CLOSED or STOPPED, and so do later ones; weft_shrink makes a group of
 * those that are left. Other errors: INVALID_ARGUMENT (no such root, type or operation; a process
 * that is no member), OUT_OF_MEMORY. weft/group.hpp says more. All of this since WEFT_5. */

typedef struct weft_group weft_group;

/* The processes that were started together. Free each handle, or let weft_close do it. Errors:
 * OUT_OF_MEMORY. */
WEFT_API int weft_world(weft_context* ctx, weft_group** made);

/* Frees a handle; collectives in flight go on. NULL: does nothing. */
WEFT_API void weft_group_free(weft_group* group);

/* This process's rank in the group, and the number of members; without a group the greatest number,
 * and 0. */
WEFT_API uint32_t weft_group_rank(const weft_group* group);
WEFT_API uint32_t weft_group_size(const weft_group* group);

/* A collective: members with one colour become one group, in the order of their keys, and of their
 * ranks where keys are equal. *made is set when the operation has ended well. */
WEFT_API int weft_split(weft_group* group, int colour, int key, weft_group** made, weft_op* op,
                        void* user);

/* The members that are left after a loss: each of them posts it. *made as above. Errors: also
 * UNSUPPORTED (members from outside of the job). */
WEFT_API int weft_shrink(weft_group* group, weft_group** made, weft_op* op, void* user);

/* NOLINTBEGIN(readability-identifier-naming): as C has it */
typedef enum weft_type { /* of the elements of a reduction */
                         WEFT_INT8 = 1,
                         WEFT_UINT8 = 2,
                         WEFT_INT16 = 3,
                         WEFT_UINT16 = 4,
                         WEFT_INT32 = 5,
                         WEFT_UINT32 = 6,
                         WEFT_INT64 = 7,
                         WEFT_UINT64 = 8,
                         WEFT_FLOAT = 9,
                         WEFT_DOUBLE = 10
} weft_type;

typedef enum weft_reduction { /* how two elements become one; the last three: of integers */
                              WEFT_SUM = 1,
                              WEFT_PRODUCT = 2,
                              WEFT_MIN = 3,
                              WEFT_MAX = 4,
                              WEFT_AND = 5,
                              WEFT_OR = 6,
                              WEFT_XOR = 7
} weft_reduction;
/* NOLINTEND(readability-identifier-naming) */

/* Ends when every member has posted it. Barriers of one group do not overlap. */
WEFT_API int weft_group_barrier(weft_group* group, weft_op* op, void* user);

/* Copies the root's bytes to all members. */
WEFT_API int weft_broadcast(weft_group* group, void* data, size_t size, uint32_t root, weft_op* op,
                            void* user);

/* Reduces the members' elements, position by position, in the order of ranks. result: at the root
 * as long as `mine`; elsewhere not used, may be NULL. count: of elements, the same everywhere. */
WEFT_API int weft_reduce(weft_group* group, const void* mine, void* result, size_t count,
                         weft_type type, weft_reduction how, uint32_t root, weft_op* op,
                         void* user);

/* The same, and all members have the result, in place of their own elements. */
WEFT_API int weft_all_reduce(weft_group* group, void* data, size_t count, weft_type type,
                             weft_reduction how, weft_op* op, void* user);

/* Each member gets the reduction of the elements of the ranks up to its own (inclusive), in place
 * of its own elements. */
WEFT_API int weft_scan(weft_group* group, void* data, size_t count, weft_type type,
                       weft_reduction how, weft_op* op, void* user);

/* The root gets the members' parts, one behind the other. all: at the root as many parts as there
 * are members; elsewhere not used, may be NULL. size: bytes of one part. */
WEFT_API int weft_gather(weft_group* group, const void* mine, void* all, size_t size, uint32_t root,
                         weft_op* op, void* user);

/* Each member gets its part of the root's bytes. all, size: as above. */
WEFT_API int weft_scatter(weft_group* group, const void* all, void* mine, size_t size,
                          uint32_t root, weft_op* op, void* user);

/* As weft_gather, and all members have the result. */
WEFT_API int weft_all_gather(weft_group* group, const void* mine, void* all, size_t size,
                             weft_op* op, void* user);

/* Part r of `out` goes to rank r, and part r of `in` comes from there. size: bytes of one part. */
WEFT_API int weft_all_to_all(weft_group* group, const void* out, void* in, size_t size, weft_op* op,
                             void* user);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_WEFT_H */
