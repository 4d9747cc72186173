/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of weft.h about memory of peers, around a ring of two ranks or more. */

#include "check.h"

enum { tag_remote = 1, depth = 4, slot = 30000, frames = 40 };

static weft_remote swap_remotes(weft_context* ctx, weft_region* mine, weft_peer* to,
                                weft_peer* from) {
  const weft_remote here = weft_region_remote(mine);
  weft_remote there;
  weft_op sent, got;
  weft_completion about;
  const int s = weft_send(to, &here, sizeof here, tag_remote, &sent, NULL);
  CHECK(end_of(weft_recv(ctx, from, &there, sizeof there, tag_remote, 0, &got, NULL), &got,
               &about) == WEFT_OK);
  CHECK(end_of(s, &sent, &about) == WEFT_OK);
  return there;
}

static weft_remote part(weft_remote of, uint64_t offset, uint64_t size) {
  of.offset += offset;
  of.size = size;
  return of;
}

/* Each rank writes into the window of the next one, and is told when a slot is free again. */
static void windows(weft_context* ctx, weft_peer* next, weft_peer* previous) {
  const uint32_t me = weft_rank(ctx);
  unsigned char *memory = malloc(depth * slot), *out = malloc(slot), *back = malloc(slot);
  unsigned char nothing[1];
  weft_region *window = NULL, *freed = NULL;
  weft_op op, told;
  weft_completion about;
  CHECK(memory && out && back);
  CHECK(weft_region_open(ctx, memory, depth * slot, WEFT_READ | WEFT_WRITE, &window) == WEFT_OK);
  CHECK(weft_region_open(ctx, nothing, sizeof nothing, WEFT_WRITE, &freed) == WEFT_OK);
  const weft_remote there = swap_remotes(ctx, window, previous, next);
  const weft_remote writer = swap_remotes(ctx, freed, next, previous);
  uint64_t taken = 0;
  for (uint64_t n = 0; n < frames + depth; ++n) {
    if (n < frames) {
      const weft_remote to = part(there, n % depth * slot, slot);
      if (n >= depth) {
        CHECK(end_of(weft_region_notified(freed, &op, NULL), &op, &about) == WEFT_OK);
        CHECK(about.tag == n - depth && about.source == weft_peer_number(next));
      }
      fill(out, slot, me, (uint32_t)n);
      CHECK(end_of(weft_put(next, out, slot, to, &n, &op, NULL), &op, &about) == WEFT_OK);
      CHECK(end_of(weft_get(next, back, slot, to, &op, NULL), &op, &about) == WEFT_OK);
      check_filled(back, slot, me, (uint32_t)n);
    }
    if (n + 1 < depth) continue;
    if (taken == frames) break;
    CHECK(end_of(weft_region_notified(window, &told, NULL), &told, &about) == WEFT_OK);
    CHECK(about.tag == taken && about.source == weft_peer_number(previous));
    check_filled(memory + taken % depth * slot, slot, weft_peer_number(previous), (uint32_t)taken);
    CHECK(end_of(weft_put(previous, NULL, 0, writer, &taken, &op, NULL), &op, &about) == WEFT_OK);
    ++taken;
  }
  CHECK(taken == frames);
  CHECK(weft_barrier(ctx) == WEFT_OK);

  /* A call that waits for a notification when the region ends is told so. */
  for (uint64_t i = 0; i < depth; ++i)
    CHECK(end_of(weft_region_notified(freed, &op, NULL), &op, &about) == WEFT_OK);
  CHECK(weft_region_notified(freed, &told, &told) == WEFT_OK);
  weft_region_close(freed);
  CHECK(weft_wait(&told, 60000, &about) == WEFT_DONE && about.status == WEFT_CLOSED);
  weft_region_close(window);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  char text[200];
  CHECK(end_of(weft_get(next, back, slot, there, &op, NULL), &op, &about) == WEFT_REFUSED);
  CHECK(weft_explain(&op, text, sizeof text) > 0 && strstr(text, "no region"));
  CHECK(weft_get(next, back, slot + 1, part(there, 0, slot), &op, NULL) == WEFT_INVALID_ARGUMENT);
  free(memory);
  free(out);
  free(back);
}

