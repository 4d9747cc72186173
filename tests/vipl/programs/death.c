/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is killed while another one waits for it: descriptors come back, and the error
 * handler hears of it and of the RDMA write that was on its way, at each reliability level. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { posted = 3, large = 200000 };

static struct side me;
static char name[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int lost, broken_writes;

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* e) {
  CHECK(context == &lost);
  pthread_mutex_lock(&mutex);
  if (e->ErrorCode == VIP_ERROR_CONN_LOST) ++lost;
  if (e->ErrorCode == VIP_ERROR_RDMA_TRANSPORT) {
    CHECK(e->ResourceCode == VIP_RESOURCE_DESCRIPTOR);
    CHECK(e->OpCode == VIP_CONTROL_OP_RDMAWRITE);
    ++broken_writes;
  }
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

/* Where the victim's memory is. */
struct place {
  VIP_UINT64 at;
  VIP_MEM_HANDLE handle;
};

/* The process that is killed: connects, tells where its memory is, and stops when it has heard that
 * this is known. */
static void victim(VIP_RELIABILITY_LEVEL level, int stops) {
  union address here, there;
  VIP_VI_HANDLE v;
  VIP_DESCRIPTOR* d;
  struct place mine;
  CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0); /* not longer than the survivor */
  open_side(&me);
  memset(&mine, 0, sizeof mine);
  mine.at = (VIP_UINT64)(uintptr_t)me.data;
  mine.handle = me.handle;
  v = make_vi(&me, level, NULL);
  OK(VipPostRecv(v, describe(&me, 0, 0, 8), me.handle));
  make_address(&me, &there, name);
  make_address(&me, &here, "victim");
  OK(request_soon(v, &here, &there, VIP_INFINITE, NULL));
  memcpy(me.data, &mine, sizeof mine);
  OK(VipPostSend(v, describe(&me, 1, 0, sizeof mine), me.handle));
  OK(VipSendWait(v, VIP_INFINITE, &d));
  OK(VipRecvWait(v, VIP_INFINITE, &d));
  /* What it has confirmed leaves before it stops. */
  while (read(stops, &mine, 1) != 1) OK(VipQueryVi(v, NULL, NULL, NULL, NULL));
  raise(SIGSTOP);
}

/* A write to the victim's memory. */
static VIP_DESCRIPTOR* post_write(VIP_VI_HANDLE v, const struct place* there) {
  VIP_DESCRIPTOR* const d = describe(&me, posted + 2, 0, large);
  d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
  d->CS.SegCount = 2;
  d->DS[1] = d->DS[0];
  d->DS[0].Remote.Data.AddressBits = there->at;
  d->DS[0].Remote.Handle = there->handle;
  OK(VipPostSend(v, d, me.handle));
  return d;
}

static int over_tcp(void) {
  const char* const transports = getenv("WEFT_TRANSPORTS");
  return transports && strstr(transports, "tcp") != NULL;
}

static void survivor(VIP_RELIABILITY_LEVEL level, pid_t child, int stop) {
  union address here, from;
  VIP_VI_ATTRIBUTES other;
  VIP_CONN_HANDLE c = NULL;
  VIP_DESCRIPTOR *d = NULL, *written;
  struct place there;
  VIP_VI_STATE state;
  VIP_VI_HANDLE v = make_vi(&me, level, NULL);
  int status = 0, write_fails;
  unsigned i;
  lost = broken_writes = 0;
  OK(VipErrorCallback(me.nic, &lost, on_error));
  for (i = 0; i != posted + 1; ++i)
    OK(VipPostRecv(v, describe(&me, i, i * (size_t)large, large), me.handle));
  make_address(&me, &here, name);
  memset(&from, 0, sizeof from);
  OK(VipConnectWait(me.nic, &here.net, VIP_INFINITE, &from.net, &other, &c));
  OK(VipConnectAccept(c, v));
  OK(VipRecvWait(v, VIP_INFINITE, &d));
  memcpy(&there, d->DS[0].Local.Data.Address, sizeof there);
  OK(VipPostSend(v, describe(&me, posted + 1, 0, 8), me.handle));
  OK(VipSendWait(v, VIP_INFINITE, &d));
  CHECK(write(stop, "", 1) == 1);
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  /* The victim takes no part in the write. Behind it short and long: the long one asks for a
   * descriptor, and the victim never answers. */
  written = post_write(v, &there);
  for (i = 0; i != 2; ++i) {
    d = describe(&me, posted + 3 + i, 0, i == 0 ? 8 : large);
    OK(VipPostSend(v, d, me.handle));
  }
  CHECK(kill(child, SIGKILL) == 0);
  for (i = 0; i != posted; ++i) {
    RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvWait(v, VIP_INFINITE, &d));
    CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  }
  /* Where the write needs the victim, it fails. */
  write_fails = VipSendWait(v, VIP_INFINITE, &d) == VIP_DESCRIPTOR_ERROR;
  CHECK(d == written && (write_fails || !over_tcp()));
  if (write_fails) CHECK((d->CS.Status & VIP_STATUS_TRANSPORT_ERROR) != 0);
  for (i = 0; i != 2; ++i) {
    const VIP_RETURN r = VipSendWait(v, VIP_INFINITE, &d);
    CHECK(d && (d->CS.Status & VIP_STATUS_DONE) != 0);
    if (i == 1 || write_fails || level == VIP_SERVICE_RELIABLE_RECEPTION)
      CHECK(r == VIP_DESCRIPTOR_ERROR);
  }
  pthread_mutex_lock(&mutex);
  while (lost == 0 || broken_writes != write_fails) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  OK(VipQueryVi(v, &state, NULL, NULL, NULL));
  CHECK(state == VIP_STATE_ERROR);
  OK(VipPostSend(v, describe(&me, posted, 0, 8), me.handle));
  RETURNS(VIP_DESCRIPTOR_ERROR, VipSendWait(v, VIP_INFINITE, &d));
  OK(VipDisconnect(v));
  OK(VipDestroyVi(v));
  OK(VipErrorCallback(me.nic, NULL, NULL));
}

int main(void) {
  const VIP_RELIABILITY_LEVEL levels[] = {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                          VIP_SERVICE_RELIABLE_RECEPTION};
  const pid_t first = getpid();
  pid_t child[3];
  int stop[3][2];
  unsigned i;
  /* All are started before this process has threads. */
  for (i = 0; i != 3; ++i) {
    snprintf(name, sizeof name, "death-%d-%u", (int)first, i);
    CHECK(pipe(stop[i]) == 0 && fcntl(stop[i][0], F_SETFL, O_NONBLOCK) == 0);
    child[i] = fork();
    CHECK(child[i] >= 0);
    if (child[i] == 0) {
      victim(levels[i], stop[i][0]);
      return 0;
    }
  }
  open_side(&me);
  for (i = 0; i != 3; ++i) {
    int status = 0;
    snprintf(name, sizeof name, "death-%d-%u", (int)first, i);
    survivor(levels[i], child[i], stop[i][1]);
    CHECK(waitpid(child[i], &status, 0) == child[i] && WIFSIGNALED(status));
  }
  close_side(&me);
  return 0;
}
