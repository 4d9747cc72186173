/* SPDX-License-Identifier: Apache-2.0 */
/* One process with two NICs: what an unreliable VI drops, and that later messages are whole; errors
 * of descriptors; the end of a connection with descriptors in its queues. */
#include "pair.h"

enum { large = 60000 };

static VIP_DESCRIPTOR* of_rdma(unsigned n, VIP_UINT16 control, VIP_MEM_HANDLE handle, size_t size) {
  VIP_DESCRIPTOR* const d = describe(&a, n, 0, 0);
  d->CS.Control = control;
  d->CS.SegCount = 2;
  d->DS[0].Remote.Data.Address = b.data;
  d->DS[0].Remote.Handle = handle;
  d->DS[1].Local.Data.Address = a.data;
  d->DS[1].Local.Handle = a.handle;
  d->DS[1].Local.Length = d->CS.Length = (VIP_UINT32)size;
  return d;
}

static void receive(VIP_VI_HANDLE v, unsigned n) {
  OK(VipPostRecv(v, describe(&b, n, (size_t)n * large, large), b.handle));
}

/* A message of that number of bytes, with contents that only it has. */
static void send(VIP_VI_HANDLE v, size_t size, unsigned seed) {
  VIP_DESCRIPTOR* d = describe(&a, 0, 0, size);
  fill(a.data, size, seed);
  OK(VipPostSend(v, d, a.handle));
  OK(VipSendWait(v, VIP_INFINITE, &d));
}

static void heard(VIP_VI_HANDLE v, size_t size, unsigned seed) {
  VIP_DESCRIPTOR* d = NULL;
  OK(VipRecvWait(v, VIP_INFINITE, &d));
  CHECK(d->CS.Length == size && filled(d->DS[0].Local.Data.Address, size, seed));
}

static VIP_UINT32 failed(VIP_VI_HANDLE v, VIP_DESCRIPTOR* d) {
  VIP_DESCRIPTOR* done = NULL;
  OK(VipPostSend(v, d, a.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendWait(v, VIP_INFINITE, &done));
  CHECK(done == d && (d->CS.Status & VIP_STATUS_DONE) != 0);
  return d->CS.Status & VIP_STATUS_ERROR_MASK;
}

static VIP_VI_STATE state_of(VIP_VI_HANDLE v) {
  VIP_VI_STATE s;
  OK(VipQueryVi(v, &s, NULL, NULL, NULL));
  return s;
}

static void end(VIP_VI_HANDLE from, VIP_VI_HANDLE to) {
  VIP_DESCRIPTOR* d = NULL;
  OK(VipDisconnect(from));
  OK(VipDisconnect(to));
  while (VipRecvDone(to, &d) == VIP_DESCRIPTOR_ERROR)
    CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  RETURNS(VIP_NOT_DONE, VipRecvWait(to, VIP_INFINITE, &d));
  OK(VipDestroyVi(from));
  OK(VipDestroyVi(to));
}

/* A refused write takes no descriptor, and the messages behind it find theirs. */
static void refused_write(void) {
  VIP_VI_HANDLE from = make_vi(&a, VIP_SERVICE_UNRELIABLE, NULL);
  VIP_VI_HANDLE to = make_vi(&b, VIP_SERVICE_UNRELIABLE, NULL);
  const VIP_UINT16 write = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;
  unsigned i;
  for (i = 0; i != 4; ++i) receive(to, i);
  connect_two(from, to, "refused");
  send(from, large, 1);
  heard(to, large, 1);
  CHECK(failed(from, of_rdma(1, write, b.handle + 1, 10)) == VIP_STATUS_RDMA_PROT_ERROR);
  CHECK(state_of(from) == VIP_STATE_CONNECTED);
  for (i = 2; i != 5; ++i) {
    send(from, large, i);
    heard(to, large, i);
  }
  end(from, to);
}

/* Messages, short and long, that find no descriptor. */
static void without_descriptor(void) {
  VIP_VI_HANDLE from = make_vi(&a, VIP_SERVICE_UNRELIABLE, NULL);
  VIP_VI_HANDLE to = make_vi(&b, VIP_SERVICE_UNRELIABLE, NULL);
  VIP_DESCRIPTOR* d = NULL;
  unsigned i;
  connect_two(from, to, "without");
  for (i = 0; i != 3; ++i) {
    send(from, 100, 50);
    /* A long one asks whether there is a descriptor: both sides have to go on. */
    d = describe(&a, 0, 0, large);
    OK(VipPostSend(from, d, a.handle));
    while (VipSendDone(from, &d) == VIP_NOT_DONE) CHECK(state_of(to) == VIP_STATE_CONNECTED);
    receive(to, 2 * i);
    receive(to, 2 * i + 1);
    /* The next message is behind the dropped ones. */
    d = describe(&a, 0, 0, large);
    fill(a.data, large, i);
    OK(VipPostSend(from, d, a.handle));
    while (VipSendDone(from, &d) == VIP_NOT_DONE) state_of(to);
    heard(to, large, i);
    send(from, 10, i + 10);
    heard(to, 10, i + 10);
  }
  /* One that is too long completes its descriptor, and the VI stays connected. */
  receive(to, 7);
  send(from, 30, 3);
  heard(to, 30, 3);
  OK(VipPostRecv(to, describe(&b, 8, 0, 8), b.handle));
  send(from, 30, 3);
  RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvWait(to, VIP_INFINITE, &d));
  CHECK((d->CS.Status & VIP_STATUS_LENGTH_ERROR) != 0);
  CHECK(state_of(to) == VIP_STATE_CONNECTED && state_of(from) == VIP_STATE_CONNECTED);
  end(from, to);
}

