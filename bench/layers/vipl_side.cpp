// SPDX-License-Identifier: Apache-2.0
#include "layers/vipl_side.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

namespace weft::bench {
namespace {

constexpr std::size_t descriptor_bytes = 64;

void check(VIP_RETURN code, const char* what) {
  if (code != VIP_SUCCESS)
    throw std::runtime_error(fmt::format("{} gave {}", what, static_cast<int>(code)));
}

VIP_RELIABILITY_LEVEL level_of(const std::string& name) {
  if (name == "unreliable") return VIP_SERVICE_UNRELIABLE;
  return name == "delivery" ? VIP_SERVICE_RELIABLE_DELIVERY : VIP_SERVICE_RELIABLE_RECEPTION;
}

double microseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

/// A variable of the environment has another value for a while, unless that is empty. One thread:
/// no other reads the environment meanwhile.
class changed_variable {
 public:
  changed_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    if (!value.empty()) ::setenv(name, value.c_str(), 1);
  }
  changed_variable(const changed_variable&) = delete;
  changed_variable& operator=(const changed_variable&) = delete;
  ~changed_variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

union net_address {
  VIP_NET_ADDRESS net;
  unsigned char bytes[64];
};

/// An address of this host with that discriminator.
net_address address_at(VIP_NIC_HANDLE nic, const std::string& discriminator) {
  net_address a{};
  check(VipNSInit(nic, nullptr), "VipNSInit");
  char name[] = "localhost";
  check(VipNSGetHostByName(nic, name, &a.net, 0), "VipNSGetHostByName");
  a.net.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
  std::memcpy(a.bytes + 4 + a.net.HostAddressLen, discriminator.data(), discriminator.size());
  return a;
}

}  // namespace

vipl_side::vipl_side(pair_member& member, const vipl_way& way, const std::string& place,
                     std::size_t longest, std::size_t window)
    : member_(member),
      place_(place),
      longest_(longest),
      window_(window),
      level_(level_of(way.level)),
      memory_(way.memory) {
  ::setenv("WEFT_TRANSPORTS", ("self," + way.transport).c_str(), 1);
  {
    const changed_variable copy("WEFT_SHM_COPY", way.copy), stores("WEFT_SHM_STORES", way.stores),
        rendezvous("WEFT_RENDEZVOUS", way.rendezvous);
    check(VipOpenNic("bench", &nic_), "VipOpenNic");
  }
  check(VipCreatePtag(nic_, &tag_), "VipCreatePtag");
  // Descriptors: receives, sends, an answer each way. Buffers: receives, and one for sends.
  const std::size_t size = (2 * window_ + 2) * descriptor_bytes + (window_ + 1) * longest_ + 4096;
  VIP_MEM_ATTRIBUTES attributes{tag_, VIP_TRUE, VIP_TRUE};
  if (memory_ == "own") {
    check(VipAllocateMem(nic_, &at_, size, &attributes, &handle_), "VipAllocateMem");
  } else {
    at_ = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (!at_) throw std::bad_alloc();
    check(VipRegisterMem(nic_, at_, size, &attributes, &handle_), "VipRegisterMem");
  }
  std::memset(at_, 1, size);
  VIP_VI_ATTRIBUTES about{};
  about.ReliabilityLevel = level_;
  about.MaxTransferSize = longest_;
  about.Ptag = tag_;
  check(VipCreateVi(nic_, &about, nullptr, nullptr, &vi_), "VipCreateVi");
}

vipl_side::~vipl_side() {
  VipDestroyVi(vi_);
  if (memory_ == "own")
    VipFreeMem(nic_, at_, handle_);
  else
    VipDeregisterMem(nic_, at_, handle_);
  VipDestroyPtag(nic_, tag_);
  VipCloseNic(nic_);
  if (memory_ != "own") std::free(at_);
}

void vipl_side::connect() {
  net_address there = address_at(nic_, place_);
  if (member_.rank() == 1) {
    net_address from{};
    VIP_VI_ATTRIBUTES other{};
    VIP_CONN_HANDLE asked = nullptr;
    check(VipConnectWait(nic_, &there.net, VIP_INFINITE, &from.net, &other, &asked),
          "VipConnectWait");
    check(VipConnectAccept(asked, vi_), "VipConnectAccept");
    return;
  }
  net_address here = address_at(nic_, "bench");
  VIP_RETURN code = VIP_NO_MATCH;
  while (code == VIP_NO_MATCH) {
    code = VipConnectRequest(vi_, &here.net, &there.net, VIP_INFINITE, nullptr);
    if (code == VIP_NO_MATCH) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  check(code, "VipConnectRequest");
}

void vipl_side::disconnect() {
  check(VipDisconnect(vi_), "VipDisconnect");
  VIP_DESCRIPTOR* d = nullptr;
  while (VipRecvDone(vi_, &d) != VIP_NOT_DONE) continue;
  while (VipSendDone(vi_, &d) != VIP_NOT_DONE) continue;
}

VIP_DESCRIPTOR* vipl_side::describe(std::size_t n, std::size_t buffer, std::size_t size) {
  auto* const bytes = static_cast<std::byte*>(at_);
  auto* const d = reinterpret_cast<VIP_DESCRIPTOR*>(bytes + n * descriptor_bytes);
  std::memset(d, 0, descriptor_bytes);
  d->CS.SegCount = 1;
  d->CS.Length = static_cast<VIP_UINT32>(size);
  d->DS[0].Local.Data.Address = bytes + (2 * window_ + 2) * descriptor_bytes + buffer * longest_;
  d->DS[0].Local.Handle = handle_;
  d->DS[0].Local.Length = static_cast<VIP_UINT32>(size);
  return d;
}

void vipl_side::post_receive(std::size_t n, std::size_t size) {
  check(VipPostRecv(vi_, describe(n, n % window_, size), handle_), "VipPostRecv");
}

void vipl_side::post_send(std::size_t n, std::size_t size) {
  check(VipPostSend(vi_, describe(window_ + n, window_, size), handle_), "VipPostSend");
}

void vipl_side::await_send() {
  VIP_DESCRIPTOR* d = nullptr;
  check(VipSendWait(vi_, VIP_INFINITE, &d), "VipSendWait");
}

void vipl_side::await_receive() {
  VIP_DESCRIPTOR* d = nullptr;
  check(VipRecvWait(vi_, VIP_INFINITE, &d), "VipRecvWait");
}

/// Messages of no bytes, with descriptors of their own.
void vipl_side::answer() {
  check(VipPostSend(vi_, describe(2 * window_, 0, 0), handle_), "VipPostSend");
  await_send();
}

void vipl_side::await_answer() {
  await_receive();
  check(VipPostRecv(vi_, describe(2 * window_ + 1, 0, 0), handle_), "VipPostRecv");
}

std::vector<double> vipl_side::half_round_trips(std::size_t size, plan loops) {
  for (std::size_t i = 0; i != 2; ++i) post_receive(i, size);
  connect();
  std::vector<double> samples;
  std::size_t next = 0;
  const auto hear = [&] {
    await_receive();
    post_receive(next++ % 2, size);
  };
  const auto trip = [&] {
    if (member_.rank() == 1) hear();
    post_send(0, size);
    await_send();
    if (member_.rank() == 0) hear();
  };
  for (std::size_t i = 0; i != loops.warm_up; ++i) trip();
  for (std::size_t b = 0; b != loops.batches; ++b) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i != loops.per_batch; ++i) trip();
    samples.push_back(microseconds(std::chrono::steady_clock::now() - begin) / 2 /
                      static_cast<double>(loops.per_batch));
  }
  member_.barrier();
  disconnect();
  if (member_.rank() != 0) samples.clear();
  return samples;
}

