// SPDX-License-Identifier: Apache-2.0
// A thread without memory: a post says so, and what was posted before completes all the same. A
// process without memory: the error handler learns that a connection cannot go on.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include <unistd.h>
#include <vipl.h>

namespace {

thread_local bool none_left = false;
/// In the whole process, but for threads that have some.
std::atomic<bool> none_anywhere{false};
thread_local bool has_some = false;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "memory: %s\n", what);
  std::exit(1);
}

constexpr std::size_t at_most = 1000, descriptor_bytes = 64, long_message = 60'000,
                      all_bytes = at_most * descriptor_bytes + long_message;

/// A NIC, memory for descriptors without bytes and a long message, and a VI with a completion
/// queue.
struct side {
  side() {
    check(VipOpenNic("nic", &nic) == VIP_SUCCESS && VipNSInit(nic, nullptr) == VIP_SUCCESS &&
              VipCreatePtag(nic, &tag) == VIP_SUCCESS,
          "a NIC is opened");
    VIP_MEM_ATTRIBUTES about{tag, VIP_FALSE, VIP_FALSE};
    check(VipAllocateMem(nic, &memory, all_bytes, &about, &handle) == VIP_SUCCESS, "it has memory");
    std::memset(memory, 0, all_bytes);
    VIP_VI_ATTRIBUTES wanted{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    wanted.MaxTransferSize = long_message;
    wanted.Ptag = tag;
    check(VipCreateCQ(nic, at_most, &queue) == VIP_SUCCESS &&
              VipCreateVi(nic, &wanted, queue, queue, &vi) == VIP_SUCCESS,
          "it has a VI");
  }
  side(const side&) = delete;
  side& operator=(const side&) = delete;
  ~side() {
    VIP_DESCRIPTOR* d = nullptr;
    while (VipSendDone(vi, &d) != VIP_NOT_DONE) continue;
    check(VipDestroyVi(vi) == VIP_SUCCESS && VipDestroyCQ(queue) == VIP_SUCCESS &&
              VipFreeMem(nic, memory, handle) == VIP_SUCCESS &&
              VipDestroyPtag(nic, tag) == VIP_SUCCESS && VipCloseNic(nic) == VIP_SUCCESS,
          "all is given back");
  }

  VIP_RETURN post(bool receive, std::size_t size = 0) {
    auto* const d =
        reinterpret_cast<VIP_DESCRIPTOR*>(static_cast<char*>(memory) + posted * descriptor_bytes);
    check(posted != at_most, "memory ends before descriptors do");
    if (size != 0) {
      d->CS.SegCount = 1;
      d->CS.Length = static_cast<VIP_UINT32>(size);
      d->DS[0].Local = {{}, handle, static_cast<VIP_UINT32>(size)};
      d->DS[0].Local.Data.Address = static_cast<char*>(memory) + at_most * descriptor_bytes;
    }
    const VIP_RETURN r = receive ? VipPostRecv(vi, d, handle) : VipPostSend(vi, d, handle);
    if (r == VIP_SUCCESS) ++posted;
    return r;
  }

  VIP_NIC_HANDLE nic = nullptr;
  VIP_PROTECTION_HANDLE tag = nullptr;
  VIP_CQ_HANDLE queue = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  VIP_PVOID memory = nullptr;
  VIP_MEM_HANDLE handle = 0;
  std::size_t posted = 0;
};

struct address {
  address(side& of, const std::string& discriminator) {
    char name[] = "localhost";
    check(VipNSGetHostByName(of.nic, name, net(), 0) == VIP_SUCCESS, "this host has an address");
    net()->DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
    std::memcpy(bytes.data() + 4 + net()->HostAddressLen, discriminator.data(),
                discriminator.size());
  }
  VIP_NET_ADDRESS* net() { return reinterpret_cast<VIP_NET_ADDRESS*>(bytes.data()); }
  alignas(VIP_NET_ADDRESS) std::array<unsigned char, 64> bytes{};
};

void connect(side& client, side& server) {
  const std::string place = "memory" + std::to_string(::getpid());
  address there(client, place), here(client, "client"), from(server, "");
  VIP_CONN_HANDLE asked = nullptr;
  VIP_VI_ATTRIBUTES other{};
  // The server listens from its first call on.
  check(VipConnectWait(server.nic, there.net(), 0, from.net(), &other, &asked) == VIP_TIMEOUT,
        "no client has asked yet");
  std::thread asks([&] {
    check(
        VipConnectRequest(client.vi, here.net(), there.net(), VIP_INFINITE, nullptr) == VIP_SUCCESS,
        "the client connects");
  });
  check(VipConnectWait(server.nic, there.net(), VIP_INFINITE, from.net(), &other, &asked) ==
                VIP_SUCCESS &&
            VipConnectAccept(asked, server.vi) == VIP_SUCCESS,
        "the server accepts");
  asks.join();
}

void run() {
  side client, server;
  connect(client, server);
  VIP_RETURN r = VIP_SUCCESS;
  for (std::size_t i = 0; i != 20; ++i)
    check(server.post(true) == VIP_SUCCESS, "receives are posted");
  none_left = true;
  while (r == VIP_SUCCESS) r = server.post(true);
  none_left = false;
  check(r == VIP_ERROR_RESOURCE, "a post without memory says so");
  const std::size_t before = server.posted;
  check(server.post(true) == VIP_SUCCESS, "and with memory it goes on");
  for (std::size_t i = 0; i != server.posted; ++i)
    check(client.post(false) == VIP_SUCCESS, "sends are posted");
  none_left = true;
  for (std::size_t i = 0; i != server.posted; ++i) {
    VIP_VI_HANDLE of = nullptr;
    VIP_BOOLEAN receives = VIP_FALSE;
    VIP_DESCRIPTOR* d = nullptr;
    check(VipCQWait(server.queue, VIP_INFINITE, &of, &receives) == VIP_SUCCESS && receives,
          "completions come without memory");
    check(VipRecvDone(server.vi, &d) == VIP_SUCCESS, "in order, and well");
  }
  none_left = false;
  check(before + 1 == server.posted, "the failed post took no place");
  check(VipDisconnect(client.vi) == VIP_SUCCESS && VipDisconnect(server.vi) == VIP_SUCCESS,
        "both disconnect");
}

/// A long message asks for its descriptor, and the answer needs memory.
void run_out() {
  side client, server;
  std::atomic<bool> told{false};
  const VIP_ERROR_HANDLER on_error = [](VIP_PVOID context, VIP_ERROR_DESCRIPTOR* e) {
    if (e->ErrorCode == VIP_ERROR_CATASTROPHIC && e->ResourceCode == VIP_RESOURCE_NIC)
      *static_cast<std::atomic<bool>*>(context) = true;
  };
  connect(client, server);
  check(VipErrorCallback(server.nic, &told, on_error) == VIP_SUCCESS, "a handler is set");
  check(server.post(true, long_message) == VIP_SUCCESS, "a receive is posted");
  has_some = true;
  none_anywhere = true;
  check(client.post(false, long_message) == VIP_SUCCESS, "a long send is posted");
  has_some = false;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  VIP_DESCRIPTOR* d = nullptr;
  while (!told && std::chrono::steady_clock::now() < until) VipSendDone(server.vi, &d);
  none_anywhere = false;
  check(told, "the handler learns that there is no memory");
  VIP_VI_STATE state{};
  check(VipQueryVi(server.vi, &state, nullptr, nullptr, nullptr) == VIP_SUCCESS &&
            state == VIP_STATE_ERROR,
        "the connection has ended");
  check(VipErrorCallback(server.nic, nullptr, nullptr) == VIP_SUCCESS, "no handler is set");
  check(VipDisconnect(server.vi) == VIP_SUCCESS && VipDisconnect(client.vi) == VIP_SUCCESS,
        "both disconnect");
  while (VipRecvDone(server.vi, &d) != VIP_NOT_DONE) continue;
}

}  // namespace

// All forms but the aligned ones, so that no memory is taken by one library and freed by another.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (none_left || (none_anywhere && !has_some)) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* const p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size, std::nothrow);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

int main() {
  run();
  run_out();
  return 0;
}
