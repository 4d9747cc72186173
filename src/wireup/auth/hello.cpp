// SPDX-License-Identifier: Apache-2.0
#include "wireup/auth/hello.hpp"

#include <fmt/format.h>

#include "runtime/os/printable.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

void put_claims(byte_writer& out, const identity& who) {
  out.put(who.job).put(std::uint32_t{who.rank}).put(who.lane).put(std::string_view(who.locator));
}

identity get_claims(byte_reader& in) {
  identity who;
  who.job = in.get_id();
  who.rank = in.get<std::uint32_t>();
  who.lane = in.get<lane_number>();
  who.locator = in.get_text(max_locator);
  return who;
}

void put_preamble(byte_writer& out) { out.put(wire_magic).put(wire_version); }

std::string preamble_fault(byte_reader& in) {
  if (in.get<std::uint32_t>() != wire_magic) return "it does not speak weft's protocol";
  const auto version = in.get<std::uint16_t>();
  if (version == wire_version) return {};
  return fmt::format(
      "it speaks version {} of weft's protocol, this side version {}; build both with the same "
      "weft",
      version, wire_version);
}

template <class T>
decoded<T> judge(const byte_reader& in, T value) {
  const identity& who = value.who;
  if (!in.complete()) return {std::nullopt, "its first frame has the wrong length"};
  if (!parse_locator(who.locator) || who.lane >= proto::most_lanes)
    return {std::nullopt, "its first frame does not say who it is"};
  return {std::move(value), {}};
}

}  // namespace

frame encode(const invitation& i) {
  byte_writer out;
  put_preamble(out);
  out.put(std::uint16_t{0}).put(i.key).put(i.fresh);
  return {frame_kind::invitation, 0, out.take(), {}};
}

frame encode(const hello& h) {
  byte_writer out;
  put_preamble(out);
  out.put(static_cast<std::uint8_t>(h.why)).put(h.lane).put(h.key).put(h.fresh);
  put_claims(out, h.who);
  out.put(h.listener_number).put(h.ticket).put(std::string_view(h.private_data)).put(h.proof);
  return {frame_kind::hello, 0, out.take(), {}};
}

frame encode_welcome(const welcome& w) {
  byte_writer out;
  put_preamble(out);
  out.put(std::uint16_t{0});
  put_claims(out, w.who);
  out.put(w.proof);
  return {frame_kind::welcome, 0, out.take(), {}};
}

frame encode_refusal(const std::string& reason, refusal_kind kind) {
  byte_writer out;
  out.put(std::string_view(reason).substr(0, max_reason));
  return {frame_kind::refusal, static_cast<std::uint8_t>(kind), out.take(), {}};
}

decoded<invitation> decode_invitation(const frame& f) {
  byte_reader in(f.body);
  if (std::string fault = preamble_fault(in); !fault.empty()) return {std::nullopt, fault};
  in.get<std::uint16_t>();
  invitation i;
  i.key = in.get_bytes<32>();
  i.fresh = in.get_bytes<32>();
  if (!in.complete()) return {std::nullopt, "its first frame has the wrong length"};
  return {i, {}};
}

decoded<hello> decode_hello(const frame& f) {
  byte_reader in(f.body);
  if (std::string fault = preamble_fault(in); !fault.empty()) return {std::nullopt, fault};
  hello h;
  const auto why = in.get<std::uint8_t>();
  if (why > static_cast<std::uint8_t>(purpose::meet))
    return {std::nullopt, "it wants something that this version does not know"};
  h.why = static_cast<purpose>(why);
  h.lane = in.get<lane_number>();
  h.key = in.get_bytes<32>();
  h.fresh = in.get_bytes<32>();
  h.who = get_claims(in);
  h.who.id = id_of(h.key);
  h.listener_number = in.get<std::uint64_t>();
  h.ticket = in.get<std::uint64_t>();
  h.private_data = in.get_text(max_private_data);
  h.proof = in.get_bytes<32>();
  return judge(in, std::move(h));
}

decoded<welcome> decode_welcome(const frame& f) {
  byte_reader in(f.body);
  if (std::string fault = preamble_fault(in); !fault.empty()) return {std::nullopt, fault};
  in.get<std::uint16_t>();
  welcome w;
  w.who = get_claims(in);
  w.proof = in.get_bytes<32>();
  return judge(in, std::move(w));
}

std::string decode_refusal(const frame& f) {
  byte_reader in(f.body);
  std::string reason = in.get_text(max_reason);
  if (!in.complete()) return "it gave no readable reason";
  return runtime::printable(reason);
}

std::vector<std::byte> encode_listener_question() {
  byte_writer out;
  put_preamble(out);
  return out.put(std::uint16_t{0}).take();
}

bool is_listener_question(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  if (!preamble_fault(in).empty()) return false;
  in.get<std::uint16_t>();
  return in.complete();
}

std::vector<std::byte> encode(const listener_answer& a) {
  byte_writer out;
  put_preamble(out);
  return out.put(a.listener_number).put(std::string_view(a.locator)).take();
}

std::optional<listener_answer> decode_listener_answer(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  if (!preamble_fault(in).empty()) return std::nullopt;
  listener_answer a;
  a.listener_number = in.get<std::uint64_t>();
  a.locator = in.get_text(max_socket_name);
  if (!in.complete() || !is_socket_name(a.locator)) return std::nullopt;
  return a;
}

}  // namespace weft::wireup