std::vector<double> vipl_side::windows(std::size_t size, plan loops) {
  const bool sends = member_.rank() == 0;
  if (sends)
    check(VipPostRecv(vi_, describe(2 * window_ + 1, 0, 0), handle_), "VipPostRecv");
  else
    for (std::size_t i = 0; i != window_; ++i) post_receive(i, size);
  connect();
  const auto repetition = [&] {
    if (sends) {
      for (std::size_t i = 0; i != window_; ++i) post_send(i, size);
      for (std::size_t i = 0; i != window_; ++i) await_send();
      return await_answer();
    }
    for (std::size_t i = 0; i != window_; ++i) {
      await_receive();
      post_receive(i, size);
    }
    answer();
  };
  std::vector<double> samples;
  for (std::size_t i = 0; i != loops.warm_up; ++i) repetition();
  for (std::size_t b = 0; b != loops.batches; ++b) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i != loops.per_batch; ++i) repetition();
    samples.push_back(static_cast<double>(size * window_ * loops.per_batch) /
                      microseconds(std::chrono::steady_clock::now() - begin));
  }
  member_.barrier();
  disconnect();
  if (!sends) samples.clear();
  return samples;
}

std::vector<double> vipl_side::from_the_first(std::size_t size, std::size_t count) {
  const bool sends = member_.rank() == 0;
  if (sends) check(VipPostRecv(vi_, describe(2 * window_ + 1, 0, 0), handle_), "VipPostRecv");
  connect();
  std::vector<double> samples;
  if (!sends)
    for (std::size_t i = 0; i != window_; ++i) post_receive(i, size);
  member_.barrier();
  for (std::size_t i = 0; i != count; ++i) {
    if (sends) {
      const auto begin = std::chrono::steady_clock::now();
      post_send(0, size);
      await_send();
      await_answer();
      samples.push_back(microseconds(std::chrono::steady_clock::now() - begin));
    } else {
      await_receive();
      post_receive(i % window_, size);
      answer();
    }
  }
  member_.barrier();
  disconnect();
  return samples;
}

}  // namespace weft::bench
