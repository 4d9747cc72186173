/* SPDX-License-Identifier: Apache-2.0 */
/* One process with two NICs and threads: callbacks, completion queues, states, refusals. */
#include <pthread.h>

#include "pair.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* What callbacks have reported. */
static struct report {
  int descriptors, entries, errors;
  VIP_DESCRIPTOR* descriptor;
  VIP_VI_HANDLE vi;
  VIP_ERROR_CODE error;
  VIP_BOOLEAN receives;
} seen;

static void note(const struct report* r) {
  pthread_mutex_lock(&mutex);
  seen.descriptors += r->descriptors;
  seen.entries += r->entries;
  seen.errors += r->errors;
  seen.descriptor = r->descriptor;
  seen.vi = r->vi;
  seen.error = r->error;
  seen.receives = r->receives;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}
static struct report await(const int* count, int n) {
  struct report r;
  pthread_mutex_lock(&mutex);
  while (*count < n) pthread_cond_wait(&changed, &mutex);
  r = seen;
  pthread_mutex_unlock(&mutex);
  return r;
}
static void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE v,
                          VIP_DESCRIPTOR* d) {
  struct report r;
  CHECK(context == &seen && nic != NULL);
  memset(&r, 0, sizeof r);
  r.vi = v;
  r.descriptor = d;
  r.descriptors = 1;
  note(&r);
}
static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE v, VIP_BOOLEAN receives) {
  struct report r;
  CHECK(context == &seen && nic == b.nic);
  memset(&r, 0, sizeof r);
  r.vi = v;
  r.receives = receives;
  r.entries = 1;
  note(&r);
}
static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* e) {
  struct report r;
  CHECK(context == &seen && e->NicHandle == b.nic);
  memset(&r, 0, sizeof r);
  r.error = e->ErrorCode;
  r.vi = e->ViHandle;
  r.errors = 1;
  note(&r);
}

static void refusals(void) {
  union address here, there, from;
  VIP_VI_ATTRIBUTES other;
  VIP_CONN_HANDLE c = NULL;
  VIP_VI_STATE state;
  struct request r;
  pthread_t t;
  VIP_VI_HANDLE v = make_vi(&a, VIP_SERVICE_RELIABLE_DELIVERY, NULL);
  VIP_VI_HANDLE w = make_vi(&b, VIP_SERVICE_RELIABLE_RECEPTION, NULL);
  memset(&from, 0, sizeof from);
  make_address(&a, &here, "client");
  make_address(&a, &there, "nothing listens here");
  RETURNS(VIP_NO_MATCH, VipConnectRequest(v, &here.net, &there.net, VIP_INFINITE, NULL));
  make_address(&b, &there, "not taken");
  RETURNS(VIP_TIMEOUT, VipConnectWait(b.nic, &there.net, 0, &from.net, &other, &c));
  /* The request waits, and no call takes it in time. */
  RETURNS(VIP_TIMEOUT, VipConnectRequest(v, &here.net, &there.net, 20, NULL));
  OK(VipQueryVi(v, &state, NULL, NULL, NULL));
  CHECK(state == VIP_STATE_IDLE);

  r.vi = v;
  r.where = "rejects";
  r.timeout = VIP_INFINITE;
  CHECK(pthread_create(&t, NULL, ask, &r) == 0);
  c = await_request("rejects");
  RETURNS(VIP_INVALID_RELIABILITY_LEVEL, VipConnectAccept(c, w));
  OK(VipConnectReject(c));
  CHECK(pthread_join(t, NULL) == 0);
  RETURNS(VIP_REJECT, r.result);

  /* No other process comes to meet it. */
  RETURNS(VIP_INVALID_STATE, VipConnectPeerWait(v, &other));
  OK(VipConnectPeerRequest(v, &here.net, &there.net, 20));
  RETURNS(VIP_TIMEOUT, VipConnectPeerWait(v, &other));
  OK(VipConnectPeerRequest(v, &here.net, &there.net, VIP_INFINITE));
  RETURNS(VIP_INVALID_STATE, VipDestroyVi(v));
  OK(VipDisconnect(v));
  OK(VipDestroyVi(v));
  OK(VipDestroyVi(w));
}

