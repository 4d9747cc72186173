/* SPDX-License-Identifier: Apache-2.0 */
/* A server and a client: connections of both forms, sends of all sizes, RDMA, completion queues,
 * and errors, at each reliability level. pair server|client NAME [ITS_HOST OTHER_HOST] */

#include "check.h"

static struct side me;
static int is_server;
static const char* name;
static const char* own_host = "localhost";
static const char* other_host = "localhost";

static void place(union address* a, const char* host, const char* what, int level) {
  char text[32];
  snprintf(text, sizeof text, "%s-%s-%d", name, what, level);
  make_address_at(&me, a, host, text);
}

/* Both sides: by client and server. */
static void connect_pair(VIP_VI_HANDLE v, VIP_RELIABILITY_LEVEL level) {
  union address here, there;
  VIP_VI_ATTRIBUTES other;
  place(&there, is_server ? own_host : other_host, "cs", level);
  memset(&other, 0, sizeof other);
  if (is_server) {
    VIP_CONN_HANDLE c = NULL;
    memset(&here, 0, sizeof here);
    OK(VipConnectWait(me.nic, &there.net, VIP_INFINITE, &here.net, &other, &c));
    CHECK(here.net.HostAddressLen == 4 && here.net.DiscriminatorLen == 2);
    OK(VipConnectAccept(c, v));
  } else {
    make_address_at(&me, &here, own_host, "me");
    OK(request_soon(v, &here, &there, VIP_INFINITE, &other));
  }
  CHECK(other.ReliabilityLevel == level && other.EnableRdmaWrite);
}

static void connect_equals(VIP_VI_HANDLE v, VIP_RELIABILITY_LEVEL level) {
  union address one, two;
  VIP_VI_ATTRIBUTES other;
  VIP_RETURN r;
  place(&one, own_host, is_server ? "a" : "b", level);
  place(&two, other_host, is_server ? "b" : "a", level);
  OK(VipConnectPeerRequest(v, &one.net, &two.net, VIP_INFINITE));
  RETURNS(VIP_INVALID_STATE, VipConnectPeerRequest(v, &one.net, &two.net, VIP_INFINITE));
  do r = VipConnectPeerDone(v, &other);
  while (r == VIP_NOT_DONE && is_server);
  if (r == VIP_NOT_DONE) r = VipConnectPeerWait(v, &other);
  OK(r);
  CHECK(other.ReliabilityLevel == level);
}

/* The descriptor that is complete, checked. */
static VIP_DESCRIPTOR* received(VIP_VI_HANDLE v, VIP_UINT32 status, size_t length) {
  VIP_DESCRIPTOR* d = NULL;
  OK(VipRecvWait(v, VIP_INFINITE, &d));
  CHECK(d->CS.Status == (VIP_STATUS_DONE | status) && d->CS.Length == length);
  return d;
}
static void sent(VIP_VI_HANDLE v, VIP_DESCRIPTOR* expected) {
  VIP_DESCRIPTOR* d = NULL;
  OK(VipSendWait(v, VIP_INFINITE, &d));
  CHECK(d == expected && (d->CS.Status & VIP_STATUS_DONE) != 0);
}
static void post_send(VIP_VI_HANDLE v, VIP_DESCRIPTOR* d) { OK(VipPostSend(v, d, me.handle)); }
static void post_recv(VIP_VI_HANDLE v, VIP_DESCRIPTOR* d) { OK(VipPostRecv(v, d, me.handle)); }

/* A message without bytes, with a word: what was posted before it is there when it is heard. Its
 * descriptor is posted before the other side can send. */
static void post_turn(VIP_VI_HANDLE v, unsigned n) { post_recv(v, describe(&me, n, 0, 0)); }
static void tell_turn(VIP_VI_HANDLE v, unsigned n, VIP_UINT32 word) {
  VIP_DESCRIPTOR* const d = describe(&me, n, 0, 0);
  d->CS.Control |= VIP_CONTROL_IMMEDIATE;
  d->CS.ImmediateData = word;
  post_send(v, d);
  sent(v, d);
}
static void hear_turn(VIP_VI_HANDLE v, VIP_UINT32 word) {
  CHECK(received(v, VIP_STATUS_OP_RECEIVE | VIP_STATUS_IMMEDIATE, 0)->CS.ImmediateData == word);
}

