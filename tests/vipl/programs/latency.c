/* SPDX-License-Identifier: Apache-2.0 */
/* Ping-pong between two processes: prints half of the round trip for each size.
 * latency server|client NAME [ROUNDS [LEVEL]] */
#include <time.h>

#include "check.h"

static struct side me;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void hear(VIP_VI_HANDLE v, unsigned n, size_t size) {
  VIP_DESCRIPTOR* d = NULL;
  OK(VipRecvWait(v, VIP_INFINITE, &d));
  OK(VipPostRecv(v, describe(&me, n, (size_t)n * size, size), me.handle));
}
static void tell(VIP_VI_HANDLE v, size_t size) {
  VIP_DESCRIPTOR* d = describe(&me, 8, 0, size);
  OK(VipPostSend(v, d, me.handle));
  OK(VipSendWait(v, VIP_INFINITE, &d));
}

int main(int argc, char** argv) {
  const size_t sizes[] = {8, 1024, 8000, 65536, 262144};
  const unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 100;
  const VIP_RELIABILITY_LEVEL level =
      argc > 4 ? (VIP_RELIABILITY_LEVEL)atoi(argv[4]) : VIP_SERVICE_RELIABLE_DELIVERY;
  const int is_server = argc > 1 && strcmp(argv[1], "server") == 0;
  unsigned s, i;
  CHECK(argc > 2);
  open_side(&me);
  for (s = 0; s != sizeof sizes / sizeof sizes[0]; ++s) {
    VIP_VI_HANDLE v = make_vi(&me, level, NULL);
    union address at, own;
    VIP_VI_ATTRIBUTES other;
    double begin;
    for (i = 0; i != 2; ++i)
      OK(VipPostRecv(v, describe(&me, i, (size_t)i * sizes[s], sizes[s]), me.handle));
    make_address(&me, &at, argv[2]);
    if (is_server) {
      VIP_CONN_HANDLE c = NULL;
      memset(&own, 0, sizeof own);
      OK(VipConnectWait(me.nic, &at.net, VIP_INFINITE, &own.net, &other, &c));
      OK(VipConnectAccept(c, v));
    } else {
      make_address(&me, &own, "me");
      OK(request_soon(v, &own, &at, VIP_INFINITE, &other));
    }
    begin = now();
    for (i = 0; i != rounds; ++i) {
      if (i == rounds / 10) begin = now();
      if (is_server) hear(v, i % 2, sizes[s]);
      tell(v, sizes[s]);
      if (!is_server) hear(v, i % 2, sizes[s]);
    }
    if (!is_server)
      printf("%8lu bytes %10.2f us\n", (unsigned long)sizes[s],
             (now() - begin) / (double)(rounds - rounds / 10) / 2);
    {
      VIP_DESCRIPTOR* d = NULL;
      if (is_server) {
        VIP_VI_STATE state;
        do OK(VipQueryVi(v, &state, NULL, NULL, NULL));
        while (state == VIP_STATE_CONNECTED);
      }
      OK(VipDisconnect(v));
      while (VipRecvDone(v, &d) != VIP_NOT_DONE) continue;
      OK(VipDestroyVi(v));
    }
  }
  close_side(&me);
  return 0;
}
