/* SPDX-License-Identifier: Apache-2.0 */
/* Two NICs in one process, and the connection of a VI of each: a thread requests. */
#ifndef VIPL_PAIR_H
#define VIPL_PAIR_H

#include <pthread.h>

#include "check.h"

static struct side a, b;

struct request {
  VIP_VI_HANDLE vi;
  const char* where;
  VIP_ULONG timeout;
  VIP_RETURN result;
};
static inline void* ask(void* r_) {
  struct request* const r = r_;
  union address there, here;
  make_address(&a, &there, r->where);
  make_address(&a, &here, "client");
  r->result = request_soon(r->vi, &here, &there, r->timeout, NULL);
  return NULL;
}

static inline VIP_CONN_HANDLE await_request(const char* where) {
  union address here, from;
  VIP_VI_ATTRIBUTES other;
  VIP_CONN_HANDLE c = NULL;
  make_address(&b, &here, where);
  memset(&from, 0, sizeof from);
  OK(VipConnectWait(b.nic, &here.net, VIP_INFINITE, &from.net, &other, &c));
  return c;
}

static inline void connect_two(VIP_VI_HANDLE client, VIP_VI_HANDLE server, const char* where) {
  struct request r;
  pthread_t t;
  r.vi = client;
  r.where = where;
  r.timeout = VIP_INFINITE;
  CHECK(pthread_create(&t, NULL, ask, &r) == 0);
  OK(VipConnectAccept(await_request(where), server));
  CHECK(pthread_join(t, NULL) == 0);
  OK(r.result);
}

#endif