/* A descriptor in memory of the library, and one that comes back though there was no connection. */
static void own_descriptor(VIP_PVOID own, VIP_MEM_HANDLE h) {
  VIP_VI_HANDLE v = make_vi(&a, VIP_SERVICE_RELIABLE_DELIVERY, NULL);
  VIP_DESCRIPTOR* const d = own;
  VIP_DESCRIPTOR* got = NULL;
  memset(d, 0, sizeof *d);
  OK(VipPostRecv(v, d, h));
  RETURNS(VIP_ERROR_RESOURCE, VipDestroyVi(v));
  OK(VipDisconnect(v));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvDone(v, &got));
  CHECK(got == d && (d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  OK(VipDestroyVi(v));
}

static void bad_arguments(void) {
  VIP_VI_ATTRIBUTES va;
  VIP_MEM_ATTRIBUTES ma;
  VIP_MEM_HANDLE h = 0;
  VIP_VI_HANDLE v = NULL;
  VIP_DESCRIPTOR* d = NULL;
  VIP_NIC_HANDLE n = NULL;
  VIP_PVOID own = NULL;
  RETURNS(VIP_INVALID_PARAMETER, VipOpenNic("", &n));
  RETURNS(VIP_INVALID_PARAMETER, VipCloseNic(NULL));
  RETURNS(VIP_INVALID_PARAMETER, VipSendDone(a.nic, &d)); /* no VI */
  memset(&va, 0, sizeof va);
  va.Ptag = a.tag;
  RETURNS(VIP_INVALID_RELIABILITY_LEVEL, VipCreateVi(a.nic, &va, NULL, NULL, &v));
  va.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
  va.EnableRdmaRead = VIP_TRUE;
  RETURNS(VIP_INVALID_RDMAREAD, VipCreateVi(a.nic, &va, NULL, NULL, &v));
  va.EnableRdmaRead = VIP_FALSE;
  va.Ptag = b.tag; /* of the other NIC */
  RETURNS(VIP_INVALID_PTAG, VipCreateVi(a.nic, &va, NULL, NULL, &v));
  RETURNS(VIP_ERROR_RESOURCE, VipDestroyPtag(a.nic, a.tag));
  RETURNS(VIP_INVALID_PARAMETER, VipDeregisterMem(a.nic, a.memory, a.handle + 1));
  memset(&ma, 0, sizeof ma);
  ma.Ptag = a.tag;
  OK(VipAllocateMem(a.nic, &own, 100000, &ma, &h));
  memset(own, 1, 100000);
  own_descriptor(own, h);
  RETURNS(VIP_INVALID_PARAMETER, VipDeregisterMem(a.nic, own, h));
  OK(VipQueryMem(a.nic, own, h, &ma));
  CHECK(ma.Ptag == a.tag && !ma.EnableRdmaWrite);
  ma.EnableRdmaWrite = VIP_TRUE;
  OK(VipSetMemAttributes(a.nic, own, h, &ma));
  OK(VipFreeMem(a.nic, own, h));
}

/* Many VIs with one completion queue; callbacks; then a message that finds no descriptor. */
static void completions(void) {
  enum { vis = 3 };
  VIP_CQ_HANDLE q = NULL;
  VIP_VI_HANDLE from[vis], to[vis], which = NULL;
  VIP_BOOLEAN receives = VIP_FALSE;
  VIP_DESCRIPTOR* d = NULL;
  struct report r;
  int i;
  OK(VipCreateCQ(b.nic, 16, &q));
  for (i = 0; i != vis; ++i) {
    char where[16];
    snprintf(where, sizeof where, "cq%d", i);
    from[i] = make_vi(&a, VIP_SERVICE_RELIABLE_RECEPTION, NULL);
    to[i] = make_vi(&b, VIP_SERVICE_RELIABLE_RECEPTION, q);
    OK(VipPostRecv(to[i], describe(&b, (unsigned)i, 0, 64), b.handle));
    connect_two(from[i], to[i], where);
  }
  RETURNS(VIP_ERROR_RESOURCE, VipDestroyCQ(q));
  RETURNS(VIP_NOT_DONE, VipCQDone(q, &which, &receives));
  RETURNS(VIP_TIMEOUT, VipCQWait(q, 0, &which, &receives));
  for (i = 0; i != 2; ++i) OK(VipPostSend(from[i], describe(&a, (unsigned)i, 0, 64), a.handle));
  for (i = 0; i != 2; ++i) {
    OK(VipCQWait(q, VIP_INFINITE, &which, &receives));
    CHECK(receives && (which == to[0] || which == to[1]));
    OK(VipRecvDone(which, &d));
  }
  RETURNS(VIP_INVALID_PARAMETER, VipResizeCQ(q, 0));
  OK(VipResizeCQ(q, 32));
  OK(VipCQNotify(q, &seen, on_entry));
  OK(VipPostSend(from[2], describe(&a, 2, 0, 64), a.handle));
  r = await(&seen.entries, 1);
  CHECK(r.vi == to[2] && r.receives);
  OK(VipRecvDone(to[2], &d));
  for (i = 0; i != vis; ++i) {
    OK(VipSendNotify(from[i], &seen, on_descriptor));
    r = await(&seen.descriptors, i + 1);
    CHECK(r.vi == from[i] && r.descriptor->CS.Status == VIP_STATUS_DONE);
  }

  /* No descriptor is posted now. */
  OK(VipErrorCallback(b.nic, &seen, on_error));
  OK(VipPostSend(from[1], describe(&a, 1, 0, 64), a.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendWait(from[1], VIP_INFINITE, &d));
  CHECK((d->CS.Status & VIP_STATUS_REMOTE_DESC_ERROR) != 0);
  r = await(&seen.errors, 1);
  CHECK(r.error == VIP_ERROR_RECVQ_EMPTY && r.vi == to[1]);
  /* Both sides are in the error state: what is posted is flushed. */
  OK(VipPostSend(from[1], describe(&a, 1, 0, 64), a.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendWait(from[1], VIP_INFINITE, &d));
  CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);

  /* RDMA to memory that its tag or its handle does not allow. */
  d = describe(&a, 3, 0, 0);
  d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
  d->CS.SegCount = 2;
  d->DS[0].Remote.Data.Address = b.data;
  d->DS[0].Remote.Handle = b.handle + 1;
  d->DS[1].Local.Data.Address = a.data;
  d->DS[1].Local.Handle = a.handle;
  d->DS[1].Local.Length = d->CS.Length = 10;
  OK(VipPostSend(from[0], d, a.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendWait(from[0], VIP_INFINITE, &d));
  CHECK((d->CS.Status & VIP_STATUS_RDMA_PROT_ERROR) != 0);
  /* A buffer that is not registered. */
  d = describe(&a, 3, 0, 10);
  d->DS[0].Local.Data.Address = &seen;
  OK(VipPostSend(from[2], d, a.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendWait(from[2], VIP_INFINITE, &d));
  CHECK((d->CS.Status & VIP_STATUS_PROTECTION_ERROR) != 0);

  await(&seen.errors, 3); /* the other two have lost their connections */
  OK(VipErrorCallback(b.nic, NULL, NULL));
  for (i = 0; i != vis; ++i) {
    OK(VipDisconnect(from[i]));
    OK(VipDisconnect(to[i]));
    OK(VipDestroyVi(from[i]));
    OK(VipDestroyVi(to[i]));
  }
  OK(VipDestroyCQ(q));
}

int main(void) {
  open_side(&a);
  open_side(&b);
  bad_arguments();
  refusals();
  completions();
  close_side(&a);
  close_side(&b);
  return 0;
}
