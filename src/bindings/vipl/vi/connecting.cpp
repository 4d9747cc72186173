// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/vi/connecting.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

namespace weft::vipl {

namespace {

/// How long the side that accepts waits for the other one, which waits for it.
constexpr std::chrono::seconds patience{10};

}  // namespace

VIP_VI_ATTRIBUTES attributes_of(const introduction& who) noexcept {
  return {who.reliability,
          static_cast<VIP_ULONG>(who.max_transfer),
          nullptr,
          nullptr,
          who.rdma_write ? VIP_TRUE : VIP_FALSE,
          who.rdma_read ? VIP_TRUE : VIP_FALSE};
}

VIP_RETURN fit(const VIP_VI_ATTRIBUTES& here, const introduction& there) noexcept {
  if (here.ReliabilityLevel != there.reliability) return VIP_INVALID_RELIABILITY_LEVEL;
  return here.MaxTransferSize == there.max_transfer ? VIP_SUCCESS : VIP_INVALID_MTU;
}

VIP_RETURN accept(vi& v, listener::connection_request& request, const introduction& who,
                  const std::stop_token& stop) {
  const time_point until = std::chrono::steady_clock::now() + patience;
  bool agreed = false;
  try {
    const endpoint to = blocking<endpoint>().run(request.accept(), until, stop);
    {
      const nic::locked lock(v.owner);
      v.connection.set_peer(to, who);
      const introduction me = v.introduce();
      v.connection.say(message::connected, std::as_bytes(std::span(&me, 1)));
    }
    v.owner.wait(until, [&] {
      agreed = v.connection.heard() == vi_connection::answer::yes;
      return v.connection.heard() != vi_connection::answer::none || stop.stop_requested();
    });
  } catch (const std::exception&) {
    // As if the other side were silent.
  }
  if (!agreed) {
    const nic::locked lock(v.owner);
    agreed = v.connection.connected();  // at the last moment
    if (!agreed) v.connection.end();
  }
  if (!agreed) return VIP_TIMEOUT;
  v.receives.send_ahead();
  return VIP_SUCCESS;
}

namespace {

/// What weft says of the side that refuses, and of the one that asks, if their job keys differ.
constexpr const char* key_texts[] = {"this side's job key is not", "does not know the job's key"};

/// Who gets VIP_NO_MATCH may ask again: it stands for a server that is not there yet.
VIP_RETURN code_of(const error& e) noexcept {
  if (e.kind() != errc::refused) return code_of_kind(e.kind());
  const auto says = [why = std::string_view(e.what())](const char* text) {
    return why.find(text) != why.npos;
  };
  if (says(misfit_text)) return VIP_INVALID_RELIABILITY_LEVEL;
  if (says(misfit_mtu_text)) return VIP_INVALID_MTU;
  if (says(rejected_text) || std::any_of(std::begin(key_texts), std::end(key_texts), says))
    return VIP_REJECT;
  return VIP_NO_MATCH;
}

VIP_RETURN connect(vi& v, const std::string& address, const requester& me, time_point until,
                   const std::stop_token& stop) {
  const endpoint to =
      blocking<endpoint>().run(v.owner.context().connect(address, me.packed()), until, stop);
  {
    const nic::locked lock(v.owner);
    if (v.connection.pending() && !v.connection.expect_answer_of(to)) return VIP_NOT_REACHABLE;
  }
  v.owner.wait(until, [&] {
    return v.connection.heard() != vi_connection::answer::none || stop.stop_requested();
  });
  const nic::locked lock(v.owner);
  if (!v.connection.pending() || v.connection.heard() != vi_connection::answer::yes)
    return VIP_TIMEOUT;
  v.connection.set_peer(to, v.connection.remote());
  v.connection.complete();
  v.connection.say(message::agreed);
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN request(vi& v, const std::string& address, const requester& me, time_point until,
                   const std::stop_token& stop) {
  VIP_RETURN result = VIP_ERROR_RESOURCE;
  try {
    result = connect(v, address, me, until, stop);
  } catch (const error& e) {
    result = code_of(e);
  } catch (const std::exception&) {
    // No memory.
  }
  if (result == VIP_SUCCESS) {
    v.receives.send_ahead();
  } else {
    const nic::locked lock(v.owner);
    if (v.connection.pending()) v.connection.end();
  }
  return result;
}

}  // namespace weft::vipl
