// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/hardware/addresses.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace weft::transports::verbs {

namespace {

/// Lower ranks are tried first.
int rank_of(const ibv_gid_entry& e) noexcept {
  if (e.gid_type != IBV_GID_TYPE_ROCE_V2) return e.gid_type == IBV_GID_TYPE_IB ? 3 : 4;
  in6_addr a;
  std::memcpy(&a, e.gid.raw, sizeof a);
  if (IN6_IS_ADDR_V4MAPPED(&a)) return 0;
  return IN6_IS_ADDR_LINKLOCAL(&a) ? 2 : 1;
}

}  // namespace

std::vector<ibv_gid_entry> in_order_of_trial(std::span<const ibv_gid_entry> all,
                                             std::uint32_t port) {
  std::vector<ibv_gid_entry> chosen;
  for (const ibv_gid_entry& e : all)
    if (e.port_num == port) chosen.push_back(e);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
  return chosen;
}

std::string text_of(const std::array<std::uint8_t, 16>& gid) {
  char text[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  return text;
}

const char* kind_of(std::uint32_t gid_type) noexcept {
  switch (gid_type) {
    case IBV_GID_TYPE_IB:
      return "InfiniBand";
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
    default:
      return "an address of unknown kind";
  }
}

std::uint8_t timeout_for(std::chrono::seconds timeout) noexcept {
  const std::chrono::nanoseconds limit = timeout;
  std::uint8_t exponent = 1;
  while (exponent < 31 &&
         (retries + 1) * std::chrono::nanoseconds(4096) * (std::int64_t{1} << (exponent + 1)) <=
             limit)
    ++exponent;
  return exponent;
}

}  // namespace weft::transports::verbs
