/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: groups of processes, and collectives. */
#ifndef WEFT_C_GROUPS_H
#define WEFT_C_GROUPS_H

#include <weft/c/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns when all processes that were started together have called it. Messages that are not
 * received yet do not block it. Blocks. It is one of the collectives of weft_world: all processes
 * call it in one order with those, and not while another thread posts one. Errors: PEER_LOST,
 * UNREACHABLE, CLOSED, OUT_OF_MEMORY; INVALID_ARGUMENT: another process called something else;
 * UNSUPPORTED in a process that joined later. */
WEFT_API int weft_barrier(weft_context* ctx);

/* A group is an ordered set of processes, numbered from 0. Collectives are operations that every
 * member posts, in one order, with parts of one size; several may be in flight. They move by
 * weft_poll and the like, and with a progress thread while the application computes. Their messages
 * never meet those of the application. weft allocates memory for a collective.
 *
 * When a member dies, leaves, or cancels a collective, all collectives of the group end at every
 * member with PEER_LOST, CLOSED or STOPPED, and so do later ones; weft_shrink makes a group of
 * those that are left. Other errors: INVALID_ARGUMENT (no such root, type or operation; a process
 * that is no member; members that post different operations, all of them; memory that is read and
 * written, other than a rank's own part in its place), OUT_OF_MEMORY. weft/group.hpp says more. All
 * of this since WEFT_5. */

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

/* The whole job again after a loss, as group::replace of weft/group.hpp: waits until a process that
 * was started again has the place of each lost rank. A process that has come back calls it for its
 * world, first of all.
 * PEER_LOST: rank 0 has gone; CLOSED: a rank has left in good order, so that its place stays empty;
 * UNSUPPORTED: the group was not made of the world by shrink, replace or grow. */
WEFT_API int weft_replace(weft_group* group, weft_group** made, weft_op* op, void* user);

/* All members of the job, also processes that joined, as group::grow of weft/group.hpp. */
WEFT_API int weft_grow(weft_group* group, weft_group** made, weft_op* op, void* user);

/* 1: this process has taken the place of a rank that was lost; 0: it has not. */
WEFT_API int weft_returned(weft_context* context);

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

/* Ends when every member has posted it. */
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

#endif /* WEFT_C_GROUPS_H */
