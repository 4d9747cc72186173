/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs here share: checks, an opened NIC with memory, descriptors. */
#ifndef VIPL_CHECK_H
#define VIPL_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vipl.h>

#define CHECK(what)                                                      \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define RETURNS(code, call)                                                                        \
  do {                                                                                             \
    VIP_RETURN got_ = (call);                                                                      \
    if (got_ != (code)) {                                                                          \
      fprintf(stderr, "%s:%d: %s gave %d, not %s\n", __FILE__, __LINE__, #call, (int)got_, #code); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
#define OK(call) RETURNS(VIP_SUCCESS, call)

enum { descriptors = 64, descriptor_bytes = 128, room = 1 << 20 };

/* A NIC and one registration, which holds descriptors and buffers. */
struct side {
  VIP_NIC_HANDLE nic;
  VIP_PROTECTION_HANDLE tag;
  VIP_NIC_ATTRIBUTES about;
  unsigned char* memory;
  VIP_MEM_HANDLE handle;
  unsigned char* data; /* behind the descriptors */
};

static inline void open_side(struct side* s) {
  const size_t size = (size_t)descriptors * descriptor_bytes + room;
  void* memory = NULL;
  VIP_MEM_ATTRIBUTES a;
  memset(s, 0, sizeof *s);
  OK(VipOpenNic("nic0", &s->nic));
  OK(VipQueryNic(s->nic, &s->about));
  OK(VipCreatePtag(s->nic, &s->tag));
  CHECK(posix_memalign(&memory, 4096, size) == 0);
  memset(memory, 0, size);
  s->memory = memory;
  s->data = s->memory + (size_t)descriptors * descriptor_bytes;
  a.Ptag = s->tag;
  a.EnableRdmaWrite = a.EnableRdmaRead = VIP_TRUE;
  OK(VipRegisterMem(s->nic, memory, size, &a, &s->handle));
}

static inline void close_side(struct side* s) {
  OK(VipDeregisterMem(s->nic, s->memory, s->handle));
  OK(VipDestroyPtag(s->nic, s->tag));
  OK(VipCloseNic(s->nic));
  free(s->memory);
}

/* Descriptor number n with one buffer. */
static inline VIP_DESCRIPTOR* describe(struct side* s, unsigned n, size_t at, size_t length) {
  VIP_DESCRIPTOR* const d = (VIP_DESCRIPTOR*)(void*)(s->memory + (size_t)n * descriptor_bytes);
  memset(d, 0, descriptor_bytes);
  d->CS.SegCount = 1;
  d->CS.Control = VIP_CONTROL_OP_SENDRECV;
  d->CS.Length = (VIP_UINT32)length;
  d->DS[0].Local.Data.Address = s->data + at;
  d->DS[0].Local.Handle = s->handle;
  d->DS[0].Local.Length = (VIP_UINT32)length;
  return d;
}

/* An address of that host with that discriminator. */
union address {
  VIP_NET_ADDRESS net;
  unsigned char bytes[64];
};
static inline void make_address_at(struct side* s, union address* a, const char* host,
                                   const char* discriminator) {
  memset(a, 0, sizeof *a);
  OK(VipNSInit(s->nic, NULL));
  OK(VipNSGetHostByName(s->nic, (char*)host, &a->net, 0));
  CHECK(a->net.HostAddressLen == s->about.NicAddressLen);
  a->net.DiscriminatorLen = (VIP_UINT16)strlen(discriminator);
  memcpy(a->bytes + 4 + a->net.HostAddressLen, discriminator, strlen(discriminator));
}

static inline void make_address(struct side* s, union address* a, const char* discriminator) {
  make_address_at(s, a, "localhost", discriminator);
}

static inline VIP_VI_HANDLE make_vi(struct side* s, VIP_RELIABILITY_LEVEL level,
                                    VIP_CQ_HANDLE queue) {
  VIP_VI_ATTRIBUTES a;
  VIP_VI_HANDLE v = NULL;
  memset(&a, 0, sizeof a);
  a.ReliabilityLevel = level;
  a.MaxTransferSize = s->about.MaxTransferSize;
  a.Ptag = s->tag;
  a.EnableRdmaWrite = VIP_TRUE;
  a.EnableRdmaRead = level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE;
  OK(VipCreateVi(s->nic, &a, queue, queue, &v));
  return v;
}

/* VipConnectRequest for a server that may not be up yet: the guide has it return VIP_NO_MATCH at
 * once where no process waits, whatever its time-out, so a client can only ask again. */
static inline VIP_RETURN request_soon(VIP_VI_HANDLE v, union address* here, union address* there,
                                      VIP_ULONG timeout, VIP_VI_ATTRIBUTES* other) {
  const struct timespec a_moment = {0, 1000000};
  VIP_RETURN r;
  do r = VipConnectRequest(v, &here->net, &there->net, timeout, other);
  while (r == VIP_NO_MATCH && nanosleep(&a_moment, NULL) == 0);
  return r;
}

static inline void fill(unsigned char* at, size_t n, unsigned seed) {
  size_t i;
  for (i = 0; i != n; ++i) at[i] = (unsigned char)(i * 7 + seed + (i >> 8));
}
static inline int filled(const unsigned char* at, size_t n, unsigned seed) {
  size_t i;
  for (i = 0; i != n; ++i)
    if (at[i] != (unsigned char)(i * 7 + seed + (i >> 8))) return 0;
  return 1;
}

#endif
