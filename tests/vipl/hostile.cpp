// SPDX-License-Identifier: Apache-2.0
// A peer that sends wrong requests, and wrong messages on a connection, as a seed says. Each ends
// by VIPL's own means at worst, and the NIC goes on with the next one.
//
//   vipl-hostile [--seed N] [--minutes N] [--quiet]
//
// The same seed gives the same messages as far as the victim's answers are the same.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <vipl.h>
#include <weft/weft.hpp>

#include "bindings/vipl/base/wire.hpp"
#include "hostile_messages.hpp"
#include "wire_peer.hpp"

namespace {

using namespace weft;
using namespace weft::vipl;

constexpr unsigned connections = 24, messages_of_each = 150;
constexpr std::size_t buffer = 60000, receives = 4;

void check(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// The peer: speaks the format with weft's own calls.
class liar {
 public:
  liar(context& ctx, std::uint64_t seed)
      : ctx_(ctx), dice_(seed), messages_(weft::tests::dice(seed).part(1)) {
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
    if (!h) co_return;
    if (h->what != message::connected) {
      messages_.heard(*h, in.rest());
    } else if (const auto i = in.take<introduction>()) {
      messages_.begin(*i);
      met_.set();
    }
  }

  /// Requests that are none.
  task<void> ask_wrongly(const std::string& address, unsigned n) {
    std::string request = request_of_peer(VIP_SERVICE_RELIABLE_DELIVERY);
    if (n % 2 == 0)
      for (char& c : request) c = static_cast<char>(dice_.throw_one());
    else
      request.resize(dice_.below(request.size()));
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
    const endpoint to = co_await ctx_.connect(address, request_of_peer(levels[n % 3]));
    co_await met_.wait();
    co_await say(to, messages_.plain(message::agreed));
    for (unsigned i = 0; i != messages_of_each; ++i) co_await say(to, messages_.next());
    co_await say(to, messages_.plain(n % 2 == 0 ? message::left : message::broken));
  }

  task<void> say(const endpoint& to, std::string whole) {
    co_await to.post_bytes(am{handler_number}, std::as_bytes(std::span(whole)));
  }

  context& ctx_;
  weft::tests::dice dice_;
  handler hears_;
  hostile_messages messages_;
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
    d->DS[0].Local.Length = d->CS.Length = buffer;
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

  /// The listener is there from the first wait on.
  void listen(const std::string& discriminator) {
    union {
      VIP_NET_ADDRESS net;
      unsigned char bytes[64];
    } here{}, from{};
    VIP_CONN_HANDLE none = nullptr;
    here.net.HostAddressLen = 4;
    here.net.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
    discriminator.copy(reinterpret_cast<char*>(here.bytes) + 8, discriminator.size());
    check(VipConnectWait(nic, &here.net, 0, &from.net, nullptr, &none) == VIP_TIMEOUT, "listens");
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
    own.MaxTransferSize = other.MaxTransferSize;
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

/// What is wrong ends the program: the other thread may be waiting.
template <class F>
void or_end(std::uint64_t seed, F f) {
  try {
    f();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "failed: %s; again: vipl-hostile --seed %llu\n", e.what(),
                 static_cast<unsigned long long>(seed));
    std::_Exit(1);
  }
}

/// One NIC and one peer.
void play(std::uint64_t seed) {
  const std::string name = "h" + std::to_string(::getpid());
  victim b;
  b.open();
  b.listen(name);
  std::thread peer([&] {
    options o = options::from_environment();
    o.standalone = true;
    context ctx(o);
    liar one(ctx, seed);
    or_end(seed, [&] { run(ctx, one.act(address_of_listener(name))); });
  });
  for (unsigned n = 0; n != connections; ++n) b.serve(name);
  peer.join();
  check(VipFreeMem(b.nic, b.memory, b.handle) == VIP_SUCCESS, "frees");
  check(VipDestroyPtag(b.nic, b.tag) == VIP_SUCCESS && VipCloseNic(b.nic) == VIP_SUCCESS, "closes");
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  double minutes = 0;
  bool quiet = false;
  CLI::App app("A NIC of VIPL under a hostile peer");
  app.add_option("--seed", seed, "the first seed");
  app.add_option("--minutes", minutes, "how long, one seed after the other; 0: one seed");
  app.add_flag("--quiet", quiet, "only failures");
  CLI11_PARSE(app, argc, argv);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(minutes * 60);
  do {
    if (!quiet && minutes > 0)
      std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
    or_end(seed, [&] { play(seed); });
    ++seed;
  } while (std::chrono::steady_clock::now() < end);
}
