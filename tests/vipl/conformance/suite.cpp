// SPDX-License-Identifier: Apache-2.0
#include "suite.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <new>

#include "support/catch.hpp"
#include "support/transports.hpp"

namespace vipl_suite {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

const char* name_of(level l) noexcept {
  if (l == VIP_SERVICE_UNRELIABLE) return "VIP_SERVICE_UNRELIABLE";
  return l == VIP_SERVICE_RELIABLE_DELIVERY ? "VIP_SERVICE_RELIABLE_DELIVERY"
                                            : "VIP_SERVICE_RELIABLE_RECEPTION";
}

address::address(const std::string& discriminator) {
  constexpr unsigned char here[4] = {127, 0, 0, 1};
  all_.net.HostAddressLen = sizeof here;
  all_.net.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
  std::memcpy(all_.bytes + 4, here, sizeof here);
  std::memcpy(all_.bytes + 8, discriminator.data(), discriminator.size());
}

// --- sides --------------------------------------------------------------------------------------

side::side() {
  const std::size_t size = descriptors * descriptor_bytes + data_bytes;
  memory_ = static_cast<std::byte*>(::operator new(size, std::align_val_t{4096}));
  std::memset(memory_, 0, size);
  REQUIRE(VipOpenNic("suite", &nic) == VIP_SUCCESS);
  REQUIRE(VipCreatePtag(nic, &tag) == VIP_SUCCESS);
  VIP_MEM_ATTRIBUTES a{tag, VIP_TRUE, VIP_TRUE};
  REQUIRE(VipRegisterMem(nic, memory_, size, &a, &handle) == VIP_SUCCESS);
  REQUIRE(VipErrorCallback(nic, this, &on_error) == VIP_SUCCESS);
}

side::~side() {
  CHECK(VipErrorCallback(nic, nullptr, nullptr) == VIP_SUCCESS);
  CHECK(VipDeregisterMem(nic, memory_, handle) == VIP_SUCCESS);
  CHECK(VipDestroyPtag(nic, tag) == VIP_SUCCESS);
  CHECK(VipCloseNic(nic) == VIP_SUCCESS);
  ::operator delete(memory_, std::align_val_t{4096});
}

VIP_DESCRIPTOR* side::describe(std::size_t n, std::span<const piece> pieces) noexcept {
  std::byte* const at = memory_ + n * descriptor_bytes;
  std::memset(at, 0, descriptor_bytes);
  auto* const d = reinterpret_cast<VIP_DESCRIPTOR*>(at);
  d->CS.SegCount = static_cast<VIP_UINT16>(pieces.size());
  // Segments go on behind the two that the type declares.
  auto* segment = reinterpret_cast<VIP_DATA_SEGMENT*>(at + sizeof(VIP_CONTROL_SEGMENT));
  for (const piece& p : pieces) {
    *segment++ = {{.Address = data(p.at)}, handle, static_cast<VIP_UINT32>(p.size)};
    d->CS.Length += static_cast<VIP_UINT32>(p.size);
  }
  return d;
}

VIP_DESCRIPTOR* side::describe_rdma(std::size_t n, VIP_UINT16 control, side& there, std::size_t at,
                                    std::initializer_list<piece> pieces) noexcept {
  std::vector<piece> all{{0, 0}};
  all.insert(all.end(), pieces);
  VIP_DESCRIPTOR* const d = describe(n, all);
  d->CS.Control = control;
  d->DS[0].Remote = {{.Address = there.data(at)}, there.handle, 0};
  return d;
}

VIP_VI_ATTRIBUTES side::attributes(level l) const noexcept {
  return {l,   VIP_ULONG{1} << 20, nullptr,
          tag, VIP_TRUE,           l == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE};
}

VIP_VI_HANDLE side::make_vi(level l, VIP_CQ_HANDLE sends, VIP_CQ_HANDLE receives) {
  VIP_VI_ATTRIBUTES a = attributes(l);
  VIP_VI_HANDLE v = nullptr;
  REQUIRE(VipCreateVi(nic, &a, sends, receives, &v) == VIP_SUCCESS);
  return v;
}

void side::on_error(VIP_PVOID self, VIP_ERROR_DESCRIPTOR* e) {
  side& s = *static_cast<side*>(self);
  const std::lock_guard lock(s.mutex_);
  s.reported_.push_back({e->ErrorCode, e->ViHandle, e->CQHandle, e->DescriptorPtr});
  s.changed_.notify_all();
}

bool side::has_reported(VIP_ERROR_CODE code, VIP_VI_HANDLE vi) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, milliseconds(patience), [&] {
    return std::any_of(reported_.begin(), reported_.end(),
                       [&](const reported& r) { return r.code == code && r.vi == vi; });
  });
}

std::size_t side::reports() const {
  const std::lock_guard lock(mutex_);
  return reported_.size();
}

void side::forget_reports() {
  const std::lock_guard lock(mutex_);
  reported_.clear();
}

// --- pairs --------------------------------------------------------------------------------------

