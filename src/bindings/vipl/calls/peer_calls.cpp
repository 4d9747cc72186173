// SPDX-License-Identifier: Apache-2.0
// Connections of equals: calls of vipl.h. The first of the two processes listens at a place that
// both derive from their addresses, and the other connects; on two hosts, the one with the lower
// address listens.
#include <chrono>

#include "bindings/vipl/vi/connecting.hpp"

using namespace weft;
using namespace weft::vipl;
using std::chrono::steady_clock;

namespace {

/// Until the other side is looked for again.
constexpr std::chrono::milliseconds pause{2};

struct meeting {
  end_point here, there;
  bool same_host = false;
  std::string place;
};

meeting meeting_of(const end_point& here, const end_point& there) {
  meeting m{here, there, is_this_host(there.host), {}};
  if (m.same_host) m.here.host = m.there.host = {127, 0, 0, 1};
  m.place = place_of_pair(m.here, m.there);
  return m;
}

/// Until then, or until the attempt is stopped.
void sleep_until(vi& v, time_point when, const std::stop_token& stop) {
  v.owner.wait(when, [&] { return stop.stop_requested(); });
}

/// The side that listens. \return nothing: another process listens there
std::optional<VIP_RETURN> meet_at(vi& v, const meeting& m, time_point until,
                                  const std::stop_token& stop) {
  std::optional<listener> at;
  try {
    at.emplace(blocking<listener>().run(v.owner.context().listen(listening_address(m.place)),
                                        time_point::max()));
  } catch (const error& e) {
    if (e.kind() == errc::system) return std::nullopt;
    throw;
  }
  for (;;) {
    auto request = blocking<listener::connection_request>().run(at->next(), until, stop);
    const std::optional<requester> from = requester::unpack(request.private_data());
    if (!from || !from->who.of_equals || from->from.discriminator != m.there.discriminator) {
      request.reject("these two VIs meet without others");
      continue;
    }
    const VIP_RETURN fits = fit(v.attributes, from->who);
    if (fits != VIP_SUCCESS) {
      request.reject(fits == VIP_INVALID_MTU ? misfit_mtu_text : misfit_text);
      return fits;
    }
    if (accept(v, request, from->who, stop) == VIP_SUCCESS) return VIP_SUCCESS;
    // That one has given up; the next may be it again.
    const nic::locked lock(v.owner);
    v.begin_connecting(vi_connection::side::accepts);
  }
}

VIP_RETURN meet(vi& v, const meeting& m, time_point until, const std::stop_token& stop) {
  const bool may_listen = m.same_host || m.here.host < m.there.host;
  const bool may_connect = m.same_host || !may_listen;
  for (;;) {
    const auto begin = [&v](vi_connection::side s) {
      const nic::locked lock(v.owner);
      v.begin_connecting(s);
      return v.introduce();
    };
    if (may_listen) {
      begin(vi_connection::side::accepts);
      if (const auto result = meet_at(v, m, until, stop)) return *result;
    }
    if (may_connect) {
      requester me{begin(vi_connection::side::requests), m.here};
      me.who.of_equals = 1;
      const VIP_RETURN result =
          request(v, connecting_address(m.there.host, m.place), me, until, stop);
      if (result == VIP_SUCCESS || result == VIP_INVALID_RELIABILITY_LEVEL ||
          result == VIP_INVALID_MTU || result == VIP_ERROR_RESOURCE)
        return result;
    }
    const time_point next = steady_clock::now() + pause;
    if (stop.stop_requested() || next >= until) return VIP_TIMEOUT;
    sleep_until(v, next, stop);
  }
}

void attempt(vi& v, const meeting& m, time_point until, const std::stop_token& stop) {
  const VIP_RETURN result = guarded([&] { return meet(v, m, until, stop); });
  const nic::locked lock(v.owner);
  if (result != VIP_SUCCESS && v.connection.pending()) v.connection.end();
  v.connection.attempt->result = result;
  v.connection.attempt->over = true;
  v.owner.note_event();
}

/// The attempt is over. \return its result
VIP_RETURN result_of(vi& v, peer_attempt& over, VIP_VI_ATTRIBUTES* attributes) {
  over.thread.join();
  const nic::locked lock(v.owner);
  if (over.result == VIP_SUCCESS && attributes) *attributes = attributes_of(v.connection.remote());
  return over.result;
}

}  // namespace

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE handle, VIP_NET_ADDRESS* local,
                                 VIP_NET_ADDRESS* remote, VIP_ULONG timeout) {
  vi* const v = object::at<vi>(handle);
  const std::optional<end_point> here = end_point::of(local), there = end_point::of(remote);
  if (!v || !here || !there) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    const meeting m = meeting_of(*here, *there);
    {
      const nic::locked lock(v->owner);
      if (!v->may_connect()) return VIP_INVALID_STATE;
      v->connection.attempt.emplace();
      try {
        // It waits for the lock.
        v->connection.attempt->thread =
            std::jthread([v, m, until = deadline_of(timeout)](const std::stop_token& stop) {
              attempt(*v, m, until, stop);
            });
      } catch (...) {
        v->connection.attempt.reset();
        throw;
      }
      v->begin_connecting(vi_connection::side::accepts);
    }
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* attributes) {
  vi* const v = object::at<vi>(handle);
  if (!v) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    std::optional<peer_attempt> over;
    {
      nic::locked lock(v->owner);
      if (!v->connection.attempt) return VIP_INVALID_STATE;
      lock.poll();
      if (!v->connection.attempt->over) return VIP_NOT_DONE;
      over = v->connection.take_attempt();
    }
    return result_of(*v, *over, attributes);
  });
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* attributes) {
  vi* const v = object::at<vi>(handle);
  if (!v) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    std::optional<peer_attempt> over;
    v->owner.wait(time_point::max(), [&] {
      if (v->connection.attempt && !v->connection.attempt->over) return false;
      over = v->connection.take_attempt();
      return true;
    });
    return over ? result_of(*v, *over, attributes) : VIP_INVALID_STATE;
  });
}
