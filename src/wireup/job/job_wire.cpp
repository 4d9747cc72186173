// SPDX-License-Identifier: Apache-2.0
#include "wireup/job/job_wire.hpp"

#include "wireup/auth/hello.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::wireup {

byte_writer preamble_of_job() {
  byte_writer out;
  out.put(wire_magic).put(wire_version).put(std::uint16_t{0});
  return out;
}

bool skip_preamble_of_job(byte_reader& in) {
  const bool right =
      in.get<std::uint32_t>() == wire_magic && in.get<std::uint16_t>() == wire_version;
  in.get<std::uint16_t>();
  return right;
}

frame encode(const job_hello& h) {
  byte_writer out = preamble_of_job();
  return {frame_kind::job_hello, 0, out.put(h.job).put(std::uint32_t{h.rank}).take(), {}};
}

frame encode(const job_welcome& w) {
  byte_writer out = preamble_of_job();
  return {frame_kind::job_welcome, 0, out.put(w.job).put(std::uint32_t{w.size}).take(), {}};
}

frame encode(const vacant_place& v) {
  byte_writer out = preamble_of_job();
  out.put(v.job).put(std::uint32_t{v.place}).put(std::uint32_t{v.size});
  out.put(std::uint32_t{v.local_size}).put(std::string_view(v.root));
  return {frame_kind::vacant_place, 0, out.take(), {}};
}

frame encode_publish(const std::string& locator) {
  return {frame_kind::job_publish, 0, byte_writer().put(std::string_view(locator)).take(), {}};
}

frame encode(const job_find& f) {
  byte_writer out;
  out.put(std::uint32_t{f.rank}).put(std::string_view(f.gone));
  return {frame_kind::job_find, 0, out.take(), {}};
}

frame encode(const job_found& f) {
  byte_writer out;
  out.put(std::uint32_t{f.rank}).put(std::string_view(f.locator));
  return {frame_kind::job_found, 0, out.take(), {}};
}

frame encode(const job_ended& e) {
  byte_writer out;
  out.put(std::uint32_t{e.rank}).put(static_cast<std::uint8_t>(e.died ? 1 : 0));
  return {frame_kind::job_ended, 0, out.take(), {}};
}

std::optional<job_hello> decode_job_hello(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::job_hello || !skip_preamble_of_job(in)) return std::nullopt;
  job_hello h;
  h.job = in.get_id();
  h.rank = in.get<std::uint32_t>();
  return in.complete() ? std::optional(h) : std::nullopt;
}

std::optional<job_welcome> decode_job_welcome(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::job_welcome || !skip_preamble_of_job(in)) return std::nullopt;
  job_welcome w;
  w.job = in.get_id();
  w.size = in.get<std::uint32_t>();
  return in.complete() ? std::optional(w) : std::nullopt;
}

std::optional<vacant_place> decode_vacant_place(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::vacant_place || !skip_preamble_of_job(in)) return std::nullopt;
  vacant_place v;
  v.job = in.get_id();
  v.place = in.get<std::uint32_t>();
  v.size = in.get<std::uint32_t>();
  v.local_size = in.get<std::uint32_t>();
  v.root = in.get_text(max_locator);
  const bool sound = v.place < v.size && v.local_size >= 1 && v.local_size <= v.size &&
                     parse_locator(v.root).has_value();
  return in.complete() && sound ? std::optional(std::move(v)) : std::nullopt;
}

std::optional<std::string> decode_publish(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::job_publish) return std::nullopt;
  std::string locator = in.get_text(max_locator);
  if (!in.complete() || !parse_locator(locator)) return std::nullopt;
  return locator;
}

std::optional<job_find> decode_find(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::job_find) return std::nullopt;
  job_find find;
  find.rank = in.get<std::uint32_t>();
  find.gone = in.get_text(max_locator);
  return in.complete() ? std::optional(std::move(find)) : std::nullopt;
}

std::optional<job_found> decode_found(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::job_found) return std::nullopt;
  job_found found;
  found.rank = in.get<std::uint32_t>();
  found.locator = in.get_text(max_locator);
  if (!in.complete() || (!found.locator.empty() && !parse_locator(found.locator)))
    return std::nullopt;
  return found;
}

std::optional<job_ended> decode_ended(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::job_ended) return std::nullopt;
  job_ended e;
  e.rank = in.get<std::uint32_t>();
  const auto died = in.get<std::uint8_t>();
  e.died = died == 1;
  return in.complete() && died <= 1 ? std::optional(e) : std::nullopt;
}

}  // namespace weft::wireup
