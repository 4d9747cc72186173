/* SPDX-License-Identifier: Apache-2.0 */
/* The VI Provider Library 1.0 (VIPL) of the Virtual Interface Architecture, on weft: link with
 * libvipl-weft.so. Names, types, constants and layouts are those of Intel's "Virtual Interface (VI)
 * Architecture Developer's Guide", revision 1.0; the behaviour that the guide leaves to the
 * provider is described here and in docs/adr/0040-vipl.md.
 *
 * Every function may be called from any thread (VIP_NIC_ATTRIBUTES.ThreadSafe is VIP_TRUE), except
 * that a handle must not be used during or after the call that ends it. Callbacks run on a thread
 * of the library, one at a time; they may call every function but those that end the NIC.
 *
 * Functions return VIP_SUCCESS or, besides what their comments say:
 *   VIP_INVALID_PARAMETER  a handle or pointer is null or not of its kind, or a value is out of
 * range VIP_ERROR_RESOURCE     no memory, no descriptors, or a limit of the NIC is reached */
#ifndef WEFT_VIPL_H
#define WEFT_VIPL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks of the guide's declarations. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif

/* --- types ----------------------------------------------------------------------------------- */

typedef void* VIP_PVOID;
typedef int VIP_BOOLEAN;
typedef char VIP_CHAR;
typedef unsigned char VIP_UCHAR;
typedef unsigned short VIP_USHORT;
typedef unsigned long VIP_ULONG;
typedef uint64_t VIP_UINT64;
typedef uint32_t VIP_UINT32;
typedef uint16_t VIP_UINT16;
typedef uint8_t VIP_UINT8;

#define VIP_TRUE (1)
#define VIP_FALSE (0)

/* A time-out without limit. Other time-outs are in milliseconds; 0 does not wait. */
#define VIP_INFINITE ((VIP_ULONG)0xFFFFFFFFu)

typedef VIP_PVOID VIP_QOS; /* must be null: the guide defines no quality of service */
typedef VIP_PVOID VIP_NIC_HANDLE;
typedef VIP_PVOID VIP_VI_HANDLE;
typedef VIP_PVOID VIP_PROTECTION_HANDLE;
typedef VIP_PVOID VIP_CONN_HANDLE;
typedef VIP_PVOID VIP_CQ_HANDLE;
typedef VIP_UINT32 VIP_MEM_HANDLE; /* 0 is none */

/* The address of a VI end: HostAddressLen bytes of a NIC's address, followed by DiscriminatorLen
 * bytes that both ends agree on. */
typedef struct {
  VIP_UINT16 HostAddressLen;
  VIP_UINT16 DiscriminatorLen;
  VIP_UINT8 HostAddress[1];
} VIP_NET_ADDRESS;

typedef VIP_USHORT VIP_RELIABILITY_LEVEL;
#define VIP_SERVICE_UNRELIABLE 0x01
#define VIP_SERVICE_RELIABLE_DELIVERY 0x02
#define VIP_SERVICE_RELIABLE_RECEPTION 0x04

typedef enum {
  VIP_SUCCESS,
  VIP_NOT_DONE,
  VIP_INVALID_PARAMETER,
  VIP_ERROR_RESOURCE,
  VIP_TIMEOUT,
  VIP_REJECT,
  VIP_INVALID_RELIABILITY_LEVEL,
  VIP_INVALID_MTU,
  VIP_INVALID_QOS,
  VIP_INVALID_PTAG,
  VIP_INVALID_RDMAREAD,
  VIP_DESCRIPTOR_ERROR,
  VIP_INVALID_STATE,
  VIP_ERROR_NAMESERVICE,
  VIP_NO_MATCH,
  VIP_NOT_REACHABLE,
  VIP_ERROR_NOT_SUPPORTED
} VIP_RETURN;

