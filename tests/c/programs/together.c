/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and collectives between all ranks. */
#include "check.h"

enum { ECHO = 1, LATER = 2, NEVER = 3, NOTE = 4, REFUSES = 5, MOST_KEPT = 8 };
enum { LONG_SIZE = 700000 };

struct service {
  weft_served_call* kept[MOST_KEPT];
  int count;
  int notes;
};

/* --- handlers -------------------------------------------------------------------------------- */

/* Operations of the handlers. An operation is the caller's again when its end was reported. */
static weft_op receiving, replies[16];
static int replies_begun;
static unsigned char body[LONG_SIZE];

static int is_reply(const weft_completion* c) { return c->user == replies; }

static void give_reply(weft_served_call* call, const void* data, size_t size) {
  CHECK(replies_begun < 16);
  CHECK(weft_reply(call, data, size, &replies[replies_begun++], replies) >= 0);
}

static void echo(weft_served_call* call, void* user) {
  const size_t size = weft_served_size(call);
  weft_completion about;
  (void)user;
  CHECK(weft_served_number(call) == ECHO);
  CHECK(weft_served_from(call) != NULL);
  CHECK(size <= sizeof body);
  CHECK(end_of(weft_served_recv(call, body, size, &receiving, NULL), &receiving, &about) ==
        WEFT_OK);
  CHECK(about.size == size);
  give_reply(call, body, size);
}

static void keep(weft_served_call* call, void* user) {
  struct service* s = user;
  CHECK(s->count < MOST_KEPT);
  s->kept[s->count++] = call;
}

static void note(weft_served_call* call, void* user) {
  struct service* s = user;
  CHECK(weft_served_data(call) != NULL && memcmp(weft_served_data(call), "note", 4) == 0);
  ++s->notes;
  give_reply(call, NULL, 0);
}

static void refuse(weft_served_call* call, void* user) {
  (void)user;
  CHECK(weft_refuse(call, "not today") == WEFT_OK);
}

/* Makes progress without reports: handlers run. */
static void serve_until(weft_context* ctx, const int* value, int wanted) {
  while (*value < wanted) weft_progress(ctx);
}

/* --- the ranks ------------------------------------------------------------------------------- */

static void check_calls(weft_context* ctx, weft_peer* next) {
  static unsigned char out[LONG_SIZE], in[LONG_SIZE];
  const size_t sizes[] = {0, 8, 9000, LONG_SIZE};
  weft_op op;
  weft_completion about;
  char why[200];
  for (size_t i = 0; i != sizeof sizes / sizeof *sizes; ++i) {
    fill(out, sizes[i], (uint32_t)i, weft_rank(ctx));
    CHECK(end_of(weft_call(next, ECHO, out, sizes[i], in, sizeof in, -1, &op, NULL), &op, &about) ==
          WEFT_OK);
    CHECK(about.size == sizes[i]);
    check_filled(in, sizes[i], (uint32_t)i, weft_rank(ctx));
  }
  CHECK(end_of(weft_call(next, ECHO, out, 9000, in, 10, -1, &op, NULL), &op, &about) ==
        WEFT_TRUNCATED);
  CHECK(end_of(weft_call(next, REFUSES, out, 8, in, 8, -1, &op, NULL), &op, &about) ==
        WEFT_REFUSED);
  weft_explain(&op, why, sizeof why);
  CHECK(strstr(why, "not today") != NULL);
  CHECK(end_of(weft_call(next, 77, out, 8, in, 8, -1, &op, NULL), &op, &about) == WEFT_REFUSED);
  weft_explain(&op, why, sizeof why);
  CHECK(strstr(why, "no handler 77") != NULL);
  CHECK(end_of(weft_call(next, NEVER, NULL, 0, NULL, 0, 20, &op, NULL), &op, &about) ==
        WEFT_TIMED_OUT);
  CHECK(weft_call(next, NEVER, NULL, 0, NULL, 0, -1, &op, NULL) == WEFT_OK);
  weft_cancel(&op);
  CHECK(end_of(WEFT_OK, &op, &about) == WEFT_STOPPED);
  CHECK(end_of(weft_post(next, NOTE, "note", 4, &op, NULL), &op, &about) == WEFT_OK);
}

