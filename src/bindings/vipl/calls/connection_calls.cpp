// SPDX-License-Identifier: Apache-2.0
// Connections of client and server: calls of vipl.h.
#include <memory>

#include "bindings/vipl/vi/connecting.hpp"

using namespace weft;
using namespace weft::vipl;

namespace {

/// The next request of this library's at the listener. Others are rejected.
std::unique_ptr<incoming_request> next_request(nic& n, listener& at, time_point until) {
  for (;;) {
    auto request = blocking<listener::connection_request>().run(at.next(), until);
    std::optional<requester> from = requester::unpack(request.private_data());
    if (from && !from->who.of_equals)
      return std::make_unique<incoming_request>(n, std::move(request), std::move(*from));
    request.reject("this listener takes connections of VIs only");
  }
}

}  // namespace

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE of, VIP_NET_ADDRESS* local, VIP_ULONG timeout,
                          VIP_NET_ADDRESS* remote, VIP_VI_ATTRIBUTES* attributes,
                          VIP_CONN_HANDLE* made) {
  nic* const n = object::at<nic>(of);
  const std::optional<end_point> here = end_point::of(local);
  if (!n || !here || !remote || !made) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    const time_point until = deadline_of(timeout);
    const auto listening = n->listener_at(listening_address(place_of(here->discriminator)));
    std::unique_ptr<incoming_request> c = next_request(*n, *listening, until);
    write_address(c->from.from, *remote);
    if (attributes) *attributes = attributes_of(c->from.who);
    const VIP_CONN_HANDLE its = c->handle();
    const nic::locked lock(*n);
    n->requests.add(std::move(c));
    *made = its;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE handle, VIP_VI_HANDLE with) {
  incoming_request* const c = object::at<incoming_request>(handle);
  vi* const v = object::at<vi>(with);
  if (!c || !v || &v->owner != &c->owner) return VIP_INVALID_PARAMETER;
  std::unique_ptr<incoming_request> done;
  {
    const nic::locked lock(v->owner);
    if (!v->may_connect()) return VIP_INVALID_STATE;
    const VIP_RETURN fits = fit(v->attributes, c->from.who);
    if (fits != VIP_SUCCESS) return fits;
    v->begin_connecting(vi_connection::side::accepts);
    done = c->owner.requests.take(*c);
  }
  return guarded([&] { return accept(*v, done->request, done->from.who, {}); });
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE handle) {
  incoming_request* const c = object::at<incoming_request>(handle);
  if (!c) return VIP_INVALID_PARAMETER;
  std::unique_ptr<incoming_request> done;
  {
    const nic::locked lock(c->owner);
    done = c->owner.requests.take(*c);
  }
  return guarded([&] {
    done->request.reject(rejected_text);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE handle, VIP_NET_ADDRESS* local, VIP_NET_ADDRESS* remote,
                             VIP_ULONG timeout, VIP_VI_ATTRIBUTES* attributes) {
  vi* const v = object::at<vi>(handle);
  const std::optional<end_point> here = end_point::of(local), there = end_point::of(remote);
  if (!v || !here || !there) return VIP_INVALID_PARAMETER;
  requester me{{}, *here};
  {
    const nic::locked lock(v->owner);
    if (!v->may_connect()) return VIP_INVALID_STATE;
    v->begin_connecting(vi_connection::side::requests);
    me.who = v->introduce();
  }
  return guarded([&] {
    const VIP_RETURN result =
        request(*v, connecting_address(there->host, place_of(there->discriminator)), me,
                deadline_of(timeout), {});
    if (result == VIP_SUCCESS && attributes) *attributes = attributes_of(v->connection.remote());
    return result;
  });
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE handle) {
  vi* const v = object::at<vi>(handle);
  if (!v) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    v->disconnect();
    return VIP_SUCCESS;
  });
}
