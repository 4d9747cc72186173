/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that computes, without a call, still sends a large message, and another rank receives one:
 * the progress thread finds that no thread polls. Files in the working directory tell the computing
 * rank that it may go on. */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { rounds = 8, large = 3000000, tag_large = 1 };

static void tell(const char* name) {
  const int fd = open(name, O_CREAT | O_WRONLY, 0600);
  CHECK(fd >= 0 && close(fd) == 0);
}

static void compute_until(const char* name) {
  for (long i = 0; access(name, F_OK) != 0; ++i) {
    CHECK(i < 20000);
    nap(1);
  }
  CHECK(unlink(name) == 0);
}

int main(void) {
  weft_context* ctx = open_or_exit();
  const uint32_t me = weft_rank(ctx);
  weft_peer* other = peer_or_exit(ctx, 1 - me);
  unsigned char* data = calloc(large, 1);
  CHECK(weft_size(ctx) == 2 && data);
  for (int round = 0; round < rounds; ++round) {
    char name[60];
    weft_op op;
    weft_completion about;
    const int looks = round % 2 * 50; /* the last of them empty */
    const int sends = round / 2 % 2 == (int)me;
    const int computes = round / 4 == (int)me;
    snprintf(name, sizeof name, "c-absent-%ld-%d", (long)getppid(), round);
    CHECK(weft_barrier(ctx) == WEFT_OK);
    if (!computes) nap(5); /* the other one has posted, and is away */
    const int posted = sends ? weft_send_synchronous(other, data, large, tag_large, &op, NULL)
                             : weft_recv(ctx, other, data, large, tag_large, 0, &op, NULL);
    CHECK(posted == WEFT_OK || !computes);
    if (computes) {
      for (int i = 0; i < looks; ++i) weft_progress(ctx);
      compute_until(name);
    }
    CHECK(end_of(posted, &op, &about) == WEFT_OK);
    if (!computes) tell(name);
  }
  free(data);
  CHECK(weft_barrier(ctx) == WEFT_OK);
  weft_close(ctx);
  return 0;
}
