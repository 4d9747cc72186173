/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: memory that is fast to send from, and memory that peers reach. */
#ifndef WEFT_C_MEMORY_H
#define WEFT_C_MEMORY_H

#include <weft/c/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates memory from which a peer on the same host copies directly: a large message out of it
 * crosses in one copy instead of two. Zeroed, whole pages. Peers can read it and never write it.
 * Errors: UNSUPPORTED (no shared memory here), OUT_OF_MEMORY, SYSTEM. */
WEFT_API int weft_alloc(weft_context* ctx, size_t size, void** memory);

/* Frees memory of weft_alloc. No send from it may be in flight. NULL: does nothing. Errors:
 * INVALID_ARGUMENT (not from weft_alloc). weft_close frees memory that is left. */
WEFT_API int weft_free(weft_context* ctx, void* memory);

/* Says that memory is about to be unmapped or remapped (munmap, a file mapped over it,
 * madvise(MADV_DONTFORK)): weft stops using its registrations with devices. Call this before the
 * change, with no operation in flight on the memory. Any thread. Since WEFT_2. */
WEFT_API void weft_invalidate_registrations(weft_context* ctx, const void* memory, size_t size);

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

#ifdef __cplusplus
}
#endif

#endif /* WEFT_C_MEMORY_H */
