/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: calls of functions at peers. */
#ifndef WEFT_C_CALLS_H
#define WEFT_C_CALLS_H

#include <weft/c/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_CALLS_H */
