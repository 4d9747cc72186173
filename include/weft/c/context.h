/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: contexts, and what they tell of themselves. */
#ifndef WEFT_C_CONTEXT_H
#define WEFT_C_CONTEXT_H

#include <weft/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Ends a context and notifies its peers. Sends that have begun leave before. Other operations in
 * flight end without a report; the memory of all of them is the caller's again. All handles of the
 * context become invalid. No other thread may be inside one of its calls. Blocks until what was
 * sent has left, for WEFT_LINGER at most, and then for a second at most if peers do not answer.
 * Does nothing for NULL, and in a child that fork() made later. */
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

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_CONTEXT_H */
