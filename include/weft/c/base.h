/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: results, and what all its parts name. */
#ifndef WEFT_C_BASE_H
#define WEFT_C_BASE_H

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

typedef struct weft_context weft_context; /* all weft state of a process; several may exist */
typedef struct weft_peer weft_peer;       /* the handle of a peer */

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_BASE_H */
