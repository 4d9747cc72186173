// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/address_exchange.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "transports/verbs/hardware/addresses.hpp"

namespace weft::transports::verbs {

namespace {
constexpr std::uint32_t number_mask = (1u << 24) - 1;
}

std::uint32_t random_psn() {
  std::uint32_t n = 0;
  if (::getrandom(&n, sizeof n, 0) != sizeof n)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return n & number_mask;
}

wireup_message address_exchange::message() const {
  wireup_message p;
  p.bytes.resize(sizeof mine_);
  std::memcpy(p.bytes.data(), &mine_, sizeof mine_);
  return p;
}

std::string address_exchange::check(const wireup_message& from, queue_pair_address& there) const {
  if (from.bytes.size() != sizeof there || !from.fds.empty())
    return "the verbs card makes no sense";
  std::memcpy(&there, from.bytes.data(), sizeof there);
  if (there.magic != magic || there.ethernet > 1 || there.mtu < IBV_MTU_256 ||
      there.mtu > IBV_MTU_4096 || there.queue_pair > number_mask || there.first_psn > number_mask ||
      (there.inbox != 0 && there.inbox != inbox_bytes))
    return "the verbs card makes no sense";
  if (there.version != version || there.window != window || there.slot_bytes != slot_bytes)
    return fmt::format("it speaks version {} of the verbs transport, this side {}", there.version,
                       version);
  if (there.ethernet != mine_.ethernet) return "one side has InfiniBand, the other Ethernet";
  if (theirs_ && std::memcmp(&*theirs_, &there, sizeof there) != 0)
    return "it has another queue pair now";
  return {};
}

std::string address_exchange::describe() const {
  return fmt::format(
      "queue pair {} to {} of {}", mine_.queue_pair, theirs_->queue_pair,
      theirs_->ethernet != 0 ? text_of(theirs_->gid) : fmt::format("LID {}", theirs_->lid));
}

}  // namespace weft::transports::verbs