typedef struct {
  VIP_CHAR Name[64];
  VIP_ULONG HardwareVersion;
  VIP_ULONG ProviderVersion;
  VIP_UINT16 NicAddressLen; /* 4: an IPv4 address, in network order */
  const VIP_UINT8* LocalNicAddress;
  VIP_BOOLEAN ThreadSafe;
  VIP_UINT16 MaxDiscriminatorLen;
  VIP_ULONG MaxRegisterBytes;
  VIP_ULONG MaxRegisterRegions;
  VIP_ULONG MaxRegisterBlockBytes;
  VIP_ULONG MaxVI;
  VIP_ULONG MaxDescriptorsPerQueue;
  VIP_ULONG MaxSegmentsPerDesc;
  VIP_ULONG MaxCQ;
  VIP_ULONG MaxCQEntries;
  VIP_ULONG MaxTransferSize;
  VIP_ULONG NativeMTU;
  VIP_ULONG MaxPtags;
  VIP_RELIABILITY_LEVEL ReliabilityLevelSupport;
  VIP_RELIABILITY_LEVEL RDMAReadSupport;
} VIP_NIC_ATTRIBUTES;

/* --- descriptors ----------------------------------------------------------------------------- */

/* Descriptors begin at a multiple of this many bytes. */
#define VIP_DESCRIPTOR_ALIGNMENT 64

struct _VIP_DESCRIPTOR;

typedef union {
  VIP_UINT64 AddressBits;
  VIP_PVOID Address;
  struct _VIP_DESCRIPTOR* Descriptor;
} VIP_PVOID64;

typedef struct {
  VIP_PVOID64 Next;
  VIP_MEM_HANDLE NextHandle;
  VIP_UINT16 SegCount; /* with the address segment of RDMA */
  VIP_UINT16 Control;
  VIP_UINT32 Reserved;
  VIP_UINT32 ImmediateData;
  VIP_UINT32 Length; /* after completion: bytes of the message */
  VIP_UINT32 Status;
} VIP_CONTROL_SEGMENT;

/* The first segment of an RDMA descriptor: memory of the other side. */
typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Reserved;
} VIP_ADDRESS_SEGMENT;

typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Length;
} VIP_DATA_SEGMENT;

typedef union {
  VIP_ADDRESS_SEGMENT Remote;
  VIP_DATA_SEGMENT Local;
} VIP_DESCRIPTOR_SEGMENT;

/* A descriptor may go on behind its second segment. Programs know its parts by two sets of names.
 */
#ifdef __GNUC__
__extension__
#endif
    typedef struct _VIP_DESCRIPTOR {
  union {
    VIP_CONTROL_SEGMENT CS;
    VIP_CONTROL_SEGMENT Control;
  };
  union {
    VIP_DESCRIPTOR_SEGMENT DS[2];
    VIP_DATA_SEGMENT Data[2];
  };
} VIP_DESCRIPTOR;

/* VIP_CONTROL_SEGMENT.Control */
#define VIP_CONTROL_OP_SENDRECV 0x0000
#define VIP_CONTROL_OP_RDMAWRITE 0x0001
#define VIP_CONTROL_OP_RDMAREAD 0x0002
#define VIP_CONTROL_OP_RESERVED 0x0003
#define VIP_CONTROL_OP_MASK 0x0003
#define VIP_CONTROL_IMMEDIATE 0x0004
#define VIP_CONTROL_QFENCE 0x0008
#define VIP_CONTROL_RESERVED 0xFFF0

/* VIP_CONTROL_SEGMENT.Status */
#define VIP_STATUS_DONE 0x00000001
#define VIP_STATUS_FORMAT_ERROR 0x00000002
#define VIP_STATUS_PROTECTION_ERROR 0x00000004
#define VIP_STATUS_LENGTH_ERROR 0x00000008
#define VIP_STATUS_PARTIAL_ERROR 0x00000010
#define VIP_STATUS_DESC_FLUSHED_ERROR 0x00000020
#define VIP_STATUS_TRANSPORT_ERROR 0x00000040
#define VIP_STATUS_RDMA_PROT_ERROR 0x00000080
#define VIP_STATUS_REMOTE_DESC_ERROR 0x00000100
#define VIP_STATUS_ERROR_MASK 0x000001FE
#define VIP_STATUS_OP_SEND 0x00000000
#define VIP_STATUS_OP_RECEIVE 0x00010000
#define VIP_STATUS_OP_RDMA_WRITE 0x00020000
#define VIP_STATUS_OP_REMOTE_RDMA_WRITE 0x00030000
#define VIP_STATUS_OP_RDMA_READ 0x00040000
#define VIP_STATUS_OP_MASK 0x00070000
#define VIP_STATUS_IMMEDIATE 0x00080000
#define VIP_STATUS_RESERVED 0xFFF0FE00

