// SPDX-License-Identifier: Apache-2.0
// What each function returns for arguments that it cannot use: a handle that is null or of another
// kind, a null pointer, a value out of range. Nothing else changes.
#include <string>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

/// All objects that handles name, and one result of each function.
struct subjects {
  pair& p;
  VIP_NIC_HANDLE nic = p.a.nic;
  VIP_VI_HANDLE vi = p.a.make_vi(VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_CQ_HANDLE queue = nullptr;
  VIP_DESCRIPTOR* d = p.a.describe(0, {{0, 8}});
  VIP_DESCRIPTOR* done = nullptr;
  VIP_VI_HANDLE which = nullptr;
  VIP_BOOLEAN receives = VIP_FALSE;
  VIP_CONN_HANDLE request = nullptr;
  VIP_MEM_HANDLE handle = 0;
  VIP_PVOID memory = nullptr;
  VIP_MEM_ATTRIBUTES rights{p.a.tag, VIP_FALSE, VIP_FALSE};
  address here{"arguments"}, there{"none"};
};

void on_entry(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN) {}
void on_descriptor(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*) {}

struct refusal {
  const char* what;
  VIP_RETURN (*call)(subjects&);
};

struct handle_use {
  const char* what;
  VIP_PVOID subjects::*other;  ///< of another kind
  VIP_RETURN (*call)(subjects&, VIP_PVOID);
};

constexpr handle_use with_bad_handles[] = {
    {"VipQueryNic", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipQueryNic(h, nullptr); }},
    {"VipCloseNic", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipCloseNic(h); }},
    {"VipErrorCallback", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipErrorCallback(h, &s, nullptr); }},
    {"VipQuerySystemManagementInfo", &subjects::vi,
     [](subjects& s, VIP_PVOID h) {
       return VipQuerySystemManagementInfo(h, VIP_SMI_AUTODISCOVERY, &s);
     }},
    {"VipCreatePtag", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipCreatePtag(h, &s.memory); }},
    {"VipDestroyPtag", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipDestroyPtag(s.nic, h); }},
    {"VipRegisterMem", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipRegisterMem(h, &s, 8, &s.rights, &s.handle); }},
    {"VipDeregisterMem", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipDeregisterMem(h, s.d, s.p.a.handle); }},
    {"VipAllocateMem", &subjects::vi,
     [](subjects& s, VIP_PVOID h) {
       return VipAllocateMem(h, &s.memory, 8, &s.rights, &s.handle);
     }},
    {"VipFreeMem", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipFreeMem(h, s.d, s.p.a.handle); }},
    {"VipQueryMem", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipQueryMem(h, s.d, s.p.a.handle, &s.rights); }},
    {"VipDestroyVi", &subjects::nic, [](subjects&, VIP_PVOID h) { return VipDestroyVi(h); }},
    {"VipQueryVi", &subjects::nic,
     [](subjects&, VIP_PVOID h) { return VipQueryVi(h, nullptr, nullptr, nullptr, nullptr); }},
    {"VipPostSend", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipPostSend(h, s.d, s.p.a.handle); }},
    {"VipPostRecv", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipPostRecv(h, s.d, s.p.a.handle); }},
    {"VipSendDone", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipSendDone(h, &s.done); }},
    {"VipRecvDone", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipRecvDone(h, &s.done); }},
    {"VipSendWait", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipSendWait(h, 0, &s.done); }},
    {"VipRecvWait", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipRecvWait(h, 0, &s.done); }},
    {"VipSendNotify", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipSendNotify(h, &s, &on_descriptor); }},
    {"VipRecvNotify", &subjects::nic,
     [](subjects& s, VIP_PVOID h) { return VipRecvNotify(h, &s, &on_descriptor); }},
    {"VipDisconnect", &subjects::nic, [](subjects&, VIP_PVOID h) { return VipDisconnect(h); }},
    {"VipConnectRequest", &subjects::nic,
     [](subjects& s, VIP_PVOID h) {
       return VipConnectRequest(h, s.here.get(), s.there.get(), 0, nullptr);
     }},
    {"VipConnectPeerRequest", &subjects::nic,
     [](subjects& s, VIP_PVOID h) {
       return VipConnectPeerRequest(h, s.here.get(), s.there.get(), 0);
     }},
    {"VipConnectPeerDone", &subjects::nic,
     [](subjects&, VIP_PVOID h) { return VipConnectPeerDone(h, nullptr); }},
    {"VipConnectPeerWait", &subjects::nic,
     [](subjects&, VIP_PVOID h) { return VipConnectPeerWait(h, nullptr); }},
    {"VipConnectWait", &subjects::vi,
     [](subjects& s, VIP_PVOID h) {
       return VipConnectWait(h, s.here.get(), 0, s.there.get(), nullptr, &s.request);
     }},
    {"VipConnectAccept", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipConnectAccept(h, s.vi); }},
    {"VipConnectReject", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipConnectReject(h); }},
    {"VipCreateCQ", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipCreateCQ(h, 8, &s.memory); }},
    {"VipDestroyCQ", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipDestroyCQ(h); }},
    {"VipResizeCQ", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipResizeCQ(h, 8); }},
    {"VipCQDone", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipCQDone(h, &s.which, &s.receives); }},
    {"VipCQWait", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipCQWait(h, 0, &s.which, &s.receives); }},
    {"VipCQNotify", &subjects::vi,
     [](subjects& s, VIP_PVOID h) { return VipCQNotify(h, &s, &on_entry); }},
    {"VipNSInit", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipNSInit(h, nullptr); }},
    {"VipNSShutdown", &subjects::vi, [](subjects&, VIP_PVOID h) { return VipNSShutdown(h); }},
};

