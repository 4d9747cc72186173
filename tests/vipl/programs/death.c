/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is killed while another one waits for it: descriptors come back, and the error
 * handler hears of it, at each reliability level. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { posted = 3, large = 200000 };

static struct side me;
static char name[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int lost;

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* e) {
  CHECK(context == &lost);
  pthread_mutex_lock(&mutex);
  if (e->ErrorCode == VIP_ERROR_CONN_LOST) ++lost;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

/* The process that is killed: connects, and stops when it has heard that this is known. */
static void victim(VIP_RELIABILITY_LEVEL level) {
  union address here, there;
  VIP_VI_HANDLE v;
  VIP_DESCRIPTOR* d;
  CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0); /* not longer than the survivor */
  open_side(&me);
  v = make_vi(&me, level, NULL);
  OK(VipPostRecv(v, describe(&me, 0, 0, 8), me.handle));
  make_address(&me, &there, name);
  make_address(&me, &here, "victim");
  OK(request_soon(v, &here, &there, VIP_INFINITE, NULL));
  OK(VipRecvWait(v, VIP_INFINITE, &d));
  raise(SIGSTOP);
}

static void survivor(VIP_RELIABILITY_LEVEL level, pid_t child) {
  union address here, from;
  VIP_VI_ATTRIBUTES other;
  VIP_CONN_HANDLE c = NULL;
  VIP_DESCRIPTOR* d = NULL;
  VIP_VI_STATE state;
  VIP_VI_HANDLE v = make_vi(&me, level, NULL);
  int status = 0;
  unsigned i;
  lost = 0;
  OK(VipErrorCallback(me.nic, &lost, on_error));
  for (i = 0; i != posted; ++i)
    OK(VipPostRecv(v, describe(&me, i, i * (size_t)large, large), me.handle));
  make_address(&me, &here, name);
  memset(&from, 0, sizeof from);
  OK(VipConnectWait(me.nic, &here.net, VIP_INFINITE, &from.net, &other, &c));
  OK(VipConnectAccept(c, v));
  OK(VipPostSend(v, describe(&me, posted, 0, 8), me.handle));
  OK(VipSendWait(v, VIP_INFINITE, &d));
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  /* Short and long: the long one asks for a descriptor, and the victim never answers. */
  for (i = 0; i != 2; ++i) {
    d = describe(&me, posted + i, 0, i == 0 ? 8 : large);
    OK(VipPostSend(v, d, me.handle));
  }
  CHECK(kill(child, SIGKILL) == 0);
  for (i = 0; i != posted; ++i) {
    RETURNS(VIP_DESCRIPTOR_ERROR, VipRecvWait(v, VIP_INFINITE, &d));
    CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  }
  for (i = 0; i != 2; ++i) {
    const VIP_RETURN r = VipSendWait(v, VIP_INFINITE, &d);
    CHECK(d && (d->CS.Status & VIP_STATUS_DONE) != 0);
    if (i == 1 || level == VIP_SERVICE_RELIABLE_RECEPTION) CHECK(r == VIP_DESCRIPTOR_ERROR);
  }
  pthread_mutex_lock(&mutex);
  while (lost == 0) pthread_cond_wait(&changed, &mutex);
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
  unsigned i;
  /* All are started before this process has threads. */
  for (i = 0; i != 3; ++i) {
    snprintf(name, sizeof name, "death-%d-%u", (int)first, i);
    child[i] = fork();
    CHECK(child[i] >= 0);
    if (child[i] == 0) {
      victim(levels[i]);
      return 0;
    }
  }
  open_side(&me);
  for (i = 0; i != 3; ++i) {
    int status = 0;
    snprintf(name, sizeof name, "death-%d-%u", (int)first, i);
    survivor(levels[i], child[i]);
    CHECK(waitpid(child[i], &status, 0) == child[i] && WIFSIGNALED(status));
  }
  close_side(&me);
  return 0;
}
