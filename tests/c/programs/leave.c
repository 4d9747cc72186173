/* SPDX-License-Identifier: Apache-2.0 */
/* leave WAY: a process with open contexts exits, with 3, while a large message is under way between
 * them. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { well = 3, size = 8 << 20 };

static void* leave(void* unused) {
  (void)unused;
  exit(well);
}

static weft_context *ctx, *other;
static weft_listener* listening;
static weft_peer *guest, *host;

static void* request_connection(void* unused) {
  (void)unused;
  CHECK(weft_connect(other, weft_listener_address(listening), "", 20000, &host) == WEFT_OK);
  return NULL;
}

static void close_both(void) {
  weft_close(ctx);
  weft_close(other);
}

int main(int argc, char** argv) {
  char address[100];
  weft_op ops[2];
  pthread_t thread;
  CHECK(argc == 2);
  if (strcmp(argv[1], "close") == 0) CHECK(atexit(&close_both) == 0);
  ctx = open_or_exit();
  other = open_or_exit();
  snprintf(address, sizeof address, "unix://weft-c-leave-%ld", (long)getpid());
  CHECK(weft_listen(ctx, address, &listening) == WEFT_OK);
  CHECK(pthread_create(&thread, NULL, request_connection, NULL) == 0);
  CHECK(weft_accept(listening, 20000, NULL, 0, &guest) == WEFT_OK);
  CHECK(pthread_join(thread, NULL) == 0);
  char* const out = calloc(size, 1);
  char* const in = malloc(size);
  CHECK(weft_recv(ctx, guest, in, size, 1, 0, &ops[0], NULL) == WEFT_OK);
  CHECK(weft_send(host, out, size, 1, &ops[1], NULL) >= WEFT_OK);
  weft_progress(other);
  weft_progress(ctx);
  if (strcmp(argv[1], "thread") != 0) exit(well);
  CHECK(pthread_create(&thread, NULL, leave, NULL) == 0);
  for (;;) weft_progress(ctx);
}
