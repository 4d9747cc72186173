// SPDX-License-Identifier: Apache-2.0
#include "proto/select/select.hpp"

#include <fmt/format.h>

namespace weft::proto {

namespace {

/// In how many frames of which sizes the data goes: "in one frame", or their number and sizes.
std::string data_frames(std::size_t bytes, const transports::traits& t) {
  std::size_t count = 0, largest = 0;
  const std::uint32_t first = next_piece(t, 0, bytes);
  for (std::size_t sent = 0; sent != bytes; ++count) {
    const std::uint32_t n = next_piece(t, sent, bytes - sent);
    largest = std::max<std::size_t>(largest, n);
    sent += n;
  }
  if (count <= 1) return "in one frame";
  if (first == largest) return fmt::format("in {} pieces of up to {} bytes", count, largest);
  return fmt::format("in {} pieces that grow from {} to {} bytes", count, first, largest);
}

/// The same for data that is sent without a request.
std::string pieces(std::size_t bytes, const transports::traits& t) {
  return data_frames(bytes, t) +
         (is_announced(t, bytes) ? ", announced by a frame of its own" : "");
}

}  // namespace

std::size_t pick_link(std::span<const link_load> links, std::uint64_t size,
                      std::uint64_t left) noexcept {
  double fastest = 0;
  for (const link_load& l : links)
    if (l.open) fastest = std::max(fastest, l.rate);
  const auto rate_of = [&](const link_load& l) {
    return l.rate != 0 ? l.rate : fastest != 0 ? fastest : 1.0;
  };
  std::size_t best = no_link;
  double soonest = 0;
  for (std::size_t i = 0; i != links.size(); ++i) {
    const link_load& l = links[i];
    const bool untried = l.rate == 0 && l.in_flight > size;
    if (!l.open || !l.free || untried) continue;
    const double there = static_cast<double>(l.in_flight + size) / rate_of(l);
    if (best != no_link && soonest <= there) continue;
    best = i;
    soonest = there;
  }
  if (best == no_link) return best;
  // What links that are not free now could carry; each tells when it is free again. Links with an
  // unknown rate are not waited for.
  double bytes = static_cast<double>(left), rate = 0;
  for (const link_load& l : links) {
    if (!l.open || l.free || l.rate == 0) continue;
    bytes += static_cast<double>(l.in_flight);
    rate += l.rate;
  }
  return rate != 0 && bytes / rate < soonest ? no_link : best;
}

explanation explain_send(std::size_t size, std::size_t eager_limit, std::int64_t credit,
                         const transports::traits& t, rendezvous_eager_data inlined) {
  const bool with_beginning = inlines(inlined, t);
  const send_plan plan = plan_send(size, eager_limit, credit, with_beginning ? eager_limit : 0);
  if (!plan.rendezvous) {
    return {
        fmt::format("at once, {}", pieces(size, t)),
        size <= longest_in_one_frame(t)
            ? fmt::format("up to {} bytes one frame is fastest", longest_in_one_frame(t))
            : fmt::format(
                  "it is not above the eager limit of {} bytes (WEFT_EAGER_LIMIT); in pieces both "
                  "sides copy at the same time",
                  eager_limit)};
  }
  std::string beginning = plan.eager_end == 0
                              ? "its header at once"
                              : fmt::format("its first {} bytes at once, {}", plan.eager_end,
                                            pieces(plan.eager_end, t));
  const char* const why_so_much = with_beginning ? "the beginning hides the handshake"
                                  : inlined == rendezvous_eager_data::automatic
                                      ? "the transport had rather move all of it at once"
                                      : "WEFT_RENDEZVOUS_EAGER_DATA=no asks for it";
  const bool by_measure = size > eager_limit && with_beginning && t.measures_payloads &&
                          inlined == rendezvous_eager_data::automatic;
  if (by_measure) beginning += " (only its header, while receivers get such messages themselves)";
  return {fmt::format("rendezvous: {}, the rest when the receiver has matched it", beginning),
          size > eager_limit
              ? fmt::format("it is above the eager limit of {} bytes (WEFT_EAGER_LIMIT); {}",
                            eager_limit, why_so_much)
              : fmt::format("the receiver has granted {} bytes, which it does not fit into",
                            std::max<std::int64_t>(0, credit) * credit_unit)};
}

explanation explain_payload(rendezvous_scheme wanted) {
  switch (wanted) {
    case rendezvous_scheme::automatic:
      break;
    case rendezvous_scheme::frames:
      return {"in frames, when the receiver asks for it", "WEFT_RENDEZVOUS=frames asks for it"};
    case rendezvous_scheme::get:
      return {
          "read by the receiver out of the sender's memory; in frames where that cannot be done",
          "WEFT_RENDEZVOUS=get asks for it"};
    case rendezvous_scheme::put:
      return {
          "written by the sender into the receiver's memory; in frames where that cannot be done",
          "WEFT_RENDEZVOUS=put asks for it"};
  }
  return {"as the transport has it best", "WEFT_RENDEZVOUS=auto"};
}

}  // namespace weft::proto
