/* SPDX-License-Identifier: Apache-2.0 */
/* weft.h: the interface for C99, and for every language that can call C. Programs include this
 * file; its parts, one for each subject, are in weft/c.
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
 * Streams of bytes and of values exist only in C++ (weft/stream.hpp, weft/endpoint.hpp).
 *
 * The library is libweft-c.so. Its symbols have the version WEFT_1, unless their comment says
 * otherwise. Structures that may grow begin with their size, so a program works with a newer
 * library without being compiled again. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/c/base.h>       /* result codes */
#include <weft/c/calls.h>      /* functions that peers call */
#include <weft/c/context.h>    /* opening, closing, texts */
#include <weft/c/groups.h>     /* groups and collectives */
#include <weft/c/memory.h>     /* shared memory, regions, puts, gets and atomics */
#include <weft/c/messages.h>   /* sends, receives, probes, lists of buffers */
#include <weft/c/operations.h> /* ends of operations: poll, test, wait; sleeping in other loops */
#include <weft/c/peers.h>      /* ranks, connections by address, joining a job */

#endif /* WEFT_WEFT_H */
