// SPDX-License-Identifier: Apache-2.0
// A peer that sends wrong requests, and wrong messages on a connection. Each ends by VIPL's own
// means at worst, and the NIC goes on with the next one.    vipl-hostile [SEED]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include <vipl.h>
#include <weft/weft.hpp>

#include "bindings/vipl/wire.hpp"

namespace {

using namespace weft;
using namespace weft::vipl;

constexpr unsigned connections = 24, messages_of_each = 60;
constexpr std::size_t buffer = 20000, receives = 4;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "hostile: %s\n", what);
  std::exit(1);
}

std::string bytes_of(const introduction& i) {
  return {reinterpret_cast<const char*>(&i), sizeof i};
}

introduction own_introduction(std::uint16_t level) {
  introduction i{};
  i.magic = wire_magic;
  i.vi = 0x10001;
  i.epoch = 1;
  i.reliability = level;
  i.rdma_write = 1;
  i.address_length = 4;
  i.discriminator_length = 4;
  return i;
}

/// The peer: speaks the format with weft's own calls.
class liar {
 public:
  liar(context& ctx, std::uint64_t seed) : ctx_(ctx), random_(seed) {
    hears_ = ctx.on(am{handler_number}, [this](call c) { return hear(c); });
  }

  task<void> act(std::string address) {
    for (unsigned n = 0; n != 8; ++n) co_await ask_wrongly(address, n);
    for (unsigned n = 0; n != connections; ++n) co_await attack(address, n);
  }

 private:
  task<void> hear(call c) {
    reader in(c.data());
    const auto h = in.take<header>();
    if (!h || h->what != message::connected) co_return;
    if (const auto i = in.take<introduction>()) {
      victim_ = *i;
      met_.set();
    }
  }

  std::string garbage(std::size_t most) {
    std::string s(random_() % (most + 1), '\0');
    for (char& c : s) c = static_cast<char>(random_());
    return s;
  }

  /// Requests that are none.
  task<void> ask_wrongly(const std::string& address, unsigned n) {
    std::string request =
        bytes_of(own_introduction(VIP_SERVICE_RELIABLE_DELIVERY)) + "\1\2\3\4liar";
    if (n % 2 == 0)
      request = garbage(200);
    else
      request.resize(random_() % request.size());
    bool refused = false;
    try {
      co_await ctx_.connect(address, request);
    } catch (const error& e) {
      refused = e.kind() == errc::refused;
    }
    check(refused, "a wrong request is refused");
  }

  task<void> attack(const std::string& address, unsigned n) {
    const std::uint16_t levels[] = {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                    VIP_SERVICE_RELIABLE_RECEPTION};
    met_.reset();
    const endpoint to =
        co_await ctx_.connect(address, bytes_of(own_introduction(levels[n % 3])) + "\1\2\3\4liar");
    co_await met_.wait();
    co_await say(to, message::agreed, 0, 0, {});
    for (unsigned i = 0; i != messages_of_each; ++i) co_await lie(to);
    co_await say(to, message::left, 0, 0, {});
  }

  task<void> lie(const endpoint& to) {
    const auto what = static_cast<message>(random_() % 12);
    std::string rest = garbage(random_() % 4 == 0 ? 4000 : 40);
    if (what == message::ahead && random_() % 2 == 0) {
      const list_ahead head{static_cast<std::uint32_t>(random_() % 3),
                            static_cast<std::uint32_t>(random_() % 3),
                            static_cast<std::uint32_t>(random_() % 3)};
      const descriptor_ahead d{static_cast<std::uint32_t>(buffer), 1};
      const place_ahead p{1, static_cast<std::uint32_t>(buffer), random_()};
      rest.assign(reinterpret_cast<const char*>(&head), sizeof head);
      for (std::uint32_t i = 0; i != head.count; ++i) {
        rest.append(reinterpret_cast<const char*>(&d), sizeof d);
        rest.append(reinterpret_cast<const char*>(&p), sizeof p);
      }
    }
    const auto length = static_cast<std::uint32_t>(random_() % 3 == 0 ? random_() : rest.size());
    co_await say(to, what, static_cast<std::uint8_t>(random_()), length, rest);
  }

  task<void> say(const endpoint& to, message what, std::uint8_t flags, std::uint32_t length,
                 const std::string& rest) {
    const header h{victim_.vi, victim_.epoch, what, flags, length, 7};
    std::string all(reinterpret_cast<const char*>(&h), sizeof h);
    all += rest;
    co_await to.post_bytes(am{handler_number}, std::as_bytes(std::span(all)));
  }

  context& ctx_;
  std::mt19937_64 random_;
  handler hears_;
  introduction victim_{};
  event met_;  // the victim has introduced itself
};