/* The server receives, the client sends. All receives are posted before the connection. */
static const size_t sizes[] = {0, 1, 40, 4000, 8000, 9000, 60000, 300000};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void post_for_sizes(VIP_VI_HANDLE v) {
  unsigned i;
  if (is_server)
    for (i = 0; i != size_count; ++i) {
      /* Scattered over two buffers. */
      VIP_DESCRIPTOR* const d = describe(&me, i, (size_t)i * 1000, 500);
      d->CS.SegCount = 2;
      d->DS[1].Local.Data.Address = me.data + 50000;
      d->DS[1].Local.Handle = me.handle;
      d->DS[1].Local.Length = 400000;
      post_recv(v, d);
    }
  post_turn(v, 20);
}
static void exchange_sizes(VIP_VI_HANDLE v) {
  unsigned i;
  for (i = 0; i != size_count; ++i) {
    const size_t n = sizes[i], first = n < 500 ? n : 500;
    if (is_server) {
      unsigned char* whole = malloc(n + 1);
      received(v, VIP_STATUS_OP_RECEIVE, n);
      memcpy(whole, me.data + (size_t)i * 1000, first);
      memcpy(whole + first, me.data + 50000, n - first);
      CHECK(filled(whole, n, i));
      free(whole);
      tell_turn(v, 21, i);
    } else {
      VIP_DESCRIPTOR* const d = describe(&me, i, 0, n / 3);
      fill(me.data, n, i);
      d->CS.SegCount = 2;
      d->CS.Length = (VIP_UINT32)n;
      d->DS[1].Local.Data.Address = me.data + n / 3;
      d->DS[1].Local.Handle = me.handle;
      d->DS[1].Local.Length = (VIP_UINT32)(n - n / 3);
      post_send(v, d);
      sent(v, d);
      hear_turn(v, i);
      post_turn(v, 20);
    }
  }
}

