/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries on top need besides plain messages (an MPI's device, a VI provider): lists of
 * buffers, immediate words, connection requests that are answered, and equals that meet. Between
 * two ranks or more, an even number; each rank has a partner. */
#include <unistd.h>

#include "check.h"

enum { tag_list = 1, tag_word, tag_address, tag_short, tag_done };
enum { LONG_SIZE = 1000003 };
static const uint64_t word = UINT64_C(0x0123456789abcdef);

struct pair {
  weft_context* ctx;
  weft_peer* other;
  uint32_t me, partner;
};

/* --- lists and words ------------------------------------------------------------------------- */

/* Cuts memory into `count` buffers of growing sizes; the second one is empty. */
static weft_buffer* cut(unsigned char* memory, size_t size, size_t count) {
  weft_buffer* list = malloc(count * sizeof *list);
  size_t at = 0;
  CHECK(list);
  for (size_t i = 0; i != count; ++i) {
    const size_t part = i + 1 == count ? size - at : i == 1 ? 0 : (size - at) / (count - i);
    list[i].memory = part != 0 ? memory + at : NULL;
    list[i].size = part;
    at += part;
  }
  return list;
}

/* Every rank sends to its partner, cut in one way, and receives cut in another. The lists are freed
 * before the operations are asked for more. */
static void exchange(const struct pair* p, size_t size, size_t out_count, size_t in_count,
                     int synchronous) {
  unsigned char *out = malloc(size + 1), *in = malloc(size + 1);
  weft_op sent, got;
  weft_completion about;
  CHECK(out && in);
  fill(out, size, p->me, p->partner);
  weft_buffer *from = cut(out, size, out_count), *to = cut(in, size, in_count);
  const int r = weft_recv_list(p->ctx, p->other, to, in_count, tag_list, 0xf0, &got, NULL);
  CHECK(r >= 0);
  const int s =
      synchronous
          ? weft_send_list_synchronous(p->other, from, out_count, tag_list, word, &sent, NULL)
          : weft_send_list(p->other, from, out_count, tag_list, word, &sent, NULL);
  CHECK(end_of(s, &sent, &about) == WEFT_OK);
  CHECK(end_of(r, &got, &about) == WEFT_OK);
  free(from);
  free(to);
  weft_result(&sent, &about);
  CHECK(about.op == &sent && weft_immediate(&sent) == 0);
  weft_result(&got, &about);
  CHECK(about.size == size && about.tag == tag_list && about.source == p->partner);
  CHECK(weft_immediate(&got) == word);
  check_filled(in, size, p->partner, p->me);
  free(out);
  free(in);
}

/* A message that is longer than the whole list, which is explained when the list has gone. */
static void truncated(const struct pair* p) {
  unsigned char out[100], in[30];
  char text[200];
  weft_op sent, got;
  weft_completion about;
  fill(out, sizeof out, p->me, p->partner);
  weft_buffer* to = cut(in, sizeof in, 3);
  const int r = weft_recv_list(p->ctx, p->other, to, 3, tag_short, 0, &got, NULL);
  const int s = weft_send(p->other, out, sizeof out, tag_short, &sent, NULL);
  CHECK(end_of(r, &got, &about) == WEFT_TRUNCATED && about.size == sizeof out);
  free(to);
  CHECK(weft_explain(&got, text, sizeof text) > 0);
  CHECK(strstr(text, "100 bytes") && strstr(text, "into 30"));
  check_filled(in, sizeof in, p->partner, p->me);
  CHECK(end_of(s, &sent, &about) == WEFT_OK);
}

/* The word is there for a receive, a probe and a claimed message, and 0 where none was sent. */
static void words(const struct pair* p) {
  unsigned char out[64], in[64];
  weft_op sent, got;
  weft_completion about;
  weft_message message;
  fill(out, sizeof out, p->me, p->partner);
  for (int i = 0; i != 3; ++i) {
    const int s =
        i == 0 ? weft_send(p->other, out, sizeof out, tag_word, &sent, NULL)
               : weft_send_immediate(p->other, out, sizeof out, tag_word, word + 1, &sent, NULL);
    const uint64_t expected = i == 0 ? 0 : word + 1;
    CHECK(end_of(weft_probe(p->ctx, p->other, tag_word, 0, &got, NULL), &got, &about) == WEFT_OK);
    CHECK(about.size == sizeof out && weft_immediate(&got) == expected);
    memset(in, 0, sizeof in);
    if (i == 1) {
      weft_buffer* to = cut(in, sizeof in, 4);
      CHECK(weft_claim(p->ctx, p->other, tag_word, 0, &message, &about) == WEFT_DONE);
      CHECK(weft_message_immediate(&message) == expected);
      CHECK(end_of(weft_recv_claimed_list(p->ctx, &message, to, 4, &got, NULL), &got, &about) ==
            WEFT_OK);
      free(to);
    } else {
      CHECK(end_of(weft_recv(p->ctx, p->other, in, sizeof in, tag_word, 0, &got, NULL), &got,
                   &about) == WEFT_OK);
    }
    CHECK(about.size == sizeof in && weft_immediate(&got) == expected);
    check_filled(in, sizeof in, p->partner, p->me);
    CHECK(end_of(s, &sent, &about) == WEFT_OK);
  }
}

/* --- connections ----------------------------------------------------------------------------- */

/* A text from rank 0 to all: the same at every rank afterwards. */
static void share(weft_context* ctx, char* text, size_t size) {
  weft_op op;
  weft_completion about;
  if (weft_rank(ctx) != 0)
    CHECK(end_of(weft_recv(ctx, peer_or_exit(ctx, 0), text, size, tag_address, 0, &op, NULL), &op,
                 &about) == WEFT_OK);
  for (uint32_t r = 1; weft_rank(ctx) == 0 && r < weft_size(ctx); ++r)
    CHECK(end_of(weft_send(peer_or_exit(ctx, r), text, size, tag_address, &op, NULL), &op,
                 &about) == WEFT_OK);
}

/* Rank 0 rejects the first request of every other rank, with a reason, and accepts the second. */
static void answer(weft_context* ctx) {
  const uint32_t guests = weft_size(ctx) - 1;
  weft_listener* listening = NULL;
  weft_connection_request* request = NULL;
  weft_peer* guest = NULL;
  char address[100] = "", says[32], reason[64];
  CHECK(weft_listen(ctx, "any://127.0.0.1:0", &listening) == WEFT_OK);
  CHECK(weft_listener_next(listening, 1, NULL, 0, &request) == WEFT_TIMED_OUT && !request);
  snprintf(address, sizeof address, "%s", weft_listener_address(listening));
  share(ctx, address, sizeof address);
  for (uint32_t i = 0; i != 2 * guests; ++i) {
    unsigned rank = 0, time = 0;
    CHECK(weft_listener_next(listening, 60000, says, sizeof says, &request) == WEFT_OK);
    CHECK(sscanf(says, "rank %u, time %u", &rank, &time) == 2);
    snprintf(reason, sizeof reason, "rank %u has to ask twice", rank);
    if (time == 1) {
      CHECK(weft_request_reject(request, reason) == WEFT_OK);
      continue;
    }
    CHECK(weft_request_accept(request, NULL) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_request_accept(request, &guest) == WEFT_OK);
    CHECK(weft_peer_number(guest) == rank);
  }
  weft_listener_close(listening);
}

static void ask(weft_context* ctx) {
  weft_peer* host = NULL;
  char address[100], says[32], text[300], reason[64];
  share(ctx, address, sizeof address);
  snprintf(reason, sizeof reason, "rank %u has to ask twice", (unsigned)weft_rank(ctx));
  snprintf(says, sizeof says, "rank %u, time 1", (unsigned)weft_rank(ctx));
  CHECK(weft_connect(ctx, address, says, 60000, &host) == WEFT_REFUSED && !host);
  CHECK(weft_last_error(ctx, text, sizeof text) > 0 && strstr(text, reason));
  snprintf(says, sizeof says, "rank %u, time 2", (unsigned)weft_rank(ctx));
  CHECK(weft_connect(ctx, address, says, 60000, &host) == WEFT_OK);
  CHECK(weft_peer_number(host) == 0);
}

/* Partners meet as equals; each gets the other. */
static void meet(const struct pair* p) {
  char name[40] = "", own[80], other[80], text[300];
  char too_long[1026];
  weft_peer* met = NULL;
  weft_op sent, got;
  weft_completion about;
  if (p->me == 0) snprintf(name, sizeof name, "weft-c-device-%ld", (long)getpid());
  share(p->ctx, name, sizeof name);
  snprintf(own, sizeof own, "unix://%s-%u", name, (unsigned)p->me);
  snprintf(other, sizeof other, "unix://%s-%u", name, (unsigned)p->partner);
  CHECK(weft_meet(p->ctx, own, other, "pair", 60000, &met) == WEFT_OK);
  CHECK(weft_peer_number(met) == p->partner);
  const int s = weft_send(met, &p->me, sizeof p->me, tag_done, &sent, NULL);
  uint32_t who = 0;
  CHECK(end_of(weft_recv(p->ctx, met, &who, sizeof who, tag_done, 0, &got, NULL), &got, &about) ==
        WEFT_OK);
  CHECK(who == p->partner && end_of(s, &sent, &about) == WEFT_OK);

  /* The other side does not come; addresses and words that cannot be. */
  snprintf(other, sizeof other, "unix://%s-none", name);
  CHECK(weft_meet(p->ctx, own, other, "pair", 5, &met) == WEFT_TIMED_OUT && !met);
  CHECK(weft_meet(p->ctx, own, own, "pair", 60000, &met) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_meet(p->ctx, "nonsense", other, "pair", 60000, &met) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_last_error(p->ctx, text, sizeof text) > 0 && strstr(text, "nonsense"));
  memset(too_long, 'x', sizeof too_long - 1);
  too_long[sizeof too_long - 1] = '\0';
  CHECK(weft_meet(p->ctx, own, other, too_long, 60000, &met) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_meet(p->ctx, own, other, NULL, 0, &met) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_meet(NULL, own, other, "pair", 0, &met) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_meet(p->ctx, own, other, "pair", 0, NULL) == WEFT_INVALID_ARGUMENT);
}

/* --- what is wrong --------------------------------------------------------------------------- */

static void wrong(const struct pair* p) {
  char byte = 0, text[200];
  weft_buffer list[2] = {{&byte, 1}, {NULL, 1}};
  const weft_buffer vast[2] = {{&byte, SIZE_MAX}, {&byte, 1}};
  const weft_buffer large[2] = {{&byte, SIZE_MAX / 2}, {&byte, 1}};
  weft_message none = {{0}};
  weft_op op = {{0}}, zeros = {{0}};
  CHECK(weft_send_list(p->other, list, 2, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv_list(p->ctx, NULL, list, 2, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv_claimed_list(p->ctx, &none, list, 2, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send_list(p->other, vast, 2, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send_list(p->other, NULL, 1, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(memcmp(&op, &zeros, sizeof op) == 0); /* as none of these was an operation */
  list[1].size = 0;
  CHECK(weft_send_list(NULL, list, 2, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send_list_synchronous(p->other, list, 2, 0, 0, NULL, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv_list(NULL, p->other, list, 2, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv_claimed_list(p->ctx, NULL, list, 2, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_recv_claimed_list(p->ctx, &none, list, 2, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_explain(&op, text, sizeof text) > 0 && strstr(text, "no message"));
  CHECK(weft_send_list(p->other, large, 2, 0, 0, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_explain(&op, text, sizeof text) > 0 && strstr(text, "at most"));
  CHECK(weft_send_list(p->other, list, 2, UINT64_C(0xfe) << 56, 0, &op, NULL) ==
        WEFT_INVALID_ARGUMENT);
  CHECK(weft_send_immediate(p->other, NULL, 1, 0, word, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_send_immediate(NULL, &byte, 1, 0, word, &op, NULL) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_immediate(NULL) == 0 && weft_immediate(&zeros) == 0);
  CHECK(weft_message_immediate(NULL) == 0 && weft_message_immediate(&none) == 0);

  weft_connection_request* request = NULL;
  weft_peer* peer = NULL;
  CHECK(weft_listener_next(NULL, 0, text, sizeof text, &request) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_request_accept(NULL, &peer) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_request_reject(NULL, "why") == WEFT_INVALID_ARGUMENT);
}

int main(void) {
  weft_context* const ctx = open_or_exit();
  struct pair p = {ctx, NULL, weft_rank(ctx), weft_rank(ctx) ^ 1};
  CHECK(weft_size(ctx) % 2 == 0);
  p.other = peer_or_exit(ctx, p.partner);
  exchange(&p, 0, 0, 0, 0);
  exchange(&p, 100, 1, 1, 0);
  exchange(&p, 100, 3, 4, 1);
  exchange(&p, 20000, 1, 5, 0);
  exchange(&p, LONG_SIZE, 5, 3, 0);
  exchange(&p, LONG_SIZE, 4, 1, 1);
  truncated(&p);
  words(&p);
  if (p.me == 0)
    answer(ctx);
  else
    ask(ctx);
  meet(&p);
  wrong(&p);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  weft_close(ctx);
  return 0;
}
