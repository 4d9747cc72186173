// SPDX-License-Identifier: Apache-2.0
// What subscribers and publishers of topics say, in any order, with numbers that the victim may
// have.
#include <algorithm>
#include <optional>
#include <string>

#include "acts.hpp"
#include "api/topics/messages.hpp"
#include "frames.hpp"
#include "proto/frames/call_wire.hpp"
#include "services.hpp"

namespace hostile {

using namespace weft::detail;
using weft::proto::call_kind;
using weft::proto::call_tag;
using weft::proto::eager_ends;

namespace {

/// The numbers of this side's subscriptions.
constexpr std::uint32_t most_numbers = 12;

bool say(scene& s, guise& g, dice& d, std::uint64_t tag, std::span<const std::byte> bytes,
         std::uint64_t word = 0) {
  tie* const t = scene::some_way(g, d);
  if (!t) return false;
  draft f = plain(frame_kind::eager, tag, static_cast<std::uint32_t>(bytes.size()), eager_ends);
  if (word != 0) {
    f = extended(frame_kind::eager, bytes.size(), 0, tag, static_cast<std::uint32_t>(bytes.size()),
                 eager_ends | flag_immediate);
    f.x.immediate = word;
  }
  spoil(f, d, 2);
  s.say("  {} says {} bytes with tag {:x}", t->link->traits().name, bytes.size(), tag);
  return g.send(*t, f.h, f.x, bytes);
}

/// What the victim has asked this side for.
std::optional<subscribe_request> request_of_victim(const guise& g, dice& d) {
  std::optional<subscribe_request> found;
  for (const heard& h : g.memory) {
    if (!weft::proto::is_call(h.header.tag) || h.header.size > h.beginning.size()) continue;
    if (weft::proto::unpack_call(h.header.tag).number != subscribe_call.number) continue;
    try {
      found = std::get<0>(
          unpack_values<subscribe_request>(std::span(h.beginning).first(h.header.size)));
    } catch (const std::exception&) {
      continue;
    }
    if (d.percent(40)) break;
  }
  return found;
}

std::uint64_t any_sequence(dice& d) {
  if (d.percent(5)) return values_end;
  if (d.percent(5)) return values_refused;
  return d.percent(90) ? d.between(1, 40) : any_word(d);
}

}  // namespace

void ask_for_topics(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  const std::uint64_t many = d.percent(95) ? d.between(1, 5) : 1100;
  for (std::uint64_t n = 1; g && n <= many; ++n) {
    subscribe_request r;
    r.topic = d.percent(80) ? name_of_topic : std::string(d.below(300), 'x');
    r.type = d.percent(80) ? "u64" : "?";
    r.fingerprint = name_of_value<std::uint64_t>.fingerprint();
    if (d.percent(10)) r.fingerprint ^= 1;
    r.number = static_cast<std::uint32_t>(d.between(1, most_numbers));
    r.publisher = d.percent(80) ? 0 : static_cast<std::uint32_t>(any_word(d));
    r.policy = static_cast<std::uint8_t>(d.percent(95) ? d.below(3) : any_word(d));
    r.of_directory = d.percent(20) ? 1 : 0;
    r.depth = static_cast<std::uint32_t>(d.percent(90) ? d.between(2, 20) : any_word(d));
    r.history = static_cast<std::uint32_t>(d.percent(70) ? d.below(10) : any_word(d));
    const announce_request a{r.topic, r.number};
    const bool announces = d.percent(15);
    const auto body = announces ? pack_values(a) : pack_values(r);
    const std::uint32_t number = d.percent(5) ? list_call.number
                                 : announces  ? announce_call.number
                                              : subscribe_call.number;
    const call_tag t{call_kind::request, static_cast<std::uint16_t>(n), number};
    if (!say(s, *g, d, t.packed(), body.bytes())) return;
  }
}

void speak_as_subscriber(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  for (std::uint64_t left = g ? d.between(1, 10) : 0; left != 0; --left) {
    const std::uint64_t word = d.percent(10)   ? wants_no_more
                               : d.percent(85) ? d.between(1, 20)
                                               : any_word(d);
    const auto bytes = std::as_bytes(std::span(&word, 1));
    const auto number = static_cast<std::uint32_t>(d.between(1, most_numbers));
    if (!say(s, *g, d, tag_to_called(number).value, d.percent(97) ? bytes : bytes.first(3))) return;
  }
}

/// Answers the request, sometimes, and sends values of several sizes.
void speak_as_publisher(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  g->look();
  const auto asks = request_of_victim(*g, d);
  const std::uint32_t number =
      asks && d.percent(90) ? asks->number : static_cast<std::uint32_t>(d.between(1, most_numbers));
  std::uint64_t next = any_sequence(d);
  for (std::uint64_t left = d.between(1, 12); left != 0; --left) {
    const std::vector<std::byte> value(d.percent(70) ? 8 : d.below(12'000));
    if (!say(s, *g, d, tag_to_caller(number).value, value, next)) return;
    next = d.percent(85) ? next + 1 : any_sequence(d);
  }
}

}  // namespace hostile