constexpr refusal with_bad_values[] = {
    {"VipOpenNic: no name", [](subjects& s) { return VipOpenNic(nullptr, &s.memory); }},
    {"VipOpenNic: an empty name", [](subjects& s) { return VipOpenNic("", &s.memory); }},
    {"VipOpenNic: no place", [](subjects&) { return VipOpenNic("nic", nullptr); }},
    {"VipQueryNic: no place", [](subjects& s) { return VipQueryNic(s.nic, nullptr); }},
    {"VipRegisterMem: no address",
     [](subjects& s) { return VipRegisterMem(s.nic, nullptr, 8, &s.rights, &s.handle); }},
    {"VipRegisterMem: no bytes",
     [](subjects& s) { return VipRegisterMem(s.nic, &s, 0, &s.rights, &s.handle); }},
    {"VipRegisterMem: no attributes",
     [](subjects& s) { return VipRegisterMem(s.nic, &s, 8, nullptr, &s.handle); }},
    {"VipAllocateMem: no bytes",
     [](subjects& s) { return VipAllocateMem(s.nic, &s.memory, 0, &s.rights, &s.handle); }},
    {"VipDeregisterMem: another address",
     [](subjects& s) { return VipDeregisterMem(s.nic, s.p.a.data(), s.p.a.handle); }},
    {"VipDeregisterMem: another handle",
     [](subjects& s) { return VipDeregisterMem(s.nic, s.d, s.p.a.handle + 1); }},
    {"VipFreeMem: memory of the application",
     [](subjects& s) { return VipFreeMem(s.nic, s.d, s.p.a.handle); }},
    {"VipQueryMem: outside of it",
     [](subjects& s) {
       return VipQueryMem(s.nic, s.p.a.data(side::data_bytes), s.p.a.handle, &s.rights);
     }},
    {"VipDestroyPtag: of another NIC",
     [](subjects& s) { return VipDestroyPtag(s.nic, s.p.b.tag); }},
    {"VipCreateVi: a queue that is none",
     [](subjects& s) {
       VIP_VI_ATTRIBUTES a = s.p.a.attributes(VIP_SERVICE_UNRELIABLE);
       return VipCreateVi(s.nic, &a, s.nic, nullptr, &s.which);
     }},
    {"VipCreateVi: a queue of another NIC",
     [](subjects& s) {
       VIP_VI_ATTRIBUTES a = s.p.b.attributes(VIP_SERVICE_UNRELIABLE);
       return VipCreateVi(s.p.b.nic, &a, nullptr, s.queue, &s.which);
     }},
    {"VipPostSend: no descriptor",
     [](subjects& s) { return VipPostSend(s.vi, nullptr, s.p.a.handle); }},
    {"VipPostRecv: not aligned",
     [](subjects& s) {
       return VipPostRecv(s.vi,
                          reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<char*>(s.d) + 32),
                          s.p.a.handle);
     }},
    {"VipPostRecv: outside of its memory",
     [](subjects& s) { return VipPostRecv(s.vi, s.p.b.describe(0, {}), s.p.a.handle); }},
    {"VipPostRecv: memory that is not registered",
     [](subjects& s) { return VipPostRecv(s.vi, s.d, s.p.a.handle + 1); }},
    {"VipSendDone: no place", [](subjects& s) { return VipSendDone(s.vi, nullptr); }},
    {"VipRecvWait: no place", [](subjects& s) { return VipRecvWait(s.vi, 0, nullptr); }},
    {"VipSendNotify: no handler", [](subjects& s) { return VipSendNotify(s.vi, &s, nullptr); }},
    {"VipCreateCQ: no entries", [](subjects& s) { return VipCreateCQ(s.nic, 0, &s.memory); }},
    {"VipResizeCQ: no entries", [](subjects& s) { return VipResizeCQ(s.queue, 0); }},
    {"VipCQDone: no place", [](subjects& s) { return VipCQDone(s.queue, nullptr, &s.receives); }},
    {"VipCQNotify: no handler", [](subjects& s) { return VipCQNotify(s.queue, &s, nullptr); }},
    {"VipConnectRequest: no address",
     [](subjects& s) { return VipConnectRequest(s.vi, s.here.get(), nullptr, 0, nullptr); }},
    {"VipConnectRequest: an address of another length",
     [](subjects& s) {
       address six("none");
       six.get()->HostAddressLen = 6;
       return VipConnectRequest(s.vi, s.here.get(), six.get(), 0, nullptr);
     }},
    {"VipConnectWait: a discriminator beyond the limit",
     [](subjects& s) {
       address of_33(std::string(33, 'x'));
       return VipConnectWait(s.nic, of_33.get(), 0, s.there.get(), nullptr, &s.request);
     }},
    {"VipNSGetHostByAddr: no address",
     [](subjects& s) {
       char name[8];
       VIP_ULONG room = sizeof name;
       return VipNSGetHostByAddr(s.nic, nullptr, name, &room);
     }},
};

