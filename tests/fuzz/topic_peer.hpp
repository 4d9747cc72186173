// SPDX-License-Identifier: Apache-2.0
// What a peer can say about topics: requests, the words of subscribers, the values of publishers,
// mostly with names and numbers that are in use.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/topics/messages.hpp"
#include "proto/frames/call_wire.hpp"
#include "proto/peer/peer.hpp"
#include "target.hpp"

namespace weft::fuzz {

using namespace detail;
using namespace proto;

/// Takes the progress lock for each frame.
class topic_peer {
 public:
  topic_peer(runtime::engine& turns, peer& as) noexcept : turns_(turns), peer_(as) {}

  void ask_for_values(input& in) {
    const auto how = in.get<std::uint8_t>();
    subscribe_request r;
    r.topic = some_name(in);
    r.type = how & 1 ? "i32" : std::string(in.get<std::uint8_t>() * 5u, 't');
    r.fingerprint = how & 2   ? name_of_value<int>.fingerprint()
                    : how & 4 ? name_of_value<std::string>.fingerprint()
                    : how & 8 ? name_of_value<directory_entry>.fingerprint()
                              : in.get<std::uint32_t>();
    r.number = some_number(in);
    r.publisher = how & 16 ? some_number(in) : 0;
    r.policy = in.get<std::uint8_t>() % 4;
    r.of_directory = how & 32 ? 1 : 0;
    r.depth = how & 64 ? in.get<std::uint32_t>() : in.get<std::uint8_t>() % 16u;
    r.history = in.get<std::uint8_t>();
    call(subscribe_call, pack_values(r).bytes());
  }
  void announce(input& in) {
    announce_request r;
    r.topic = some_name(in);
    r.number = some_number(in);
    call(announce_call, pack_values(r).bytes());
  }
  void call_anything(input& in) {
    const auto number = in.get<std::uint8_t>();
    call(am{first_reserved_am + number % 4u}, in.bytes(in.get<std::uint8_t>()));
  }
  /// An answer to a call of this side.
  void answer(input& in) {
    const auto how = in.get<std::uint8_t>();
    const call_tag t{call_kind::reply, static_cast<local_id>(1 + how % 8), how / 8u % 8};
    message(t.packed(), in.bytes(how & 64 ? in.get<std::uint8_t>() : 0), 0);
  }
  void say_word(input& in) {
    const tag t = tag_to_called(some_number(in));
    const std::uint64_t word = some_word(in);
    const auto size = in.get<std::uint8_t>();
    message(t.value, std::as_bytes(std::span(&word, 1)).first(size > 8 ? 8 : size), 0);
  }
  void say_value(input& in) {
    const tag t = tag_to_caller(some_number(in));
    const std::uint64_t word = some_word(in);
    std::vector<std::byte> bytes(in.get<std::uint16_t>() % 1025u);
    const auto given = in.bytes(in.get<std::uint8_t>() % 9u);
    std::copy_n(given.begin(), std::min(given.size(), bytes.size()), bytes.begin());
    message(t.value, bytes, word);
  }
  void frame(input& in) {
    const auto which = in.get<std::uint8_t>();
    const std::array<std::uint64_t, 4> tags{
        tag_to_called(which / 4u % 8).value, tag_to_caller(which / 4u % 8).value,
        call_tag{call_kind(which / 4u % 6), local_id(1 + which / 32u), subscribe_call.number}
            .packed(),
        1};
    frame_header h{tags[which % 4], in.get<std::uint16_t>() % 1025u, in.get<std::uint8_t>(),
                   in.get<std::uint8_t>(), in.get<std::uint8_t>()};
    h.kind %= 17;
    frame_extension x;
    x.a = in.get<std::uint16_t>() | std::uint64_t{in.get<std::uint8_t>()} << 48;
    x.b = in.get<std::uint16_t>();
    x.immediate = some_word(in);
    arrive(h, x, {});
  }

 private:
  void message(std::uint64_t tag, std::span<const std::byte> bytes, std::uint64_t word) {
    constexpr std::uint8_t flags = has_extension | has_immediate | eager_ends;
    arrive(header_of(frame_kind::eager, tag, static_cast<std::uint32_t>(bytes.size()), flags),
           {bytes.size(), 0, word}, bytes);
  }
  void arrive(const frame_header& h, const frame_extension& x, std::span<const std::byte> content) {
    const runtime::engine::holder hold(turns_);
    const std::unique_ptr<std::byte[]> bytes(new std::byte[h.size]());  // for AddressSanitizer
    std::copy(content.begin(), content.end(), bytes.get());
    if (!peer_.on_frame(h, h.flags & has_extension ? &x : nullptr, bytes.get()))
      peer_.on_broken(errc::protocol_error);
  }
  void call(am number, std::span<const std::byte> bytes) {
    if (++last_call_ == 0) ++last_call_;
    message(call_tag{call_kind::request, last_call_, number.number}.packed(), bytes, 0);
  }

  static std::string some_name(input& in) {
    switch (in.get<std::uint8_t>() % 8) {
      case 0:
      case 1:
      case 2:
        return "numbers";
      case 3:
      case 4:
        return "texts";
      case 5:
        return {};
      case 6:
        return std::string(300, 'x');
      default:
        return "others";
    }
  }
  /// Mostly small ones, which may be in use.
  static std::uint32_t some_number(input& in) {
    const auto n = in.get<std::uint8_t>();
    return n == 255 ? in.get<std::uint32_t>() : n % 8u;
  }
  static std::uint64_t some_word(input& in) {
    const auto how = in.get<std::uint8_t>();
    if (how == 255) return wants_no_more;
    if (how == 254) return values_refused;
    return how == 253 ? in.get<std::uint64_t>() : how % 64u;
  }

  runtime::engine& turns_;
  peer& peer_;
  local_id last_call_ = 0;
};

}  // namespace weft::fuzz
