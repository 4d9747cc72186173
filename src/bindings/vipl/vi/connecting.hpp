// SPDX-License-Identifier: Apache-2.0
// Connections between VIs: requests, and what both forms of connecting share.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "bindings/vipl/base/messages.hpp"
#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

/// The reasons of a refused request, as they travel.
inline constexpr const char* rejected_text = "vipl: rejected";
inline constexpr const char* misfit_text = "vipl: reliability levels differ";
inline constexpr const char* misfit_mtu_text = "vipl: MaxTransferSize differs";

/// A request that VipConnectWait has returned, until it is accepted or rejected.
class incoming_request final : public object_of<object::kind::incoming_request> {
 public:
  incoming_request(nic& of, listener::connection_request r, requester w)
      : owner(of), request(std::move(r)), from(std::move(w)) {}

  nic& owner;
  listener::connection_request request;
  const requester from;
};

/// The attributes that a program sees of the other side's VI.
VIP_VI_ATTRIBUTES attributes_of(const introduction& who) noexcept;

/// Whether two VIs can be connected. \return VIP_SUCCESS, VIP_INVALID_RELIABILITY_LEVEL or
/// VIP_INVALID_MTU: these attributes must be the same on both sides
VIP_RETURN fit(const VIP_VI_ATTRIBUTES& here, const introduction& there) noexcept;

/// The side that listens: connects the VI, which is pending. \return VIP_TIMEOUT: the other side
/// has given up, or is silent; the VI is idle then
VIP_RETURN accept(vi& v, listener::connection_request& request, const introduction& who,
                  const std::stop_token& stop);

/// The side that connects: the VI is pending. \return as VipConnectRequest; the VI is idle again
/// unless it is connected
VIP_RETURN request(vi& v, const std::string& address, const requester& me, time_point until,
                   const std::stop_token& stop);

}  // namespace weft::vipl