struct bad_attribute {
  VIP_RETURN expected;
  void (*spoil)(subjects&, VIP_VI_ATTRIBUTES&);
};

constexpr bad_attribute bad_attributes[] = {
    {VIP_INVALID_RELIABILITY_LEVEL,
     [](subjects&, VIP_VI_ATTRIBUTES& a) {
       a.ReliabilityLevel = VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY;
     }},
    {VIP_INVALID_RELIABILITY_LEVEL,
     [](subjects&, VIP_VI_ATTRIBUTES& a) { a.ReliabilityLevel = 0; }},
    {VIP_INVALID_MTU,
     [](subjects& s, VIP_VI_ATTRIBUTES& a) {
       VIP_NIC_ATTRIBUTES about;
       REQUIRE(VipQueryNic(s.nic, &about) == VIP_SUCCESS);
       a.MaxTransferSize = about.MaxTransferSize + 1;
     }},
    {VIP_INVALID_QOS, [](subjects& s, VIP_VI_ATTRIBUTES& a) { a.QoS = &s; }},
    {VIP_INVALID_PTAG, [](subjects& s, VIP_VI_ATTRIBUTES& a) { a.Ptag = s.nic; }},
    {VIP_INVALID_PTAG, [](subjects& s, VIP_VI_ATTRIBUTES& a) { a.Ptag = s.p.b.tag; }},
    {VIP_INVALID_RDMAREAD,
     [](subjects&, VIP_VI_ATTRIBUTES& a) { a.ReliabilityLevel = VIP_SERVICE_UNRELIABLE; }},
};

}  // namespace

TEST_CASE("arguments: every function refuses a handle or a value that it cannot use") {
  pair p;
  subjects s{p};
  REQUIRE(VipCreateCQ(p.a.nic, 8, &s.queue) == VIP_SUCCESS);
  for (const handle_use& u : with_bad_handles) {
    INFO(u.what);
    CHECK(u.call(s, nullptr) == VIP_INVALID_PARAMETER);
    CHECK(u.call(s, s.*u.other) == VIP_INVALID_PARAMETER);
  }
  for (const refusal& r : with_bad_values) {
    INFO(r.what);
    CHECK(r.call(s) == VIP_INVALID_PARAMETER);
  }
  for (const bad_attribute& b : bad_attributes) {
    CAPTURE(b.expected);
    VIP_VI_ATTRIBUTES a = p.a.attributes(VIP_SERVICE_RELIABLE_DELIVERY);
    b.spoil(s, a);
    CHECK(VipCreateVi(p.a.nic, &a, nullptr, nullptr, &s.which) == b.expected);
    CHECK(VipSetViAttributes(s.vi, &a) == b.expected);
  }
  s.rights.Ptag = p.b.tag;
  CHECK(VipRegisterMem(p.a.nic, &s, 8, &s.rights, &s.handle) == VIP_INVALID_PTAG);
  CHECK(VipSetMemAttributes(p.a.nic, s.d, p.a.handle, &s.rights) == VIP_INVALID_PTAG);
  CHECK(VipQuerySystemManagementInfo(p.a.nic, VIP_SMI_AUTODISCOVERY, &s) ==
        VIP_ERROR_NOT_SUPPORTED);
  // Nothing of that has left a trace.
  CHECK(VipDestroyVi(s.vi) == VIP_SUCCESS);
  CHECK(VipDestroyCQ(s.queue) == VIP_SUCCESS);
}