/* The server tells its memory, the client writes and reads there. Each has a turn posted. */
static void exchange_rdma(VIP_VI_HANDLE v, VIP_RELIABILITY_LEVEL level) {
  struct {
    VIP_UINT64 at;
    VIP_MEM_HANDLE handle;
  } there;
  VIP_DESCRIPTOR* d;
  if (is_server) {
    there.at = (VIP_UINT64)(size_t)(me.data + 100000);
    there.handle = me.handle;
    memcpy(me.data, &there, sizeof there);
    /* Taken by the write with immediate data. */
    hear_turn(v, 77);
    post_turn(v, 22);
    fill(me.data + 300000, 5000, 9);
    tell_turn(v, 21, 78);
    d = describe(&me, 23, 0, sizeof there);
    post_send(v, d);
    sent(v, d);
    CHECK(received(v, VIP_STATUS_OP_REMOTE_RDMA_WRITE | VIP_STATUS_IMMEDIATE, 70000)
              ->CS.ImmediateData == 88);
    CHECK(filled(me.data + 100000, 70000, 3));
    post_turn(v, 20);
    tell_turn(v, 21, 99);
    hear_turn(v, 100);
    return;
  }
  post_recv(v, describe(&me, 24, 900000, sizeof there));
  tell_turn(v, 21, 77);
  hear_turn(v, 78);
  d = received(v, VIP_STATUS_OP_RECEIVE, sizeof there);
  memcpy(&there, me.data + 900000, sizeof there);
  fill(me.data, 70000, 3);
  d = describe(&me, 25, 0, 0);
  d->CS.Control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;
  d->CS.ImmediateData = 88;
  d->CS.SegCount = 2;
  d->DS[0].Remote.Data.AddressBits = there.at;
  d->DS[0].Remote.Handle = there.handle;
  d->DS[1].Local.Data.Address = me.data;
  d->DS[1].Local.Handle = me.handle;
  d->DS[1].Local.Length = d->CS.Length = 70000;
  post_recv(v, describe(&me, 26, 0, 0));
  post_send(v, d);
  sent(v, d);
  CHECK((d->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RDMA_WRITE);
  hear_turn(v, 99);
  if (level != VIP_SERVICE_UNRELIABLE) {
    d = describe(&me, 25, 0, 0);
    d->CS.Control = VIP_CONTROL_OP_RDMAREAD;
    d->CS.SegCount = 2;
    d->DS[0].Remote.Data.AddressBits = there.at + 200000;
    d->DS[0].Remote.Handle = there.handle;
    d->DS[1].Local.Data.Address = me.data + 500000;
    d->DS[1].Local.Handle = me.handle;
    d->DS[1].Local.Length = d->CS.Length = 5000;
    post_send(v, d);
    sent(v, d);
    CHECK((d->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RDMA_READ);
    CHECK(filled(me.data + 500000, 5000, 9));
  }
  post_turn(v, 20);
  tell_turn(v, 21, 100);
}

static void drain(VIP_VI_HANDLE v, VIP_UINT32 status) {
  VIP_DESCRIPTOR* d = NULL;
  VIP_RETURN r;
  while ((r = VipRecvDone(v, &d)) != VIP_NOT_DONE) {
    CHECK(r == VIP_DESCRIPTOR_ERROR && d && (d->CS.Status & status) == status);
  }
  while ((r = VipSendDone(v, &d)) != VIP_NOT_DONE) CHECK(r == VIP_DESCRIPTOR_ERROR && d);
}

static VIP_VI_STATE state_of(VIP_VI_HANDLE v) {
  VIP_VI_STATE s;
  OK(VipQueryVi(v, &s, NULL, NULL, NULL));
  return s;
}

static void end_connection(VIP_VI_HANDLE v) {
  if (is_server)
    while (state_of(v) == VIP_STATE_CONNECTED) continue;
  OK(VipDisconnect(v));
  CHECK(state_of(v) == VIP_STATE_IDLE);
  drain(v, VIP_STATUS_DONE | VIP_STATUS_DESC_FLUSHED_ERROR);
}

/* A message that finds no descriptor. */
static void send_without_receive(VIP_RELIABILITY_LEVEL level) {
  VIP_VI_HANDLE v = make_vi(&me, level, NULL);
  VIP_DESCRIPTOR* d = describe(&me, 0, 0, 100);
  RETURNS(VIP_INVALID_STATE, VipPostSend(v, d, me.handle));
  connect_equals(v, level);
  if (is_server) {
    /* It fails here, or the client leaves. */
    while (state_of(v) == VIP_STATE_CONNECTED) continue;
  } else {
    VIP_RETURN r;
    post_send(v, d);
    r = VipSendWait(v, VIP_INFINITE, &d);
    if (level == VIP_SERVICE_RELIABLE_RECEPTION)
      CHECK(r == VIP_DESCRIPTOR_ERROR && (d->CS.Status & VIP_STATUS_REMOTE_DESC_ERROR) != 0);
    else
      CHECK(r == VIP_SUCCESS);
    if (level != VIP_SERVICE_UNRELIABLE)
      while (state_of(v) == VIP_STATE_CONNECTED) continue;
  }
  OK(VipDisconnect(v));
  OK(VipDestroyVi(v));
}

int main(int argc, char** argv) {
  const VIP_RELIABILITY_LEVEL levels[] = {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                          VIP_SERVICE_RELIABLE_RECEPTION};
  unsigned i;
  CHECK(argc == 3 || argc == 5);
  is_server = strcmp(argv[1], "server") == 0;
  name = argv[2];
  if (argc == 5) {
    own_host = argv[3];
    other_host = argv[4];
  }
  open_side(&me);
  for (i = 0; i != 3; ++i) {
    VIP_VI_HANDLE v = make_vi(&me, levels[i], NULL);
    post_for_sizes(v);
    connect_pair(v, levels[i]);
    CHECK(state_of(v) == VIP_STATE_CONNECTED);
    exchange_sizes(v);
    exchange_rdma(v, levels[i]);
    RETURNS(VIP_INVALID_STATE, VipDestroyVi(v));
    end_connection(v);
    OK(VipDestroyVi(v));
    send_without_receive(levels[i]);
    fprintf(stderr, "%s: level %d\n", argv[1], (int)levels[i]);
  }
  close_side(&me);
  return 0;
}
