/* SPDX-License-Identifier: Apache-2.0 */
/* A child after fork closes its copy of the context; the parent's context stays unchanged. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(void) {
  weft_context* ctx = open_or_exit();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); /* a hang is an end, too */
    weft_close(ctx);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);

  weft_listener* listening = NULL;
  CHECK(weft_listen(ctx, "any://127.0.0.1:0", &listening) == WEFT_OK); /* its threads are there */
  weft_listener_close(listening);
  weft_peer* me = peer_or_exit(ctx, weft_rank(ctx));
  char out = 7, in = 0;
  weft_op sent, got;
  weft_completion about;
  const int posted = weft_recv(ctx, me, &in, 1, 1, 0, &got, NULL);
  CHECK(end_of(weft_send(me, &out, 1, 1, &sent, NULL), &sent, &about) == WEFT_OK);
  CHECK(end_of(posted, &got, &about) == WEFT_OK && in == 7);
  weft_close(ctx);
  return 0;
}
