/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the test programs in C. */
#ifndef WEFT_TESTS_C_CHECK_H
#define WEFT_TESTS_C_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/weft.h>

/* Ends the process with a line that tells where, unless `holds`. */
#define CHECK(holds) check_at((holds) != 0, #holds, __FILE__, __LINE__)

static inline void check_at(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
  exit(1);
}

static inline void nap(long milliseconds) {
  struct timespec t;
  t.tv_sec = milliseconds / 1000;
  t.tv_nsec = milliseconds % 1000 * 1000000;
  nanosleep(&t, NULL);
}

/* Bytes that depend on the sender and the receiver. */
static inline void fill(unsigned char* data, size_t size, uint32_t from, uint32_t to) {
  for (size_t i = 0; i < size; ++i) data[i] = (unsigned char)(i * 31 + from * 7 + to);
}

static inline void check_filled(const unsigned char* data, size_t size, uint32_t from,
                                uint32_t to) {
  for (size_t i = 0; i < size; ++i) CHECK(data[i] == (unsigned char)(i * 31 + from * 7 + to));
}

/* Waits for an operation that was posted with this result; returns its status. */
static inline int end_of(int posted, weft_op* op, weft_completion* about) {
  if (posted == WEFT_OK)
    CHECK(weft_wait(op, 60000, about) == WEFT_DONE);
  else
    weft_result(op, about);
  return about->status;
}

static inline weft_context* open_or_exit(void) {
  char why[256] = "";
  weft_options options = {0};
  weft_context* ctx = NULL;
  options.size = sizeof options;
  options.why = why;
  options.why_size = sizeof why;
  if (weft_open(&options, &ctx) != WEFT_OK) {
    fprintf(stderr, "weft_open: %s\n", why);
    exit(1);
  }
  return ctx;
}

static inline weft_peer* peer_or_exit(weft_context* ctx, uint32_t number) {
  weft_peer* peer = NULL;
  CHECK(weft_peer_of(ctx, number, &peer) == WEFT_OK);
  return peer;
}

#endif
