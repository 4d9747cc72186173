/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of weft.h about messages, between all ranks of a job of two or more. */
#include <poll.h>
#include <pthread.h>

#include "check.h"

static const size_t sizes[] = {0, 8, 1000, 60000, 1000000};
enum {
  tag_exchange = 1,
  tag_once,
  tag_never,
  tag_unwanted,
  tag_probe,
  tag_elsewhere,
  tag_claim,
  tag_late,
  tag_order
};

/* Each rank sends to all ranks, itself included; weft_poll collects the ends. */
static void exchange(weft_context* ctx, size_t size) {
  const uint32_t me = weft_rank(ctx), all = weft_size(ctx);
  weft_op* ops = malloc(2 * all * sizeof *ops);
  unsigned char* memory = malloc(2 * all * size + 1);
  int in_flight = 0;
  CHECK(ops && memory);
  for (uint32_t r = 0; r < all; ++r) {
    unsigned char *out = memory + r * size, *in = memory + (all + r) * size;
    int code = weft_recv(ctx, peer_or_exit(ctx, r), in, size, tag_exchange, 0, &ops[r], in);
    CHECK(code >= 0);
    in_flight += code == WEFT_OK;
    fill(out, size, me, r);
    code = weft_send(peer_or_exit(ctx, r), out, size, tag_exchange, &ops[all + r], out);
    CHECK(code >= 0);
    in_flight += code == WEFT_OK;
  }
  while (in_flight > 0) {
    weft_completion done[3];
    const int n = weft_poll(ctx, done, 3);
    CHECK(n >= 0 && n <= 3 && n <= in_flight);
    for (int i = 0; i < n; ++i) {
      CHECK(done[i].status == WEFT_OK);
      CHECK(done[i].op >= ops && done[i].op < ops + 2 * all);
      CHECK(done[i].user ==
            memory + (size_t)(done[i].op - ops +
                              (done[i].op < ops + all ? (ptrdiff_t)all : -(ptrdiff_t)all)) *
                         size);
    }
    in_flight -= n;
  }
  for (uint32_t r = 0; r < all; ++r) {
    weft_completion got;
    weft_result(&ops[r], &got);
    CHECK(got.status == WEFT_OK && got.source == r && got.tag == tag_exchange && got.size == size);
    check_filled(memory + (all + r) * size, size, r, me);
  }
  free(memory);
  free(ops);
}

static void truncation(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  unsigned char out[100], in[10];
  weft_op sent, got;
  weft_completion about;
  char text[200];
  fill(out, sizeof out, 1, 2);
  const int s = weft_send(next, out, sizeof out, tag_once, &sent, NULL);
  CHECK(end_of(weft_recv(ctx, previous, in, sizeof in, tag_once, 0, &got, NULL), &got, &about) ==
        WEFT_TRUNCATED);
  CHECK(about.size == sizeof out && about.source == weft_peer_number(previous));
  check_filled(in, sizeof in, 1, 2);
  CHECK(weft_explain(&got, text, sizeof text) > 0 && strstr(text, "100 bytes"));
  CHECK(weft_explain(&got, text, 5) > 5 && strlen(text) == 4);
  CHECK(end_of(s, &sent, &about) == WEFT_OK);
  CHECK(weft_explain(&sent, text, sizeof text) == 0);
}