/* A call that is answered after its handler has returned. */
static void check_later(weft_context* ctx, weft_peer* next, struct service* later) {
  weft_op call, answer;
  weft_completion about;
  int number = 40;
  CHECK(weft_call(next, LATER, NULL, 0, &number, sizeof number, -1, &call, NULL) == WEFT_OK);
  serve_until(ctx, &later->count, 1);
  const int reply = 42;
  CHECK(end_of(weft_reply(later->kept[0], &reply, sizeof reply, &answer, NULL), &answer, &about) ==
        WEFT_OK);
  CHECK(end_of(WEFT_OK, &call, &about) == WEFT_OK);
  CHECK(about.size == sizeof number && number == 42);
}

static void answer_never(struct service* never) {
  for (int i = 0; i != never->count; ++i) CHECK(weft_refuse(never->kept[i], NULL) == WEFT_OK);
}

static void check_group(weft_group* g) {
  const uint32_t me = weft_group_rank(g), n = weft_group_size(g);
  weft_op op;
  weft_completion about;
  int32_t all[64], parts[64], x = (int32_t)me + 1, sum = 0;
  double d[3] = {(double)me, 1.0, -(double)me};
  CHECK(n <= 64);
  CHECK(end_of(weft_group_barrier(g, &op, NULL), &op, &about) == WEFT_OK);

  int32_t told = me == n - 1 ? 77 : 0;
  CHECK(end_of(weft_broadcast(g, &told, sizeof told, n - 1, &op, NULL), &op, &about) == WEFT_OK);
  CHECK(told == 77);
  CHECK(end_of(weft_reduce(g, &x, me == 0 ? &sum : NULL, 1, WEFT_INT32, WEFT_SUM, 0, &op, NULL),
               &op, &about) == WEFT_OK);
  CHECK(me != 0 || sum == (int32_t)(n * (n + 1) / 2));
  CHECK(end_of(weft_all_reduce(g, d, 3, WEFT_DOUBLE, WEFT_MAX, &op, NULL), &op, &about) == WEFT_OK);
  CHECK(d[0] == (double)(n - 1) && d[1] == 1.0 && d[2] == 0.0);
  uint64_t bits = (uint64_t)1 << me;
  CHECK(end_of(weft_all_reduce(g, &bits, 1, WEFT_UINT64, WEFT_OR, &op, NULL), &op, &about) ==
        WEFT_OK);
  CHECK(bits == ((uint64_t)1 << n) - 1);
  int32_t up_to = x;
  CHECK(end_of(weft_scan(g, &up_to, 1, WEFT_INT32, WEFT_SUM, &op, NULL), &op, &about) == WEFT_OK);
  CHECK(up_to == x * (x + 1) / 2);
  CHECK(end_of(weft_gather(g, &x, me == 0 ? all : NULL, sizeof x, 0, &op, NULL), &op, &about) ==
        WEFT_OK);
  for (uint32_t r = 0; me == 0 && r != n; ++r) CHECK(all[r] == (int32_t)r + 1);
  CHECK(end_of(weft_all_gather(g, &x, all, sizeof x, &op, NULL), &op, &about) == WEFT_OK);
  for (uint32_t r = 0; r != n; ++r) CHECK(all[r] == (int32_t)r + 1);
  int32_t part = 0;
  CHECK(end_of(weft_scatter(g, me == 0 ? all : NULL, &part, sizeof part, 0, &op, NULL), &op,
               &about) == WEFT_OK);
  CHECK(part == x);
  for (uint32_t r = 0; r != n; ++r) parts[r] = (int32_t)(me * 100 + r);
  CHECK(end_of(weft_all_to_all(g, parts, all, sizeof *parts, &op, NULL), &op, &about) == WEFT_OK);
  for (uint32_t r = 0; r != n; ++r) CHECK(all[r] == (int32_t)(r * 100 + me));

  CHECK(weft_broadcast(g, &told, sizeof told, n, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_all_reduce(g, d, 3, WEFT_DOUBLE, WEFT_XOR, &op, NULL) == WEFT_INVALID_ARGUMENT);
}

/* Two in flight, which weft_poll reports. */
static void check_in_flight(weft_context* ctx, weft_group* g) {
  enum { COUNT = 20000 };
  static float numbers[2][COUNT];
  weft_op ops[2];
  weft_completion done[2];
  int ended = 0;
  for (int i = 0; i != 2; ++i) {
    for (int k = 0; k != COUNT; ++k) numbers[i][k] = (float)(i + 1);
    const int r = weft_all_reduce(g, numbers[i], COUNT, WEFT_FLOAT, WEFT_SUM, &ops[i], numbers[i]);
    CHECK(r == WEFT_OK || (r == WEFT_DONE && weft_group_size(g) == 1));
    ended += r == WEFT_DONE;
  }
  while (ended != 2) {
    const int n = weft_poll(ctx, done, 2);
    for (int i = 0; i < n; ++i) {
      CHECK(done[i].status == WEFT_OK);
      CHECK(done[i].user == numbers[0] || done[i].user == numbers[1] || is_reply(&done[i]));
      ended += !is_reply(&done[i]);
    }
  }
  for (int i = 0; i != 2; ++i)
    CHECK(numbers[i][COUNT - 1] == (float)(i + 1) * (float)weft_group_size(g));
}

int main(void) {
  weft_context* const ctx = open_or_exit();
  weft_peer* const next = peer_or_exit(ctx, (weft_rank(ctx) + 1) % weft_size(ctx));
  struct service later = {0}, never = {0}, notes = {0};
  weft_handler* handlers[5];
  weft_group *world, *half = NULL, *again = NULL;
  weft_op op;
  weft_completion about;
  CHECK(weft_handler_open(ctx, ECHO, echo, NULL, &handlers[0]) == WEFT_OK);
  CHECK(weft_handler_open(ctx, LATER, keep, &later, &handlers[1]) == WEFT_OK);
  CHECK(weft_handler_open(ctx, NEVER, keep, &never, &handlers[2]) == WEFT_OK);
  CHECK(weft_handler_open(ctx, NOTE, note, &notes, &handlers[3]) == WEFT_OK);
  CHECK(weft_handler_open(ctx, REFUSES, refuse, NULL, &handlers[4]) == WEFT_OK);
  CHECK(weft_handler_open(ctx, ECHO, echo, NULL, &handlers[4]) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_world(ctx, &world) == WEFT_OK);
  CHECK(end_of(weft_group_barrier(world, &op, NULL), &op, &about) == WEFT_OK);

  check_calls(ctx, next);
  check_later(ctx, next, &later);
  serve_until(ctx, &notes.notes, 1);
  serve_until(ctx, &never.count, 2);
  while (!weft_served_stopped(never.kept[0]) || !weft_served_stopped(never.kept[1]))
    weft_progress(ctx);
  CHECK(end_of(weft_group_barrier(world, &op, NULL), &op, &about) == WEFT_OK);
  if (weft_rank(ctx) % 2 == 0) answer_never(&never); /* the others leave it to weft_close */
  weft_handler_close(handlers[1]);

  check_group(world);
  check_in_flight(ctx, world);
  const int r =
      weft_split(world, (int)(weft_rank(ctx) % 2), -(int)weft_rank(ctx), &half, &op, NULL);
  CHECK(end_of(r, &op, &about) == WEFT_OK);
  CHECK(weft_group_size(half) == weft_size(ctx) / 2);
  CHECK(weft_group_rank(half) == (weft_size(ctx) - 1 - weft_rank(ctx)) / 2);
  check_group(half);
  CHECK(end_of(weft_replace(half, &again, &op, NULL), &op, &about) == WEFT_UNSUPPORTED);
  weft_group_free(half);
  /* No rank is lost, and none has joined: each of these has all members. */
  CHECK(weft_returned(ctx) == 0);
  CHECK(end_of(weft_replace(world, &again, &op, NULL), &op, &about) == WEFT_OK);
  check_group(again);
  CHECK(end_of(weft_grow(again, &half, &op, NULL), &op, &about) == WEFT_OK);
  weft_group_free(again);
  CHECK(end_of(weft_shrink(half, &again, &op, NULL), &op, &about) == WEFT_OK);
  weft_group_free(half);
  CHECK(weft_group_size(again) == weft_size(ctx));
  CHECK(weft_group_rank(again) == weft_rank(ctx));
  check_group(again);
  weft_group_free(again);
  CHECK(end_of(weft_group_barrier(world, &op, NULL), &op, &about) == WEFT_OK);
  weft_close(ctx);
  return 0;
}
