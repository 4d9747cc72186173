/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: operations, their ends, and progress. */
#ifndef WEFT_C_OPERATIONS_H
#define WEFT_C_OPERATIONS_H

#include <weft/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Posting calls return WEFT_OK: the operation is in flight. WEFT_DONE: it has ended well, and no
 * call will report it again; most small sends do. A negative code: it has failed, and no call will
 * report it again. After WEFT_DONE or an error weft_result has the details, except if a pointer was
 * NULL that must not be: then *op is unchanged. */

/* Asks an operation in flight to end. Its end is still reported, with STOPPED unless the request
 * was too late. If a receive is stopped while its message arrives, a message of up to 8 KiB waits
 * for the next receive, and a longer one is lost. */
WEFT_API void weft_cancel(weft_op* op);

/* The details of an operation after the report of its end, until its memory is used again. */
WEFT_API void weft_result(const weft_op* op, weft_completion* result);

/* The immediate word of the message of a receive or probe (weft_send_immediate); as weft_result.
 * 0: none, or another operation. Since WEFT_6. */
WEFT_API uint64_t weft_immediate(const weft_op* op);

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
 * report it. Returns WEFT_DONE, or WEFT_TIMED_OUT: it is still in flight. A signal does not end
 * it: where signals are handled between calls, as in Python, wait in a loop of short times. */
WEFT_API int weft_wait(weft_op* op, int timeout_ms, weft_completion* result);

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

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_OPERATIONS_H */