static void cancelling(weft_context* ctx, weft_peer* next) {
  unsigned char in[10];
  weft_op op;
  weft_completion about;
  int code = weft_recv(ctx, NULL, in, sizeof in, tag_never, 0, &op, &op);
  CHECK(code == WEFT_OK);
  CHECK(weft_test(&op, &about) == WEFT_OK);
  CHECK(weft_wait(&op, 5, &about) == WEFT_TIMED_OUT);
  weft_cancel(&op);
  int n = 0;
  while (n == 0) n = weft_poll(ctx, &about, 1);
  CHECK(n == 1 && about.op == &op && about.user == &op && about.status == WEFT_STOPPED);
  CHECK(weft_test(&op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_wait(&op, 0, NULL) == WEFT_INVALID_ARGUMENT);

  /* There is no receive for it. */
  code = weft_send_synchronous(next, in, sizeof in, tag_unwanted, &op, NULL);
  CHECK(code == WEFT_OK);
  weft_cancel(&op);
  weft_cancel(&op);
  CHECK(weft_wait(&op, 60000, &about) == WEFT_DONE && about.status == WEFT_STOPPED);
}

/* Rank 0 receives from all other ranks, in the order of arrival. */
static void any_source(weft_context* ctx) {
  const uint32_t me = weft_rank(ctx), all = weft_size(ctx);
  weft_completion about;
  weft_op op;
  uint32_t word = me;
  if (me != 0) {
    CHECK(end_of(weft_send(peer_or_exit(ctx, 0), &word, sizeof word, (uint64_t)me << 40 | 5, &op,
                           NULL),
                 &op, &about) == WEFT_OK);
    return;
  }
  uint32_t heard = 0;
  for (uint32_t i = 1; i < all; ++i) {
    const int code = weft_recv(ctx, NULL, &word, sizeof word, 5, ~(uint64_t)0xff, &op, NULL);
    CHECK(end_of(code, &op, &about) == WEFT_OK);
    CHECK(about.source == word && about.tag == ((uint64_t)word << 40 | 5) && about.size == 4);
    CHECK((heard & 1u << word) == 0);
    heard |= 1u << word;
  }
}

static void probing(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  unsigned char data[33];
  weft_op sent, op;
  weft_completion about, again;
  CHECK(weft_try_probe(ctx, NULL, tag_never, 0, &about) == WEFT_OK);
  int posted = weft_probe(ctx, previous, tag_probe, 0, &op, NULL);
  const int s = weft_send(next, data, sizeof data, tag_probe, &sent, NULL);
  CHECK(end_of(posted, &op, &about) == WEFT_OK);
  CHECK(about.size == sizeof data && about.source == weft_peer_number(previous));
  CHECK(weft_try_probe(ctx, previous, tag_probe, 0, &again) == WEFT_DONE);
  CHECK(weft_try_probe(ctx, NULL, 0, WEFT_ANY_TAG, NULL) == WEFT_DONE);
  CHECK(again.size == about.size && again.tag == tag_probe && again.source == about.source);
  posted = weft_recv(ctx, previous, data, sizeof data, tag_probe, 0, &op, NULL);
  CHECK(end_of(posted, &op, &about) == WEFT_OK);
  CHECK(weft_try_probe(ctx, previous, tag_probe, 0, &again) == WEFT_OK);
  CHECK(end_of(s, &sent, &about) == WEFT_OK);
}

struct search {
  weft_context* ctx;
  weft_peer* from;
  weft_peer* to;
  weft_op sent;
  int posted;
};

static void* sends_later(void* argument) {
  struct search* s = argument;
  nap(20);
  s->posted = weft_send(s->to, NULL, 0, tag_elsewhere, &s->sent, NULL);
  return NULL;
}

static void* searches(void* argument) {
  const struct search* s = argument;
  const time_t until = time(NULL) + 20;
  while (weft_try_probe(s->ctx, s->from, tag_elsewhere, 0, NULL) != WEFT_DONE)
    CHECK(time(NULL) < until);
  return NULL;
}

/* One thread probes for a message that comes late, and no other thread polls: first another thread
 * than the home thread, then the home thread. */
static void probing_alone(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  struct search s = {ctx, previous, next, {{0}}, 0};
  void* (*const roles[])(void*) = {searches, sends_later, searches};
  for (int i = 0; i < 2; ++i) {
    weft_op op;
    weft_completion about;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, roles[i], &s) == 0);
    roles[i + 1](&s);
    CHECK(pthread_join(thread, NULL) == 0);
    const int r = weft_recv(ctx, previous, NULL, 0, tag_elsewhere, 0, &op, NULL);
    CHECK(end_of(r, &op, &about) == WEFT_OK && end_of(s.posted, &s.sent, &about) == WEFT_OK);
  }
}

/* A claimed message is received before others; no other call sees it. A discarded one is gone. */
static void claiming(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  static unsigned char out[4][300000], in[300000];
  static const size_t lengths[4] = {40, 40, 300000, 300000};
  weft_op sent[4], op;
  weft_message found[4];
  weft_completion about;
  int posted[4];
  CHECK(weft_claim(ctx, NULL, tag_never, 0, &found[0], &about) == WEFT_OK);
  for (int i = 0; i < 4; ++i) {
    fill(out[i], lengths[i], (uint32_t)i, 5);
    posted[i] = weft_send(next, out[i], lengths[i], tag_claim, &sent[i], NULL);
    CHECK(posted[i] >= 0);
  }
  for (int i = 0; i < 4; ++i) {
    while (weft_claim(ctx, i % 2 ? previous : NULL, tag_claim, 0, &found[i], &about) != WEFT_DONE) {
    }
    CHECK(about.size == lengths[i] && about.tag == tag_claim);
    CHECK(about.source == weft_peer_number(previous));
  }
  CHECK(weft_try_probe(ctx, NULL, tag_claim, 0, NULL) == WEFT_OK);
  for (int i = 3; i >= 0; --i) {
    if (i % 2 == 0) {
      weft_discard(ctx, &found[i]);
      weft_discard(ctx, &found[i]);
      continue;
    }
    const int code = weft_recv_claimed(ctx, &found[i], in, sizeof in, &op, NULL);
    CHECK(end_of(code, &op, &about) == WEFT_OK && about.size == lengths[i]);
    CHECK(about.source == weft_peer_number(previous) && about.tag == tag_claim);
    check_filled(in, lengths[i], (uint32_t)i, 5);
    CHECK(weft_recv_claimed(ctx, &found[i], in, 1, &op, NULL) == WEFT_INVALID_ARGUMENT);
  }
  for (int i = 0; i < 4; ++i) CHECK(end_of(posted[i], &sent[i], &about) == WEFT_OK);
}