/* --- attributes and errors ------------------------------------------------------------------- */

typedef enum {
  VIP_STATE_IDLE,
  VIP_STATE_CONNECTED,
  VIP_STATE_CONNECT_PENDING,
  VIP_STATE_ERROR
} VIP_VI_STATE;

typedef struct _VIP_VI_ATTRIBUTES {
  VIP_RELIABILITY_LEVEL ReliabilityLevel; /* one of the three */
  VIP_ULONG MaxTransferSize;
  VIP_QOS QoS;
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite; /* the other side may write by RDMA */
  VIP_BOOLEAN EnableRdmaRead;
} VIP_VI_ATTRIBUTES;

typedef struct _VIP_MEM_ATTRIBUTES {
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite;
  VIP_BOOLEAN EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

typedef enum _VIP_RESOURCE_CODE {
  VIP_RESOURCE_NIC,
  VIP_RESOURCE_VI,
  VIP_RESOURCE_CQ,
  VIP_RESOURCE_DESCRIPTOR
} VIP_RESOURCE_CODE;

typedef enum _VIP_ERROR_CODE {
  VIP_ERROR_POST_DESC,
  VIP_ERROR_CONN_LOST,
  VIP_ERROR_RECVQ_EMPTY,
  VIP_ERROR_VI_OVERRUN,
  VIP_ERROR_RDMAW_PROT,
  VIP_ERROR_RDMAW_DATA,
  VIP_ERROR_RDMAW_ABORT,
  VIP_ERROR_RDMAR_PROT,
  VIP_ERROR_COMP_PROT,
  VIP_ERROR_RDMA_TRANSPORT,
  VIP_ERROR_CATASTROPHIC
} VIP_ERROR_CODE;

typedef struct _VIP_ERROR_DESCRIPTOR {
  VIP_NIC_HANDLE NicHandle;
  VIP_VI_HANDLE ViHandle;
  VIP_CQ_HANDLE CQHandle;
  VIP_DESCRIPTOR* DescriptorPtr;
  VIP_ULONG OpCode; /* as VIP_CONTROL_SEGMENT.Control */
  VIP_RESOURCE_CODE ResourceCode;
  VIP_ERROR_CODE ErrorCode;
} VIP_ERROR_DESCRIPTOR;

/* InfoType of VipQuerySystemManagementInfo */
#define VIP_SMI_AUTODISCOVERY ((VIP_ULONG)1)

typedef struct {
  VIP_ULONG NumberOfHops;
  VIP_NET_ADDRESS** ADAddrArray;
  VIP_ULONG NumAdAddrs;
} VIP_AUTODISCOVERY_LIST;

typedef void (*VIP_ERROR_HANDLER)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc);
typedef void (*VIP_VI_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_DESCRIPTOR* DescriptorPtr);
typedef void (*VIP_CQ_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_BOOLEAN RecvQueue);

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* --- the NIC --------------------------------------------------------------------------------- */

/* Opens a NIC: a context of weft with its transports, as the WEFT_* variables choose them.
 * DeviceName: any name of 1 to 63 bytes. Each call opens a NIC of its own. A failure's reason is a
 * line on stderr. VIP_INVALID_PARAMETER: that name, or a variable, which the line names. */
VIP_RETURN VipOpenNic(IN const VIP_CHAR* DeviceName, OUT VIP_NIC_HANDLE* NicHandle);
/* Ends the NIC and everything that was made from it: connections, VIs, queues, registrations, and
 * requests, which are refused. No other thread may be inside a call on any of these. */
VIP_RETURN VipCloseNic(IN VIP_NIC_HANDLE NicHandle);
VIP_RETURN VipQueryNic(IN VIP_NIC_HANDLE NicHandle, OUT VIP_NIC_ATTRIBUTES* NicAttribs);
/* Sets the handler of asynchronous errors; null: none. The error descriptor is valid during the
 * call of the handler. docs/vipl.md has the cause of each code. */
