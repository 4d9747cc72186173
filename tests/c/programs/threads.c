/* SPDX-License-Identifier: Apache-2.0 */
/* Three threads of each of two ranks communicate at once: the home thread polls, another waits, a
 * third tests; then another thread becomes home. A thread that polls while barriers run gets no end
 * of them. */
#include <pthread.h>

#include "check.h"

enum { rounds = 2000, barriers = 5000, threads = 3 };

struct part {
  weft_context* ctx;
  weft_peer* other;
  uint64_t tag;
  int seen;
};

static void one_round(struct part* p, uint64_t round, int way) {
  uint64_t out = round * 10 + p->tag, in = 0;
  weft_op op[2];
  weft_completion about;
  const int r = weft_recv(p->ctx, p->other, &in, sizeof in, p->tag, 0, &op[0], p);
  const int s = weft_send(p->other, &out, sizeof out, p->tag, &op[1], p);
  CHECK(r >= 0 && s >= 0);
  for (int i = 0; i < 2; ++i) {
    if ((i == 0 ? r : s) != WEFT_OK) continue;
    if (way == 0)
      CHECK(weft_wait(&op[i], 60000, &about) == WEFT_DONE);
    else
      while (weft_test(&op[i], &about) != WEFT_DONE) {
      }
    CHECK(about.status == WEFT_OK && about.op == &op[i] && about.user == p);
  }
  CHECK(in == out);
  ++p->seen;
}

static void* waits(void* argument) {
  for (uint64_t i = 0; i < rounds; ++i) one_round(argument, i, 0);
  return NULL;
}

static void* tests(void* argument) {
  for (uint64_t i = 0; i < rounds; ++i) one_round(argument, i, 1);
  return NULL;
}

static void* settles(void* argument) {
  struct part* p = argument;
  weft_bind_thread(p->ctx);
  for (uint64_t i = 0; i < rounds; ++i) one_round(p, i, 0);
  return NULL;
}

struct poller {
  weft_context* ctx;
  weft_op until; /* posted before the thread is there, which may be late */
};

/* Polls until this rank sends itself a message. The test's own operations have a `user`. */
static void* polls(void* argument) {
  struct poller* p = argument;
  weft_completion about = {0};
  while (about.op != &p->until)
    if (weft_poll(p->ctx, &about, 1) == 1) CHECK(about.user == p->ctx);
  return NULL;
}

int main(void) {
  weft_context* ctx = open_or_exit();
  pthread_t others[2];
  struct part parts[threads + 1];
  CHECK(weft_size(ctx) == 2);
  for (int i = 0; i <= threads; ++i) {
    parts[i].ctx = ctx;
    parts[i].other = peer_or_exit(ctx, 1 - weft_rank(ctx));
    parts[i].tag = (uint64_t)i;
    parts[i].seen = 0;
  }
  CHECK(pthread_create(&others[0], NULL, waits, &parts[1]) == 0);
  CHECK(pthread_create(&others[1], NULL, tests, &parts[2]) == 0);
  waits(&parts[0]);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(others[i], NULL) == 0);

  CHECK(pthread_create(&others[0], NULL, settles, &parts[3]) == 0);
  CHECK(pthread_join(others[0], NULL) == 0);
  weft_bind_thread(ctx);
  for (int i = 0; i <= threads; ++i) CHECK(parts[i].seen == rounds);

  struct poller poller = {.ctx = ctx};
  CHECK(weft_recv(ctx, NULL, NULL, 0, threads + 1, 0, &poller.until, ctx) == WEFT_OK);
  CHECK(pthread_create(&others[0], NULL, polls, &poller) == 0);
  for (int i = 0; i < barriers; ++i) CHECK(weft_barrier(ctx) == WEFT_OK);
  weft_op last;
  CHECK(weft_send(peer_or_exit(ctx, weft_rank(ctx)), NULL, 0, threads + 1, &last, ctx) >= 0);
  CHECK(pthread_join(others[0], NULL) == 0);
  weft_close(ctx);
  return 0;
}
