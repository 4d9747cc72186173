/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_device: the device of an MPI library on weft, in C. It posts receives ahead, a progress loop
 * reports ended operations to their requests, and the application computes in between. Each rank
 * passes a growing sum around the ring.
 *
 *   weft-run -n 4 mpi_device */
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { posted_ahead = 4, laps = 1000, ring_tag = 1 };

/* An MPI request: a weft_op in the memory of the library, and its result for the application. */
struct request {
  weft_op op;
  uint64_t value;
  int complete;
};

static void check(int code, const char* what) {
  if (code >= 0) return;
  fprintf(stderr, "mpi_device: %s: %s\n", what, weft_strerror(code));
  exit(1);
}

/* MPI_Isend, MPI_Irecv. */
static void post_send(struct request* r, weft_peer* to) {
  const int code = weft_send(to, &r->value, sizeof r->value, ring_tag, &r->op, r);
  check(code, "send");
  r->complete = code == WEFT_DONE;
}

static void post_receive(weft_context* ctx, struct request* r, weft_peer* from) {
  const int code = weft_recv(ctx, from, &r->value, sizeof r->value, ring_tag, 0, &r->op, r);
  check(code, "receive");
  r->complete = code == WEFT_DONE;
}

/* The device's progress: marks the requests of ended operations. */
static void progress(weft_context* ctx) {
  weft_completion done[16];
  const int n = weft_poll(ctx, done, 16);
  check(n, "poll");
  for (int i = 0; i < n; ++i) {
    check(done[i].status, "an operation");
    ((struct request*)done[i].user)->complete = 1;
  }
}

/* MPI_Wait. */
static void wait_for(weft_context* ctx, const struct request* r) {
  while (!r->complete) progress(ctx);
}

static double compute(double x) {
  for (int i = 0; i < 200; ++i) x = x * 0.999 + 1;
  return x;
}

int main(void) {
  weft_context* ctx = NULL;
  weft_peer *next = NULL, *previous = NULL;
  struct request in[posted_ahead], out = {.complete = 1};
  double heat = 0;
  check(weft_open(NULL, &ctx), "open");
  const uint32_t me = weft_rank(ctx), all = weft_size(ctx);
  check(weft_peer_of(ctx, (me + 1) % all, &next), "next");
  check(weft_peer_of(ctx, (me + all - 1) % all, &previous), "previous");

  for (int i = 0; i < posted_ahead; ++i) post_receive(ctx, &in[i], previous);
  uint64_t sum = 0;
  for (int lap = 0; lap < laps; ++lap) {
    struct request* const box = &in[lap % posted_ahead];
    if (me == 0) {
      out.value = sum + 1;
      post_send(&out, next);
    }
    heat = compute(heat);
    wait_for(ctx, box);
    sum = box->value;
    if (lap + posted_ahead < laps) post_receive(ctx, box, previous);
    wait_for(ctx, &out);
    if (me == 0) continue;
    out.value = sum + 1;
    post_send(&out, next);
  }
  wait_for(ctx, &out);
  if (me == 0)
    printf("%d laps around %u ranks: %llu, heat %.3f\n", laps, all, (unsigned long long)sum, heat);
  if (me == 0 && sum != (uint64_t)laps * all) return 1;
  check(weft_barrier(ctx), "barrier");
  weft_close(ctx);
  return 0;
}
