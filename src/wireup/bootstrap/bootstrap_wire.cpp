// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/bootstrap_wire.hpp"

#include <algorithm>

#include "wireup/base/byte_io.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::wireup {

frame encode(const root_hello& h) {
  byte_writer out = preamble_of_job();
  out.put(std::uint32_t{h.rank}).put(std::uint32_t{h.size}).put(h.host);
  return {frame_kind::root_hello, 0, out.take(), {}};
}

frame encode(const root_welcome& w) {
  byte_writer out = preamble_of_job();
  out.put(w.job).put(std::uint32_t{w.size});
  out.put(std::uint32_t{w.local_size}).put(std::uint32_t{w.per_host});
  return {frame_kind::root_welcome, 0, out.take(), {}};
}

frame encode_directory_part(const std::vector<std::string>& locators, peer_id first) {
  constexpr std::size_t head = 6, length_field = 2;
  std::size_t bytes = head;
  peer_id end = first;
  for (; end != locators.size(); ++end) {
    bytes += length_field + locators[end].size();
    if (bytes > max_frame_body) break;
  }
  byte_writer out;
  out.put(std::uint32_t{first}).put(static_cast<std::uint16_t>(end - first));
  for (peer_id r = first; r != end; ++r) out.put(std::string_view(locators[r]));
  return {frame_kind::directory_part, 0, out.take(), {}};
}

frame encode_ranks_ended(std::vector<job_ended>& ends) {
  constexpr std::size_t bytes_of_each = 5;
  const std::size_t count = std::min(ends.size(), max_frame_body / bytes_of_each);
  byte_writer out;
  for (std::size_t i = 0; i != count; ++i)
    out.put(std::uint32_t{ends[i].rank}).put(static_cast<std::uint8_t>(ends[i].died ? 1 : 0));
  ends.erase(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(count));
  return {frame_kind::ranks_ended, 0, out.take(), {}};
}

frame encode_directory_find(peer_id first) {
  return {frame_kind::directory_find, 0, byte_writer().put(std::uint32_t{first}).take(), {}};
}

frame encode_orderly_bye() {
  return {frame_kind::bye, static_cast<std::uint8_t>(bye_kind::orderly), {}, {}};
}

std::optional<root_hello> decode_root_hello(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::root_hello || !skip_preamble_of_job(in)) return std::nullopt;
  root_hello h;
  h.rank = in.get<std::uint32_t>();
  h.size = in.get<std::uint32_t>();
  h.host = in.get_id();
  return in.complete() ? std::optional(h) : std::nullopt;
}

std::optional<root_welcome> decode_root_welcome(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::root_welcome || !skip_preamble_of_job(in)) return std::nullopt;
  root_welcome w;
  w.job = in.get_id();
  w.size = in.get<std::uint32_t>();
  w.local_size = in.get<std::uint32_t>();
  w.per_host = in.get<std::uint32_t>();
  const bool sound = w.local_size >= 1 && w.local_size <= w.size && w.per_host <= w.size;
  return in.complete() && sound ? std::optional(w) : std::nullopt;
}

std::optional<directory_part> decode_directory_part(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::directory_part) return std::nullopt;
  directory_part p;
  p.first = in.get<std::uint32_t>();
  const auto count = in.get<std::uint16_t>();
  if (count == 0) return std::nullopt;
  for (unsigned i = 0; i != count; ++i) p.locators.push_back(in.get_text(max_locator));
  const bool sound = std::ranges::all_of(
      p.locators, [](const std::string& l) { return l.empty() || parse_locator(l); });
  return in.complete() && sound ? std::optional(std::move(p)) : std::nullopt;
}

std::optional<peer_id> decode_directory_find(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::directory_find) return std::nullopt;
  const peer_id first = in.get<std::uint32_t>();
  return in.complete() ? std::optional(first) : std::nullopt;
}

std::optional<std::vector<job_ended>> decode_ranks_ended(const frame& f) {
  byte_reader in(f.body);
  if (f.kind != frame_kind::ranks_ended) return std::nullopt;
  std::vector<job_ended> ends;
  for (std::size_t left = f.body.size(); left != 0; left -= std::min<std::size_t>(left, 5)) {
    job_ended e;
    e.rank = in.get<std::uint32_t>();
    const auto died = in.get<std::uint8_t>();
    if (died > 1) return std::nullopt;
    e.died = died == 1;
    ends.push_back(e);
  }
  return in.complete() ? std::optional(std::move(ends)) : std::nullopt;
}

bool is_orderly_bye(const frame& f) {
  return f.kind == frame_kind::bye && f.detail == static_cast<std::uint8_t>(bye_kind::orderly);
}

}  // namespace weft::wireup