VIP_RETURN VipErrorCallback(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Context,
                            IN VIP_ERROR_HANDLER Handler);
/* Returns VIP_ERROR_NOT_SUPPORTED for every InfoType. */
VIP_RETURN VipQuerySystemManagementInfo(IN VIP_NIC_HANDLE NicHandle, IN VIP_ULONG InfoType,
                                        OUT VIP_PVOID SysManInfo);

/* --- protection tags and memory -------------------------------------------------------------- */

VIP_RETURN VipCreatePtag(IN VIP_NIC_HANDLE NicHandle, OUT VIP_PROTECTION_HANDLE* Ptag);
/* VIP_ERROR_RESOURCE: a VI or registered memory has the tag. */
VIP_RETURN VipDestroyPtag(IN VIP_NIC_HANDLE NicHandle, IN VIP_PROTECTION_HANDLE Ptag);
/* Registers memory of the application. Its Ptag may be null: the memory is for VIs without a tag
 * then. VIP_INVALID_PTAG: there is no such tag.
 * VIP_INVALID_PARAMETER: a part of it is not mapped, or not to be written. */
VIP_RETURN VipRegisterMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                          IN VIP_ULONG Length, IN VIP_MEM_ATTRIBUTES* MemAttribs,
                          OUT VIP_MEM_HANDLE* MemoryHandle);
/* Afterwards the memory may be freed: waits for a peer that is copying to it.
 * VIP_ERROR_RESOURCE: a descriptor that is not complete is in the memory, or has a buffer there; it
 * stays registered. */
VIP_RETURN VipDeregisterMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                            IN VIP_MEM_HANDLE MemoryHandle);
VIP_RETURN VipQueryMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                       IN VIP_MEM_HANDLE MemoryHandle, OUT VIP_MEM_ATTRIBUTES* MemAttribs);
VIP_RETURN VipSetMemAttributes(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                               IN VIP_MEM_HANDLE MemoryHandle, IN VIP_MEM_ATTRIBUTES* MemAttribs);
/* Not in the guide: allocates memory of the library and registers it. Peers of the same host copy
 * from it directly. VirtualAddress: receives its address. */
VIP_RETURN VipAllocateMem(IN VIP_NIC_HANDLE NicHandle, OUT VIP_PVOID* VirtualAddress,
                          IN VIP_ULONG Length, IN VIP_MEM_ATTRIBUTES* MemAttribs,
                          OUT VIP_MEM_HANDLE* MemoryHandle);
/* Deregisters and frees memory of VipAllocateMem. VIP_ERROR_RESOURCE: as VipDeregisterMem. */
VIP_RETURN VipFreeMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                      IN VIP_MEM_HANDLE MemoryHandle);

/* --- VIs ------------------------------------------------------------------------------------- */

/* Makes an idle VI. SendCQHandle, RecvCQHandle: completion queues, or null. Ptag may be null: the
 * VI uses all memory of the NIC, and its peer does by RDMA, as far as the memory allows it.
 * VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU, VIP_INVALID_QOS, VIP_INVALID_PTAG,
 * VIP_INVALID_RDMAREAD (there is no RDMA read on unreliable VIs): that attribute is not possible.
 */
VIP_RETURN VipCreateVi(IN VIP_NIC_HANDLE NicHandle, IN VIP_VI_ATTRIBUTES* ViAttribs,
                       IN VIP_CQ_HANDLE SendCQHandle, IN VIP_CQ_HANDLE RecvCQHandle,
                       OUT VIP_VI_HANDLE* ViHandle);
/* VIP_INVALID_STATE: the VI is not idle. VIP_ERROR_RESOURCE: descriptors are on its queues. */
VIP_RETURN VipDestroyVi(IN VIP_VI_HANDLE ViHandle);
VIP_RETURN VipQueryVi(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_STATE* State,
                      OUT VIP_VI_ATTRIBUTES* ViAttribs, OUT VIP_BOOLEAN* ViSendQEmpty,
                      OUT VIP_BOOLEAN* ViRecvQEmpty);