struct victim {
  VIP_NIC_HANDLE nic = nullptr;
  VIP_PROTECTION_HANDLE tag = nullptr;
  VIP_MEM_HANDLE handle = 0;
  VIP_PVOID memory = nullptr;

  VIP_DESCRIPTOR* describe(std::size_t n) {
    auto* const at = static_cast<std::byte*>(memory);
    auto* const d = reinterpret_cast<VIP_DESCRIPTOR*>(at + n * 64);
    *d = {};
    d->CS.SegCount = 1;
    d->DS[0].Local.Data.Address = at + 4096 + n * buffer;
    d->DS[0].Local.Handle = handle;
    d->DS[0].Local.Length = buffer;
    return d;
  }

  std::size_t number_of(const VIP_DESCRIPTOR* d) const {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(d) -
                                    static_cast<const std::byte*>(memory)) /
           64;
  }

  void open() {
    check(VipOpenNic("nic", &nic) == VIP_SUCCESS && VipCreatePtag(nic, &tag) == VIP_SUCCESS,
          "opens");
    VIP_MEM_ATTRIBUTES a{tag, VIP_TRUE, VIP_TRUE};
    check(VipAllocateMem(nic, &memory, 4096 + (receives + 1) * buffer, &a, &handle) == VIP_SUCCESS,
          "memory");
  }

  /// One connection, until the peer leaves it.
  void serve(const std::string& discriminator) {
    union {
      VIP_NET_ADDRESS net;
      unsigned char bytes[64];
    } here{}, from{};
    here.net.HostAddressLen = 4;
    here.net.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
    discriminator.copy(reinterpret_cast<char*>(here.bytes) + 8, discriminator.size());
    VIP_VI_ATTRIBUTES other{}, own{};
    VIP_CONN_HANDLE asked = nullptr;
    VIP_VI_HANDLE v = nullptr;
    check(VipConnectWait(nic, &here.net, VIP_INFINITE, &from.net, &other, &asked) == VIP_SUCCESS,
          "a request");
    own.ReliabilityLevel = other.ReliabilityLevel;
    own.MaxTransferSize = buffer;
    own.Ptag = tag;
    check(VipCreateVi(nic, &own, nullptr, nullptr, &v) == VIP_SUCCESS, "a VI");
    for (std::size_t i = 0; i != receives; ++i) VipPostRecv(v, describe(i), handle);
    check(VipConnectAccept(asked, v) == VIP_SUCCESS, "accepts");
    // A long send asks for descriptors, or puts to those that the peer has made up.
    VipPostSend(v, describe(receives), handle);
    VIP_VI_STATE state = VIP_STATE_CONNECTED;
    VIP_DESCRIPTOR* d = nullptr;
    while (state == VIP_STATE_CONNECTED) {
      VipSendDone(v, &d);
      if (VipRecvDone(v, &d) != VIP_NOT_DONE) VipPostRecv(v, describe(number_of(d)), handle);
      VipQueryVi(v, &state, nullptr, nullptr, nullptr);
    }
    check(VipDisconnect(v) == VIP_SUCCESS, "disconnects");
    while (VipRecvDone(v, &d) != VIP_NOT_DONE) continue;
    while (VipSendDone(v, &d) != VIP_NOT_DONE) continue;
    check(VipDestroyVi(v) == VIP_SUCCESS, "all descriptors have come back");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string name = "h" + std::to_string(::getpid());
  std::string address = "unix://weft-vipl-" + std::to_string(::getuid()) + "-c";
  for (const char c : name) {
    constexpr const char* digits = "0123456789abcdef";
    address += digits[static_cast<unsigned char>(c) >> 4];
    address += digits[static_cast<unsigned char>(c) & 15];
  }
  victim b;
  b.open();
  // The listener is there from the first wait on.
  {
    union {
      VIP_NET_ADDRESS net;
      unsigned char bytes[64];
    } here{}, from{};
    VIP_CONN_HANDLE none = nullptr;
    here.net.HostAddressLen = 4;
    here.net.DiscriminatorLen = static_cast<VIP_UINT16>(name.size());
    name.copy(reinterpret_cast<char*>(here.bytes) + 8, name.size());
    check(VipConnectWait(b.nic, &here.net, 0, &from.net, nullptr, &none) == VIP_TIMEOUT, "listens");
  }
  std::thread peer([&] {
    options o = options::from_environment();
    o.standalone = true;
    context ctx(o);
    liar one(ctx, seed);
    run(ctx, one.act(address));
  });
  for (unsigned n = 0; n != connections; ++n) b.serve(name);
  peer.join();
  check(VipFreeMem(b.nic, b.memory, b.handle) == VIP_SUCCESS, "frees");
  check(VipDestroyPtag(b.nic, b.tag) == VIP_SUCCESS && VipCloseNic(b.nic) == VIP_SUCCESS, "closes");
}
