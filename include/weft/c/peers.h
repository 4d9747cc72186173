/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: peers by rank and by address, and their connections. */
#ifndef WEFT_C_PEERS_H
#define WEFT_C_PEERS_H

#include <weft/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* --- by address ------------------------------------------------------------------------------ */

typedef struct weft_listener weft_listener; /* a listener for peers that connect by address */

/* A connection request at a listener, neither accepted nor rejected yet. */
typedef struct weft_connection_request weft_connection_request;

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

/* Waits for a connection request, and leaves the answer to the caller. Blocks as weft_accept does.
 * private data: as of weft_accept. *request: the caller's until weft_request_accept or
 * weft_request_reject, one of which must follow, on any thread; meanwhile the other side waits.
 * weft_close rejects those that are left. Errors: TIMED_OUT, CLOSED, OUT_OF_MEMORY. Since WEFT_6,
 * as the next two. */
WEFT_API int weft_listener_next(weft_listener* listener, int timeout_ms, char* private_data,
                                size_t private_data_size, weft_connection_request** request);

/* Accepts a connection request. Blocks for a moment. The handle of the request is invalid
 * afterwards, also after an error: PEER_LOST (the other side has left), CLOSED, PROTOCOL_ERROR,
 * OUT_OF_MEMORY. */
WEFT_API int weft_request_accept(weft_connection_request* request, weft_peer** peer);

/* Rejects a connection request: the other side's weft_connect ends with REFUSED. Does not block.
 * The handle of the request is invalid afterwards. why: up to 1024 bytes of text for the other
 * side, which weft_last_error has there; NULL: none. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY (the
 * request is rejected all the same, without the text). */
WEFT_API int weft_request_reject(weft_connection_request* request, const char* why);

/* Closes the listener and rejects the connection requests that wait at it; those that
 * weft_listener_next gave out may still be accepted. No thread may be inside weft_accept or
 * weft_listener_next. NULL: does nothing. */
WEFT_API void weft_listener_close(weft_listener* listener);

/* Connects to another process's listener. Blocks as weft_accept does. private data: up to 1 KiB of
 * text for the other side; may be NULL. Errors: REFUSED, UNREACHABLE, PEER_LOST, TIMED_OUT,
 * INVALID_ARGUMENT. */
WEFT_API int weft_connect(weft_context* ctx, const char* address, const char* private_data,
                          int timeout_ms, weft_peer** peer);

/* Connects two equals: both sides call, in any order and at any time, and both get a peer. Blocks
 * as weft_accept does. Since WEFT_6.
 * own: an address as for weft_listen, at which this side listens until both have met.
 * other: what the other side passes as its own.
 * discriminator: up to 1 KiB of text that must be equal on both sides, so that several pairs can
 * meet at the same addresses.
 * Errors: TIMED_OUT (the other side did not come), INVALID_ARGUMENT (an address is not valid, both
 * are equal, or this context uses the discriminator already), SYSTEM (`own` is taken), CLOSED,
 * OUT_OF_MEMORY. */
WEFT_API int weft_meet(weft_context* ctx, const char* own, const char* other,
                       const char* discriminator, int timeout_ms, weft_peer** peer);

/* --- the job --------------------------------------------------------------------------------- */

/* Lets processes join the job through this process, which has rank 0. address: as for weft_listen.
 * bound: receives the address for weft_join, with the port that the system chose. Errors:
 * UNSUPPORTED (another rank), INVALID_ARGUMENT (or bound_size too short), SYSTEM. */
WEFT_API int weft_open_job(weft_context* ctx, const char* address, char* bound, size_t bound_size);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_PEERS_H */