/* As VipCreateVi; and VIP_INVALID_STATE: the VI is not idle. */
VIP_RETURN VipSetViAttributes(IN VIP_VI_HANDLE ViHandle, IN VIP_VI_ATTRIBUTES* ViAttribs);

/* --- connections of client and server -------------------------------------------------------- */

/* Waits for a request to LocalAddr's discriminator. From the first call on, the NIC has that
 * discriminator until it is closed, and requests wait for the next call.
 * RemoteAddr: receives the client's address; HostAddressLen and DiscriminatorLen tell how much room
 * there is, and 0 bytes of both stand for enough. RemoteViAttribs: receives those of the client's
 * VI; its Ptag is null. VIP_TIMEOUT; VIP_ERROR_RESOURCE: another process has that discriminator. */
VIP_RETURN VipConnectWait(IN VIP_NIC_HANDLE NicHandle, IN VIP_NET_ADDRESS* LocalAddr,
                          IN VIP_ULONG Timeout, OUT VIP_NET_ADDRESS* RemoteAddr,
                          OUT VIP_VI_ATTRIBUTES* RemoteViAttribs, OUT VIP_CONN_HANDLE* ConnHandle);
/* Connects the VI. On VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU (ReliabilityLevel and
 * MaxTransferSize must be those of the client's VI) and VIP_INVALID_STATE the request waits on, for
 * another VI or a reject. VIP_TIMEOUT: the client does not wait any more. */
VIP_RETURN VipConnectAccept(IN VIP_CONN_HANDLE ConnHandle, IN VIP_VI_HANDLE ViHandle);
VIP_RETURN VipConnectReject(IN VIP_CONN_HANDLE ConnHandle);
/* VIP_NO_MATCH: no process waits at that discriminator. VIP_REJECT: the server has rejected it, or
 * has another job key. VIP_TIMEOUT; VIP_NOT_REACHABLE; VIP_INVALID_STATE: the VI is not idle.
 * RemoteViAttribs may be null. */
VIP_RETURN VipConnectRequest(IN VIP_VI_HANDLE ViHandle, IN VIP_NET_ADDRESS* LocalAddr,
                             IN VIP_NET_ADDRESS* RemoteAddr, IN VIP_ULONG Timeout,
                             OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);
/* Ends the connection, or the attempt, and makes the VI idle. Descriptors on its queues complete
 * with VIP_STATUS_DESC_FLUSHED_ERROR. */
VIP_RETURN VipDisconnect(IN VIP_VI_HANDLE ViHandle);

/* --- connections of equals ------------------------------------------------------------------- */

/* Begins to connect to a VI whose process makes the same call with the two addresses exchanged. */
VIP_RETURN VipConnectPeerRequest(IN VIP_VI_HANDLE ViHandle, IN VIP_NET_ADDRESS* LocalAddr,
                                 IN VIP_NET_ADDRESS* RemoteAddr, IN VIP_ULONG Timeout);
/* Whether it is connected: VIP_SUCCESS; VIP_NOT_DONE: not yet; VIP_TIMEOUT; VIP_INVALID_STATE:
 * there was no request; VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU: the two VIs do not fit. */
VIP_RETURN VipConnectPeerDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);
/* The same, but waits, as long as the request's time-out allows. */
VIP_RETURN VipConnectPeerWait(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);

/* --- data ------------------------------------------------------------------------------------ */

/* Posts a descriptor; it and its buffers belong to the library until its completion was taken.
 * MemoryHandle: of the memory that the descriptor is in, which has the VI's protection tag, if the
 * VI has one. CS.Length: the sum of the data segments, or it has VIP_STATUS_FORMAT_ERROR.
 * VIP_INVALID_STATE: not connected. */
VIP_RETURN VipPostSend(IN VIP_VI_HANDLE ViHandle, IN VIP_DESCRIPTOR* DescriptorPtr,
                       IN VIP_MEM_HANDLE MemoryHandle);
/* The same, in any state of the VI; CS.Length is not read. A buffer must begin in its registered
 * memory; one that ends behind it takes messages that need no more than the part in it, and others
 * have VIP_STATUS_PROTECTION_ERROR. */