/* What is wrong with a descriptor itself. */
static void wrong_descriptors(void) {
  VIP_VI_HANDLE from = make_vi(&a, VIP_SERVICE_UNRELIABLE, NULL);
  VIP_VI_HANDLE to = make_vi(&b, VIP_SERVICE_UNRELIABLE, NULL);
  VIP_DESCRIPTOR* d;
  connect_two(from, to, "wrong");
  d = describe(&a, 0, 0, 8);
  d->CS.Control = VIP_CONTROL_OP_RESERVED;
  CHECK(failed(from, d) == VIP_STATUS_FORMAT_ERROR);
  d = describe(&a, 0, 0, 8);
  d->CS.SegCount = 5000;
  CHECK(failed(from, d) == VIP_STATUS_FORMAT_ERROR);
  d = describe(&a, 0, 0, 8);
  d->DS[0].Local.Handle += 1;
  CHECK(failed(from, d) == VIP_STATUS_PROTECTION_ERROR);
  d = describe(&a, 0, 0, room + 1);
  CHECK(failed(from, d) == VIP_STATUS_PROTECTION_ERROR);
  CHECK(failed(from, of_rdma(0, VIP_CONTROL_OP_RDMAREAD, b.handle, 8)) == VIP_STATUS_FORMAT_ERROR);
  RETURNS(VIP_INVALID_PARAMETER, VipPostSend(from, describe(&a, 0, 0, 8), a.handle + 1));
  RETURNS(VIP_INVALID_PARAMETER,
          VipPostSend(from, (VIP_DESCRIPTOR*)(void*)(a.memory + 8), a.handle));
  d = describe(&b, 0, 0, 8);
  d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
  OK(VipPostRecv(to, d, b.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvDone(to, &d));
  CHECK((d->CS.Status & VIP_STATUS_ERROR_MASK) == VIP_STATUS_FORMAT_ERROR);
  CHECK(state_of(from) == VIP_STATE_CONNECTED);
  end(from, to);
}

/* The server's process leaves with descriptors posted, which come back. */
static void flushed(void) {
  VIP_VI_HANDLE from = make_vi(&a, VIP_SERVICE_RELIABLE_DELIVERY, NULL);
  VIP_VI_HANDLE to = make_vi(&b, VIP_SERVICE_RELIABLE_DELIVERY, NULL);
  VIP_DESCRIPTOR* d = NULL;
  unsigned i;
  for (i = 0; i != 3; ++i) receive(to, i);
  connect_two(from, to, "flushed");
  OK(VipDisconnect(from));
  for (i = 0; i != 3; ++i) {
    RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvWait(to, VIP_INFINITE, &d));
    CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  }
  CHECK(state_of(to) == VIP_STATE_ERROR);
  OK(VipPostRecv(to, describe(&b, 0, 0, 8), b.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvDone(to, &d));
  OK(VipPostSend(to, describe(&b, 1, 0, 8), b.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendDone(to, &d));
  CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  end(from, to);
}

int main(void) {
  open_side(&a);
  open_side(&b);
  refused_write();
  without_descriptor();
  wrong_descriptors();
  flushed();
  close_side(&a);
  close_side(&b);
  return 0;
}
