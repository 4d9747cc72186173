// SPDX-License-Identifier: Apache-2.0
// What the tests over VIPL share: two NICs in one process, over one transport, and the connections
// between their VIs. Only the thread of the test case uses Catch2.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <vipl.h>

namespace vipl_suite {

using level = VIP_RELIABILITY_LEVEL;
inline constexpr std::array<level, 3> levels{VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                             VIP_SERVICE_RELIABLE_RECEPTION};
const char* name_of(level l) noexcept;
/// Whether VIs of that level may read by RDMA.
constexpr bool may_read(level l) noexcept { return l != VIP_SERVICE_UNRELIABLE; }

/// Milliseconds after which a test fails that waits for something.
inline constexpr VIP_ULONG patience = 30'000;

/// A part of a side's data.
struct piece {
  std::size_t at;
  std::size_t size;
};

/// An address of this host.
class address {
 public:
  address() = default;  ///< of no length: room for any
  explicit address(const std::string& discriminator);
  VIP_NET_ADDRESS* get() noexcept { return &all_.net; }

 private:
  union {
    VIP_NET_ADDRESS net;
    unsigned char bytes[64];
  } all_{};
};

struct reported {
  VIP_ERROR_CODE code;
  VIP_VI_HANDLE vi;
  VIP_CQ_HANDLE queue;
  VIP_DESCRIPTOR* descriptor;
};

/// A NIC with one registration, which holds descriptors and data. Its error handler is set, so it
/// makes progress also while the test waits for the other side.
class side {
 public:
  static constexpr std::size_t descriptors = 128, descriptor_bytes = 1088, data_bytes = 3 << 20;

  side();
  ~side();
  side(const side&) = delete;
  side& operator=(const side&) = delete;

  std::byte* data(std::size_t at = 0) noexcept {
    return memory_ + descriptors * descriptor_bytes + at;
  }
  /// Descriptor number n of a send or receive.
  VIP_DESCRIPTOR* describe(std::size_t n, std::span<const piece> pieces) noexcept;
  VIP_DESCRIPTOR* describe(std::size_t n, std::initializer_list<piece> pieces) noexcept {
    return describe(n, std::span(pieces.begin(), pieces.size()));
  }
  /// The same of an RDMA operation with that place in the data of the other side.
  VIP_DESCRIPTOR* describe_rdma(std::size_t n, VIP_UINT16 control, side& there, std::size_t at,
                                std::initializer_list<piece> pieces) noexcept;
  VIP_VI_ATTRIBUTES attributes(level l) const noexcept;
  VIP_VI_HANDLE make_vi(level l, VIP_CQ_HANDLE sends = nullptr, VIP_CQ_HANDLE receives = nullptr);
  /// Waits until the error handler has been called so, for that VI.
  bool has_reported(VIP_ERROR_CODE code, VIP_VI_HANDLE vi);
  std::size_t reports() const;
  /// What has been reported is not looked at any more: a later VI may have the same handle.
  void forget_reports();

  VIP_NIC_HANDLE nic = nullptr;
  VIP_PROTECTION_HANDLE tag = nullptr;
  VIP_MEM_HANDLE handle = 0;

 private:
  static void on_error(VIP_PVOID self, VIP_ERROR_DESCRIPTOR* e);

  std::byte* memory_ = nullptr;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<reported> reported_;
};

/// Two NICs over one transport.
struct pair {
  side a, b;  ///< b listens
  std::string where;
  pair();
};

/// Runs the body once for each transport of this machine.
void over_each_transport(void (*body)(pair&));
/// The same, with each reliability level.
void at_each_level(void (*body)(pair&, level));

VIP_VI_STATE state_of(VIP_VI_HANDLE v);
/// Waits until the VI is in that state.
bool comes_to(VIP_VI_HANDLE v, VIP_VI_STATE s);
inline std::uint32_t error_of(const VIP_DESCRIPTOR* d) noexcept {
  return d->CS.Status & VIP_STATUS_ERROR_MASK;
}

/// Connects two VIs as client and server. The server's is of NIC b, the client's of any.
void connect_by_request(pair& p, VIP_VI_HANDLE client, VIP_VI_HANDLE server);

/// Two VIs that are connected, until their end.
class connection {
 public:
  connection(pair& p, VIP_VI_HANDLE client, VIP_VI_HANDLE server);
  connection(pair& p, level l) : connection(p, p.a.make_vi(l), p.b.make_vi(l)) {}
  /// Disconnects both sides; what they have posted comes back, and then they can be destroyed.
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void send(VIP_DESCRIPTOR* d);  ///< posts it at `from`
  void receive(VIP_DESCRIPTOR* d);
  /// Waits for the oldest one. \return its bits of errors
  std::uint32_t sent(const VIP_DESCRIPTOR* expected);
  std::uint32_t received(const VIP_DESCRIPTOR* expected);
  bool connected() {
    return state_of(from) == VIP_STATE_CONNECTED && state_of(to) == VIP_STATE_CONNECTED;
  }
  bool broken() { return comes_to(from, VIP_STATE_ERROR) && comes_to(to, VIP_STATE_ERROR); }

  pair& of;
  const VIP_VI_HANDLE from, to;
};

/// Takes all that is complete; what is not flushed counts, too. \return how many
std::size_t take_all(VIP_VI_HANDLE v, bool receives);

void fill(std::byte* at, std::size_t size, unsigned seed) noexcept;
bool filled(const std::byte* at, std::size_t size, unsigned seed) noexcept;

}  // namespace vipl_suite