VIP_RETURN VipPostRecv(IN VIP_VI_HANDLE ViHandle, IN VIP_DESCRIPTOR* DescriptorPtr,
                       IN VIP_MEM_HANDLE MemoryHandle);
/* Takes the oldest descriptor from the queue if it is complete. VIP_DESCRIPTOR_ERROR: it completed
 * with an error, which its Status tells. VIP_NOT_DONE: it is not complete, or the queue is empty;
 * *DescriptorPtr is null then. */
VIP_RETURN VipSendDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_DESCRIPTOR** DescriptorPtr);
VIP_RETURN VipRecvDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_DESCRIPTOR** DescriptorPtr);
/* The same, but waits. VIP_TIMEOUT; VIP_NOT_DONE: the queue is empty and the VI not connected.
 * VIP_INVALID_PARAMETER, too: the queue has a completion queue, which is to be waited for. */
VIP_RETURN VipSendWait(IN VIP_VI_HANDLE ViHandle, IN VIP_ULONG Timeout,
                       OUT VIP_DESCRIPTOR** DescriptorPtr);
VIP_RETURN VipRecvWait(IN VIP_VI_HANDLE ViHandle, IN VIP_ULONG Timeout,
                       OUT VIP_DESCRIPTOR** DescriptorPtr);
/* Asks for one call of Handler, with the next descriptor that is complete, which is taken. */
VIP_RETURN VipSendNotify(IN VIP_VI_HANDLE ViHandle, IN VIP_PVOID Context,
                         IN VIP_VI_CALLBACK Handler);
VIP_RETURN VipRecvNotify(IN VIP_VI_HANDLE ViHandle, IN VIP_PVOID Context,
                         IN VIP_VI_CALLBACK Handler);

/* --- completion queues ----------------------------------------------------------------------- */

VIP_RETURN VipCreateCQ(IN VIP_NIC_HANDLE NicHandle, IN VIP_ULONG EntryCount,
                       OUT VIP_CQ_HANDLE* CQHandle);
/* VIP_ERROR_RESOURCE: VIs use it. */
VIP_RETURN VipDestroyCQ(IN VIP_CQ_HANDLE CQHandle);
/* VIP_ERROR_RESOURCE: more entries are in it. */
VIP_RETURN VipResizeCQ(IN VIP_CQ_HANDLE CQHandle, IN VIP_ULONG EntryCount);
/* Takes an entry, which names the queue that has one more complete descriptor. Entries beyond
 * EntryCount are kept, and reported once as VIP_ERROR_VI_OVERRUN. */
VIP_RETURN VipCQDone(IN VIP_CQ_HANDLE CQHandle, OUT VIP_VI_HANDLE* ViHandle,
                     OUT VIP_BOOLEAN* RecvQueue);
VIP_RETURN VipCQWait(IN VIP_CQ_HANDLE CQHandle, IN VIP_ULONG Timeout, OUT VIP_VI_HANDLE* ViHandle,
                     OUT VIP_BOOLEAN* RecvQueue);
VIP_RETURN VipCQNotify(IN VIP_CQ_HANDLE CQHandle, IN VIP_PVOID Context, IN VIP_CQ_CALLBACK Handler);

/* --- name service ---------------------------------------------------------------------------- */

/* Uses the host names of the system. NSInitInfo is ignored. */
VIP_RETURN VipNSInit(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID NSInitInfo);
/* Writes the host's address number NameIndex to Address, and its HostAddressLen.
 * VIP_ERROR_NAMESERVICE: there is none, or VipNSInit was not called. */
VIP_RETURN VipNSGetHostByName(IN VIP_NIC_HANDLE NicHandle, IN VIP_CHAR* Name,
                              OUT VIP_NET_ADDRESS* Address, IN VIP_ULONG NameIndex);
/* NameLen: in, bytes at Name; out, bytes of the name with its final zero, also if they did not fit
 * (VIP_ERROR_RESOURCE). */
VIP_RETURN VipNSGetHostByAddr(IN VIP_NIC_HANDLE NicHandle, IN VIP_NET_ADDRESS* Address,
                              OUT VIP_CHAR* Name, IN OUT VIP_ULONG* NameLen);
VIP_RETURN VipNSShutdown(IN VIP_NIC_HANDLE NicHandle);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
