/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: tagged messages. */
#ifndef WEFT_C_MESSAGES_H
#define WEFT_C_MESSAGES_H

#include <weft/c/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All bits of a tag, for `ignore`: the receive matches every message of the application. */
#define WEFT_ANY_TAG (~(uint64_t)0)

/* A message goes to the receive that was posted first among those that match; messages of
 * one sender that match one receive are received in the order sent. Tags have 64 bits. Tags with
 * the top byte 0xfe or 0xff are weft's own: an operation with such a tag gets INVALID_ARGUMENT, and
 * no receive that ignores bits matches one. */

/* Sends size bytes (0 is a message, too). Ends when the memory may be used again; the message may
 * still be on its way. Errors, of the call or of the completion: PEER_LOST, CLOSED, STOPPED,
 * INVALID_ARGUMENT (too long), OUT_OF_MEMORY, PROTOCOL_ERROR. */
WEFT_API int weft_send(weft_peer* to, const void* data, size_t size, uint64_t tag, weft_op* op,
                       void* user);

/* As weft_send, but ends only when the receiver has matched the message. */
WEFT_API int weft_send_synchronous(weft_peer* to, const void* data, size_t size, uint64_t tag,
                                   weft_op* op, void* user);

/* As weft_send, with an immediate word, which travels with the message and takes no part in
 * matching; for example the header of a protocol. The receiver has it from weft_immediate or
 * weft_message_immediate. immediate: 0: none. Since WEFT_6. */
WEFT_API int weft_send_immediate(weft_peer* to, const void* data, size_t size, uint64_t tag,
                                 uint64_t immediate, weft_op* op, void* user);

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

/* The immediate word of a claimed message, until *message is used again; 0: none. Since WEFT_6. */
WEFT_API uint64_t weft_message_immediate(const weft_message* message);

/* Drops a claimed message. For its sender it is received. *message may be used again at once. */
WEFT_API void weft_discard(weft_context* ctx, weft_message* message);

/* --- lists of buffers ------------------------------------------------------------------------ */

/* A buffer of a list; a struct iovec has the same layout. */
typedef struct weft_buffer {
  void* memory; /* a send only reads it; may be NULL if size is 0 */
  size_t size;  /* bytes; may be 0 */
} weft_buffer;

/* Gathers one message from several buffers, in their order. The receiver cannot tell: it receives
 * into one buffer or into a list of its own. Otherwise as weft_send. All of this since WEFT_6.
 * (A put or a get has one buffer, also in C++: post one for each.)
 * list: lives unchanged, like the memory that it names, until the end has been reported.
 * count: of the list's buffers; 0: a message of no bytes.
 * immediate: as of weft_send_immediate; 0: none.
 * Errors: also INVALID_ARGUMENT (a buffer without memory). */
WEFT_API int weft_send_list(weft_peer* to, const weft_buffer* list, size_t count, uint64_t tag,
                            uint64_t immediate, weft_op* op, void* user);

/* As weft_send_list, but ends only when the receiver has matched the message. */
WEFT_API int weft_send_list_synchronous(weft_peer* to, const weft_buffer* list, size_t count,
                                        uint64_t tag, uint64_t immediate, weft_op* op, void* user);

/* Scatters a message over several buffers, in their order. list, count: as above. TRUNCATED: the
 * message was longer than all of them together. Otherwise as weft_recv. */
WEFT_API int weft_recv_list(weft_context* ctx, weft_peer* from, const weft_buffer* list,
                            size_t count, uint64_t tag, uint64_t ignore, weft_op* op, void* user);

/* The same for a claimed message. Otherwise as weft_recv_claimed. */
WEFT_API int weft_recv_claimed_list(weft_context* ctx, weft_message* message,
                                    const weft_buffer* list, size_t count, weft_op* op, void* user);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_MESSAGES_H */