pair::pair() : where("suite-" + std::to_string(::getpid())) {
  // From now on requests wait: none of them finds no listener.
  address here(where), from;
  VIP_CONN_HANDLE none = nullptr;
  REQUIRE(VipConnectWait(b.nic, here.get(), 0, from.get(), nullptr, &none) == VIP_TIMEOUT);
}

void over_each_transport(void (*body)(pair&)) {
  for (const std::string& t : weft::tests::transports()) {
    INFO("over " << t);
    ::setenv("WEFT_TRANSPORTS", ("self," + t).c_str(), 1);  // no NIC is open, so no thread runs
    pair p;
    body(p);
  }
}

void at_each_level(void (*body)(pair&, level)) {
  for (const std::string& t : weft::tests::transports()) {
    INFO("over " << t);
    ::setenv("WEFT_TRANSPORTS", ("self," + t).c_str(), 1);
    pair p;
    for (const level l : levels) {
      INFO("at the level " << name_of(l));
      body(p, l);
    }
  }
}

// --- connections --------------------------------------------------------------------------------

VIP_VI_STATE state_of(VIP_VI_HANDLE v) {
  VIP_VI_STATE s{};
  REQUIRE(VipQueryVi(v, &s, nullptr, nullptr, nullptr) == VIP_SUCCESS);
  return s;
}

bool comes_to(VIP_VI_HANDLE v, VIP_VI_STATE s) {
  const auto until = steady_clock::now() + milliseconds(patience);
  while (state_of(v) != s)
    if (steady_clock::now() > until) return false;
  return true;
}

void connect_by_request(pair& p, VIP_VI_HANDLE client, VIP_VI_HANDLE server) {
  auto asked = std::async(std::launch::async, [&p, client] {
    address here("client"), there(p.where);
    return VipConnectRequest(client, here.get(), there.get(), patience, nullptr);
  });
  address here(p.where), who;
  VIP_CONN_HANDLE c = nullptr;
  REQUIRE(VipConnectWait(p.b.nic, here.get(), patience, who.get(), nullptr, &c) == VIP_SUCCESS);
  REQUIRE(VipConnectAccept(c, server) == VIP_SUCCESS);
  REQUIRE(asked.get() == VIP_SUCCESS);
}

connection::connection(pair& p, VIP_VI_HANDLE client, VIP_VI_HANDLE server)
    : of(p), from(client), to(server) {
  connect_by_request(p, client, server);
}

connection::~connection() {
  for (const VIP_VI_HANDLE v : {from, to}) {
    CHECK(VipDisconnect(v) == VIP_SUCCESS);
    take_all(v, false);
    take_all(v, true);
    CHECK(VipDestroyVi(v) == VIP_SUCCESS);
  }
}

void connection::send(VIP_DESCRIPTOR* d) {
  // ThreadSanitizer does not see that this thread's use of the other side's memory comes before the
  // message: the order goes through the transport.
  if (WEFT_TEST_SANITIZED) state_of(to);
  REQUIRE(VipPostSend(from, d, of.a.handle) == VIP_SUCCESS);
}
void connection::receive(VIP_DESCRIPTOR* d) {
  REQUIRE(VipPostRecv(to, d, of.b.handle) == VIP_SUCCESS);
}

namespace {

std::uint32_t outcome_of(VIP_RETURN code, const VIP_DESCRIPTOR* got,
                         const VIP_DESCRIPTOR* expected) {
  REQUIRE(code != VIP_TIMEOUT);
  REQUIRE(got == expected);
  REQUIRE((got->CS.Status & VIP_STATUS_DONE) != 0);
  REQUIRE((code == VIP_DESCRIPTOR_ERROR) == (error_of(got) != 0));
  return error_of(got);
}

}  // namespace

std::uint32_t connection::sent(const VIP_DESCRIPTOR* expected) {
  VIP_DESCRIPTOR* d = nullptr;
  const VIP_RETURN code = VipSendWait(from, patience, &d);
  return outcome_of(code, d, expected);
}

std::uint32_t connection::received(const VIP_DESCRIPTOR* expected) {
  VIP_DESCRIPTOR* d = nullptr;
  const VIP_RETURN code = VipRecvWait(to, patience, &d);
  return outcome_of(code, d, expected);
}

std::size_t take_all(VIP_VI_HANDLE v, bool receives) {
  std::size_t n = 0;
  for (VIP_DESCRIPTOR* d = nullptr;; ++n) {
    const VIP_RETURN code = receives ? VipRecvDone(v, &d) : VipSendDone(v, &d);
    if (code == VIP_NOT_DONE) return n;
  }
}

void fill(std::byte* at, std::size_t size, unsigned seed) noexcept {
  for (std::size_t i = 0; i != size; ++i)
    at[i] = static_cast<std::byte>(i * 7 + seed * 31 + (i >> 8));
}

bool filled(const std::byte* at, std::size_t size, unsigned seed) noexcept {
  for (std::size_t i = 0; i != size; ++i)
    if (at[i] != static_cast<std::byte>(i * 7 + seed * 31 + (i >> 8))) return false;
  return true;
}

}  // namespace vipl_suite