/* All ranks count in one word of rank 0, and no number is given twice. */
static void counting(weft_context* ctx) {
  static uint64_t words[2];
  const uint32_t me = weft_rank(ctx), all = weft_size(ctx);
  weft_peer* first = peer_or_exit(ctx, 0);
  weft_op op;
  weft_completion about;
  weft_remote word;
  weft_region* mine = NULL;
  if (me == 0) {
    CHECK(weft_region_open(ctx, words, sizeof words, WEFT_READ | WEFT_WRITE, &mine) == WEFT_OK);
    word = weft_region_remote(mine);
    for (uint32_t r = 1; r < all; ++r)
      CHECK(end_of(weft_send(peer_or_exit(ctx, r), &word, sizeof word, tag_remote, &op, NULL), &op,
                   &about) == WEFT_OK);
  } else {
    CHECK(end_of(weft_recv(ctx, first, &word, sizeof word, tag_remote, 0, &op, NULL), &op,
                 &about) == WEFT_OK);
  }
  uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    CHECK(end_of(weft_fetch_add(first, word, 1, &op, NULL), &op, &about) == WEFT_OK);
    CHECK(i == 0 || about.tag > last);
    last = about.tag;
    for (uint64_t seen = 0;; seen = about.tag) {
      const int code = weft_compare_swap(first, part(word, 8, 8), seen, seen + 2, &op, NULL);
      CHECK(end_of(code, &op, &about) == WEFT_OK);
      if (about.tag == seen) break;
    }
  }
  CHECK(weft_barrier(ctx) == WEFT_OK);
  if (me == 0) CHECK(words[0] == all * 100 && words[1] == all * 200);
  weft_region_close(mine);
}

/* Each rank writes to the next one by a name that was not sent to it. */
static void named(weft_context* ctx, weft_peer* next, uint32_t previous) {
  enum { first_key = 100, address = 1 << 20 };
  const uint64_t mine = first_key + weft_rank(ctx);
  uint64_t words[4] = {0}, word = mine;
  weft_region *here = NULL, *none = NULL;
  weft_op op;
  weft_completion about;
  CHECK(weft_region_open_as(ctx, words, sizeof words, WEFT_WRITE, mine, address, &here) == WEFT_OK);
  CHECK(weft_region_remote(here).key == mine && weft_region_remote(here).offset == address);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  weft_remote there = {first_key + weft_peer_number(next), address + 8, sizeof word};
  CHECK(end_of(weft_put(next, &word, sizeof word, there, NULL, &op, NULL), &op, &about) == WEFT_OK);
  there.offset = address - 8;
  CHECK(end_of(weft_put(next, &word, sizeof word, there, NULL, &op, NULL), &op, &about) ==
        WEFT_REFUSED);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  CHECK(words[0] == 0 && words[1] == first_key + previous && words[2] == 0);
  const uint64_t wrong[][2] = {{mine, 0}, {0, 0}, {mine + 1000, UINT64_C(1) << 48}};
  for (int i = 0; i != 3; ++i) {
    const int code =
        weft_region_open_as(ctx, words, sizeof words, WEFT_WRITE, wrong[i][0], wrong[i][1], &none);
    CHECK(code == WEFT_INVALID_ARGUMENT && !none);
  }
  weft_region_close(here);
  /* The name is free again. */
  CHECK(weft_region_open_as(ctx, words, sizeof words, WEFT_WRITE, mine, 0, &here) == WEFT_OK);
  weft_region_close(here);
}

int main(void) {
  weft_context* ctx = open_or_exit();
  const uint32_t me = weft_rank(ctx), all = weft_size(ctx);
  weft_region* left = NULL;
  static unsigned char some[8];
  windows(ctx, peer_or_exit(ctx, (me + 1) % all), peer_or_exit(ctx, (me + all - 1) % all));
  counting(ctx);
  named(ctx, peer_or_exit(ctx, (me + 1) % all), (me + all - 1) % all);
  CHECK(weft_region_open(ctx, some, sizeof some, 4, &left) == WEFT_INVALID_ARGUMENT && !left);
  CHECK(weft_region_open(ctx, some, sizeof some, WEFT_READ, &left) == WEFT_OK && left);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  weft_close(ctx); /* and what is left */
  return 0;
}
