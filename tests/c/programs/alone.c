/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that need no job: errors, peers by address, contexts that join, all within one process. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void codes(void) {
  for (int code = WEFT_SYSTEM; code <= WEFT_DONE; ++code) CHECK(strlen(weft_strerror(code)) > 5);
  CHECK(strcmp(weft_strerror(WEFT_PEER_LOST), weft_strerror(WEFT_CLOSED)) != 0);
  CHECK(strcmp(weft_strerror(-99), weft_strerror(-1000)) == 0);
  CHECK(strcmp(weft_strerror(0), weft_strerror(7)) == 0);
}

static void wrong_options(void) {
  const char* const bad_value[] = {"WEFT_PROGRESS=sometimes", NULL};
  const char* const bad_name[] = {"WEFT_TYPO=1", NULL};
  const char* const no_value[] = {"WEFT_PROGRESS", NULL};
  char why[200] = "";
  weft_options o = {0};
  weft_context* ctx = (weft_context*)why;
  CHECK(weft_open(&o, &ctx) == WEFT_INVALID_ARGUMENT && !ctx); /* without its size */
  o.size = sizeof o;
  o.why = why;
  o.why_size = sizeof why;
  o.settings = bad_value;
  CHECK(weft_open(&o, &ctx) == WEFT_INVALID_ARGUMENT && strstr(why, "sometimes"));
  o.settings = bad_name;
  CHECK(weft_open(&o, &ctx) == WEFT_INVALID_ARGUMENT && strstr(why, "WEFT_TYPO"));
  o.settings = no_value;
  CHECK(weft_open(&o, &ctx) == WEFT_INVALID_ARGUMENT && strstr(why, "NAME=value"));
  o.why_size = 6;
  CHECK(weft_open(&o, &ctx) == WEFT_INVALID_ARGUMENT && strlen(why) == 5);
  CHECK(weft_open(&o, NULL) == WEFT_INVALID_ARGUMENT);
  o.settings = NULL;
  o.why_size = sizeof why;
  CHECK(weft_join("unix://weft-c-nobody", &o, &ctx) == WEFT_REFUSED ||
        weft_join("unix://weft-c-nobody", &o, &ctx) == WEFT_UNREACHABLE);
  CHECK(strlen(why) > 5 && weft_join(NULL, &o, &ctx) == WEFT_INVALID_ARGUMENT);
}