/* weft_test and weft_wait take their end out of the middle of those that weft_poll would report. */
static void out_of_order(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  weft_op in[3], out;
  weft_completion about, done[3];
  for (int i = 0; i < 3; ++i)
    CHECK(weft_recv(ctx, previous, NULL, 0, tag_order + (uint64_t)i, 0, &in[i], NULL) == WEFT_OK);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  for (int i = 0; i < 3; ++i)
    CHECK(end_of(weft_send(next, NULL, 0, tag_order + (uint64_t)i, &out, NULL), &out, &about) ==
          WEFT_OK);
  while (weft_progress(ctx) < 3) {
  }
  CHECK(weft_test(&in[1], &about) == WEFT_DONE && about.tag == tag_order + 1);
  CHECK(weft_poll(ctx, done, 0) == 0);
  CHECK(weft_poll(ctx, done, 3) == 2 && done[0].op == &in[0] && done[1].op == &in[2]);
}

/* Half of the ranks sleep on the descriptor until the others, which were idle, send something. */
static void sleeping(weft_context* ctx) {
  const uint32_t me = weft_rank(ctx);
  const uint32_t other = me ^ 1;
  if (other >= weft_size(ctx)) return;
  weft_peer* peer = peer_or_exit(ctx, other);
  weft_completion about;
  weft_op op;
  char large[200000] = {0};
  for (int round = 0; round < 20; ++round) {
    const size_t size = round % 2 ? sizeof large : 8;
    if ((me + (uint32_t)round / 2) % 2 == 0) {
      nap(round % 3 * 3);
      CHECK(end_of(weft_send(peer, large, size, tag_late, &op, NULL), &op, &about) == WEFT_OK);
      continue;
    }
    int code = weft_recv(ctx, peer, large, sizeof large, tag_late, 0, &op, NULL);
    while (code == WEFT_OK && weft_poll(ctx, &about, 1) == 0) {
      struct pollfd fd;
      int timeout = 0;
      fd.fd = weft_wait_fd(ctx);
      fd.events = POLLIN;
      CHECK(fd.fd >= 0);
      code = weft_arm(ctx, &timeout);
      CHECK(code == WEFT_OK || code == WEFT_DONE);
      if (code == WEFT_OK) poll(&fd, 1, timeout);
      code = WEFT_OK;
    }
    weft_result(&op, &about);
    CHECK(about.status == WEFT_OK && about.size == size);
  }
}

static void memory(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  const size_t size = 1 << 20;
  void* mine = NULL;
  unsigned char* in = malloc(size);
  weft_op out, op;
  weft_completion about;
  const int code = weft_alloc(ctx, size, &mine);
  CHECK(in);
  if (code == WEFT_UNSUPPORTED) mine = calloc(size, 1); /* a job without shared memory */
  CHECK((code == WEFT_OK || code == WEFT_UNSUPPORTED) && mine);
  fill(mine, size, 3, 4);
  const int r = weft_recv(ctx, previous, in, size, tag_once, 0, &op, NULL);
  const int s = weft_send(next, mine, size, tag_once, &out, NULL);
  CHECK(end_of(r, &op, &about) == WEFT_OK && about.size == size);
  CHECK(end_of(s, &out, &about) == WEFT_OK);
  check_filled(in, size, 3, 4);
  if (code == WEFT_UNSUPPORTED)
    free(mine);
  else
    CHECK(weft_free(ctx, mine) == WEFT_OK && weft_free(ctx, in) == WEFT_INVALID_ARGUMENT);
  weft_invalidate_registrations(ctx, in, size);
  weft_invalidate_registrations(ctx, NULL, 1);
  weft_invalidate_registrations(NULL, in, size);
  CHECK(weft_free(ctx, NULL) == WEFT_OK && weft_alloc(ctx, 0, &mine) == WEFT_INVALID_ARGUMENT);
  free(in);
}

int main(void) {
  weft_context* ctx = open_or_exit();
  const uint32_t me = weft_rank(ctx), all = weft_size(ctx);
  char text[4000];
  CHECK(all >= 2 && me < all);
  CHECK(weft_describe(ctx, text, sizeof text) > 20 && strstr(text, "epoll"));
  weft_peer* next = peer_or_exit(ctx, (me + 1) % all);
  weft_peer* previous = peer_or_exit(ctx, (me + all - 1) % all);
  CHECK(next == peer_or_exit(ctx, (me + 1) % all) && weft_peer_number(next) == (me + 1) % all);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) exchange(ctx, sizes[i]);
  truncation(ctx, next, previous);
  cancelling(ctx, next);
  any_source(ctx);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  probing(ctx, next, previous);
  probing_alone(ctx, next, previous);
  claiming(ctx, next, previous);
  out_of_order(ctx, next, previous);
  sleeping(ctx);
  memory(ctx, next, previous);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  weft_close(ctx);
  return 0;
}
