// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/connection.hpp"

#include <cstring>
#include <string_view>

namespace weft::vipl {

std::string requester::packed() const {
  introduction i = who;
  i.address_length = static_cast<std::uint8_t>(from.host.size());
  i.discriminator_length = static_cast<std::uint8_t>(from.discriminator.size());
  std::string text(reinterpret_cast<const char*>(&i), sizeof i);
  text.append(reinterpret_cast<const char*>(from.host.data()), from.host.size());
  return text + from.discriminator;
}

std::optional<requester> requester::unpack(const std::string& bytes) {
  reader in(std::as_bytes(std::span(bytes)));
  const auto who = in.take<introduction>();
  const auto host = in.take<host_address>();
  if (!who || !host || who->magic != wire_magic || who->address_length != host->size() ||
      who->discriminator_length > longest_discriminator ||
      in.rest().size() != who->discriminator_length)
    return std::nullopt;
  const auto* const text = reinterpret_cast<const char*>(in.rest().data());
  return requester{*who, {*host, std::string(text, in.rest().size())}};
}

VIP_VI_ATTRIBUTES attributes_of(const introduction& who) noexcept {
  return {who.reliability,
          static_cast<VIP_ULONG>(who.max_transfer),
          nullptr,
          nullptr,
          who.rdma_write ? VIP_TRUE : VIP_FALSE,
          who.rdma_read ? VIP_TRUE : VIP_FALSE};
}

VIP_RETURN accept(vi& v, listener::connection_request& request, const introduction& who) {
  const auto give_up = [&v](VIP_RETURN why) {
    const nic::locked lock(v.owner);
    v.stop_connecting();
    return why;
  };
  try {
    const endpoint to = blocking<endpoint>().run(request.accept(), time_point::max());
    {
      const nic::locked lock(v.owner);
      v.set_peer(to, who);
      const introduction me = v.introduce();
      v.say(message::connected, std::as_bytes(std::span(&me, 1)));
    }
    bool agreed = false;
    v.owner.wait(time_point::max(), [&] {
      agreed = v.heard == vi::answer::yes;
      return v.heard != vi::answer::none;
    });
    if (!agreed) return give_up(VIP_TIMEOUT);
  } catch (const std::exception&) {
    return give_up(VIP_TIMEOUT);
  }
  v.send_ahead();
  return VIP_SUCCESS;
}

VIP_RETURN request(vi& v, const std::string& address, const requester& me, time_point until,
                   const std::stop_token& stop) {
  VIP_RETURN result = VIP_ERROR_RESOURCE;
  try {
    const endpoint to =
        blocking<endpoint>().run(v.owner.context().connect(address, me.packed()), until, stop);
    v.owner.wait(until, [&] { return v.heard != vi::answer::none || stop.stop_requested(); });
    const nic::locked lock(v.owner);
    if (v.heard == vi::answer::yes) {
      v.set_peer(to, v.remote);
      v.state = VIP_STATE_CONNECTED;
      v.say(message::agreed);
      result = VIP_SUCCESS;
    } else {
      v.stop_connecting();
      return VIP_TIMEOUT;
    }
  } catch (const error& e) {
    const std::string_view why = e.what();
    result = e.kind() == errc::refused
                 ? (why.find(misfit_text) != why.npos     ? VIP_INVALID_RELIABILITY_LEVEL
                    : why.find(rejected_text) != why.npos ? VIP_REJECT
                                                          : VIP_NO_MATCH)
                 : guarded([&]() -> VIP_RETURN { throw; });
    const nic::locked lock(v.owner);
    v.stop_connecting();
    return result;
  }
  v.send_ahead();
  return result;
}

}  // namespace weft::vipl