static void wrong_arguments(weft_context* ctx) {
  weft_op op;
  weft_completion about;
  weft_peer* me = peer_or_exit(ctx, 0);
  char byte = 0;
  char text[100];
  CHECK(weft_send(NULL, &byte, 1, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send(me, NULL, 1, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send(me, &byte, 1, 0, NULL, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send(me, &byte, SIZE_MAX / 2, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_explain(&op, text, sizeof text) > 0 && strstr(text, "at most"));
  CHECK(weft_send_synchronous(NULL, &byte, 1, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv(NULL, me, &byte, 1, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv(ctx, me, NULL, 1, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_probe(ctx, me, 0, 0, NULL, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_try_probe(NULL, me, 0, 0, &about) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_test(NULL, &about) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_wait(NULL, 1, &about) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_poll(NULL, &about, 1) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_poll(ctx, NULL, 1) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_progress(NULL) == WEFT_INVALID_ARGUMENT && weft_barrier(NULL) < 0);
  CHECK(weft_wait_fd(NULL) < 0 && weft_arm(NULL, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_peer_of(ctx, 3000000000u, &me) == WEFT_INVALID_ARGUMENT && !me);
  CHECK(weft_last_error(ctx, text, sizeof text) > 0 && strstr(text, "3000000000"));
  CHECK(weft_last_error(NULL, text, sizeof text) == 0 && weft_describe(NULL, NULL, 0) == 0);
  weft_cancel(NULL);
  weft_bind_thread(NULL);

  /* All zeros: no operation was posted in it, and no message was claimed. */
  weft_op zeros = {{0}};
  weft_message none = {{0}};
  CHECK(weft_test(&zeros, &about) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_wait(&zeros, 1, &about) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_explain(&zeros, text, sizeof text) == 0);
  weft_cancel(&zeros);
  weft_result(&zeros, &about);
  CHECK(weft_recv_claimed(ctx, &none, &byte, 1, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_explain(&op, text, sizeof text) > 0 && strstr(text, "no message"));
  weft_discard(ctx, &none);

  /* Tags that weft reserves. */
  const uint64_t own = (uint64_t)0xfe << 56;
  me = peer_or_exit(ctx, 0);
  CHECK(weft_send(me, &byte, 1, own, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_explain(&op, text, sizeof text) > 0 && strstr(text, "weft's own"));
  CHECK(weft_recv(ctx, NULL, &byte, 1, own + 1, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv(ctx, me, &byte, 1, ~(uint64_t)0, 1, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_probe(ctx, me, own, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_try_probe(ctx, me, own, 0, &about) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_claim(ctx, me, own, 0, &none, &about) == WEFT_INVALID_ARGUMENT);
  weft_peer_close(NULL);
  weft_peer_free(NULL);
  weft_listener_close(NULL);
  weft_close(NULL);
}

struct visit {
  weft_context* ctx;
  const char* address;
  weft_peer* peer;
  int code;
};

static void* request_connection(void* argument) {
  struct visit* v = argument;
  v->code = weft_connect(v->ctx, v->address, "hello there", 20000, &v->peer);
  return NULL;
}

/* Sends from one context to the other, polling both. */
static void talk(weft_context* from, weft_peer* to, weft_context* at) {
  weft_op ops[2];
  weft_completion about = {0};
  char in[8] = "";
  int left = weft_recv(at, NULL, in, sizeof in, 1, 0, &ops[0], NULL) == WEFT_OK;
  left += weft_send(to, "seven  ", 8, 1, &ops[1], NULL) == WEFT_OK;
  while (left > 0) {
    const int a = weft_poll(from, &about, 1);
    const int b = weft_poll(at, &about, 1);
    CHECK(a >= 0 && b >= 0 && about.status == WEFT_OK);
    left -= a + b;
  }
  CHECK(strcmp(in, "seven  ") == 0);
}

static void by_address(weft_context* ctx, const char* address) {
  weft_context* other = open_or_exit();
  weft_listener* listening = NULL;
  weft_peer* guest = NULL;
  char text[200], private_data[6];
  CHECK(weft_listen(ctx, "nonsense", &listening) == WEFT_INVALID_ARGUMENT && !listening);
  CHECK(weft_last_error(ctx, text, sizeof text) > 0);
  CHECK(weft_listen(ctx, address, &listening) == WEFT_OK);
  CHECK(weft_accept(listening, 10, NULL, 0, &guest) == WEFT_TIMED_OUT && !guest);
  struct visit v = {other, weft_listener_address(listening), NULL, 1};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, request_connection, &v) == 0);
  CHECK(weft_accept(listening, 20000, private_data, sizeof private_data, &guest) == WEFT_OK);
  CHECK(strcmp(private_data, "hello") == 0);
  CHECK(pthread_join(thread, NULL) == 0 && v.code == WEFT_OK);
  talk(ctx, guest, other);
  talk(other, v.peer, ctx);
  weft_peer* again = NULL;
  CHECK(weft_peer_of(ctx, weft_peer_number(guest), &again) == WEFT_OK && again == guest);

  /* The other side ends: the operations that wait for it end. */
  weft_op op;
  weft_completion about;
  CHECK(weft_recv(ctx, guest, NULL, 0, 2, 0, &op, NULL) == WEFT_OK);
  weft_listener_close(listening);
  weft_peer_close(v.peer);
  weft_close(other);
  CHECK(weft_wait(&op, 20000, &about) == WEFT_DONE && about.status == WEFT_CLOSED);
  CHECK(weft_send(guest, NULL, 0, 2, &op, NULL) == WEFT_CLOSED);
  CHECK(weft_explain(&op, text, sizeof text) > 0);
  weft_peer_free(guest);
}

static void* helps(void* argument) {
  weft_context* ctx = argument;
  weft_op op;
  weft_completion about;
  CHECK(end_of(weft_send(peer_or_exit(ctx, 0), NULL, 0, 5, &op, NULL), &op, &about) == WEFT_OK);
  while (weft_progress(ctx) != 1) {
  }
  return NULL;
}

static void* arms(void* argument) {
  weft_context* ctx = argument;
  weft_completion about;
  int looks = 0;
  for (; weft_arm(ctx, NULL) != WEFT_OK; ++looks) {
    CHECK(weft_poll(ctx, &about, 1) == 0);
    CHECK(looks < 1000);
  }
  CHECK(weft_poll(ctx, &about, 1) == 0);
  return NULL;
}

/* Another thread ends the operation for which the armed thread waits. weft_poll then disarms. */
static void armed(weft_context* ctx) {
  weft_op op;
  weft_completion about;
  pthread_t thread;
  CHECK(weft_recv(ctx, NULL, NULL, 0, 5, 0, &op, NULL) == WEFT_OK);
  while (weft_arm(ctx, NULL) != WEFT_OK) CHECK(weft_poll(ctx, &about, 1) == 0);
  CHECK(pthread_create(&thread, NULL, helps, ctx) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(weft_poll(ctx, &about, 1) == 1 && about.op == &op);
  CHECK(pthread_create(&thread, NULL, arms, ctx) == 0 && pthread_join(thread, NULL) == 0);
}

/* A context that is closed with operations in flight. */
static void closed_in_flight(void) {
  weft_context* ctx = open_or_exit();
  weft_op ops[3];
  char byte;
  CHECK(weft_recv(ctx, NULL, &byte, 1, 1, 0, &ops[0], NULL) == WEFT_OK);
  CHECK(weft_probe(ctx, NULL, 2, 0, &ops[1], NULL) == WEFT_OK);
  CHECK(weft_send_synchronous(peer_or_exit(ctx, 0), &byte, 1, 3, &ops[2], NULL) == WEFT_OK);
  weft_close(ctx);
}

static void joining(weft_context* ctx) {
  char bound[256];
  weft_context* more = NULL;
  weft_options o = {0};
  o.size = sizeof o;
  snprintf(bound, sizeof bound, "unix://weft-c-job-%ld", (long)getpid());
  CHECK(weft_open_job(ctx, bound, bound, 3) == WEFT_INVALID_ARGUMENT);
  snprintf(bound, sizeof bound, "unix://weft-c-job2-%ld", (long)getpid());
  CHECK(weft_open_job(ctx, bound, bound, sizeof bound) == WEFT_OK);
  CHECK(weft_join(bound, &o, &more) == WEFT_OK);
  CHECK(weft_rank(more) == 1 && weft_size(more) == 1);
  char text[200];
  CHECK(weft_barrier(more) == WEFT_UNSUPPORTED);
  CHECK(weft_last_error(more, text, sizeof text) > 0 && strstr(text, "joined later"));
  talk(ctx, peer_or_exit(ctx, 1), more);
  talk(more, peer_or_exit(more, 0), ctx);
  weft_close(more);
}

int main(void) {
  char address[100];
  codes();
  wrong_options();
  weft_context* ctx = open_or_exit();
  CHECK(weft_rank(ctx) == 0 && weft_size(ctx) == 1 && weft_barrier(ctx) == WEFT_OK);
  wrong_arguments(ctx);
  talk(ctx, peer_or_exit(ctx, 0), ctx);
  snprintf(address, sizeof address, "unix://weft-c-%ld", (long)getpid());
  by_address(ctx, address);
  by_address(ctx, "any://127.0.0.1:0");
  joining(ctx);
  armed(ctx);
  closed_in_flight();
  weft_close(ctx);
  return 0;
}
